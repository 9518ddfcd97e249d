// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "app/server/http/routes.h"

#include <memory>

namespace palimpsest::openai {

struct EndpointSettings
{
    /// Answer whatever model name a request gives, for clients whose names are fixed; else unknown names are a 404.
    bool serveAnyName = false;
};

/// The OpenAI-compatible endpoint: /v1/models, /v1/chat/completions, /v1/completions, /v1/responses, and /edit for
/// editor plug-ins.
///
/// Handlers return at once; bodies are read and prompts encoded on threads of its own. Outlives the server that it gave
/// its routes to; the host outlives it.
class Endpoint
{
public:
    Endpoint(EngineHost &host, const EndpointSettings &settings = {});
    ~Endpoint();
    Endpoint(const Endpoint &) = delete;
    Endpoint &operator=(const Endpoint &) = delete;

    void addTo(http::Routes &routes);

private:
    class Service;
    std::unique_ptr<Service> m_service;
};

} // namespace palimpsest::openai
