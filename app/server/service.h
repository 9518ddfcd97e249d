// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/metrics.h"
#include "app/server/server.h"

#include <functional>
#include <memory>
#include <string>

namespace palimpsest {
class EngineHost;
namespace documents {
class DocumentWorker;
}
namespace openai {
class Endpoint;
}
} // namespace palimpsest

namespace palimpsest::server {

/// What the service lets others reach. Nothing is owned, all of it lives longer.
struct ServiceParts
{
    EngineHost &engine;
    documents::DocumentWorker &store;
    Metrics &metrics;
    /// Told when the library has changed, by a client or by the bell; on the server's thread. May be null.
    std::function<void()> libraryChanged = {};
};

struct ServiceSettings
{
    ServerSettings server = {}; ///< `served` is the service's own
    bool anyModelName = false;  ///< see openai::EndpointSettings
};

/// All faces of the running model that other programs reach, on one port: the OpenAI-compatible endpoint, the browser
/// studio, drafts as files, status and figures. See Server for threads.
class Service
{
public:
    /// Throws what Server throws.
    Service(const ServiceParts &parts, ServiceSettings settings);
    ~Service();
    Service(const Service &) = delete;
    Service &operator=(const Service &) = delete;

    [[nodiscard]] Server &server() noexcept { return *m_server; }
    /// Whether this build has the browser studio.
    [[nodiscard]] bool hasStudio() const noexcept { return m_hasStudio; }
    /// To be called, from any thread, when somebody else has changed the library: windows read their lists again.
    [[nodiscard]] const std::function<void()> &libraryBell() const noexcept { return m_libraryBell; }

private:
    std::unique_ptr<openai::Endpoint> m_endpoint;
    std::unique_ptr<Server> m_server; ///< after what it answers with
    std::function<void()> m_libraryBell;
    bool m_hasStudio = false;
};

} // namespace palimpsest::server
