// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document_worker.h"
#include "app/engine_host.h"
#include "app/server/service.h"
#include "app/server/status_routes.h"
#include "tests/app/server/http/raw_client.h"
#include "tests/support/fake_backend.h"

#include <QTemporaryDir>
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace palimpsest::test {

/// A model that settles at once.
[[nodiscard]] EngineParts fakeParts(std::shared_ptr<FakeLog> log = std::make_shared<FakeLog>());

/// Everything that serves, over a model of the test's.
struct ServiceBench
{
    template <typename EngineSource>
    explicit ServiceBench(EngineSource source) : engine(std::move(source))
    {
        service = std::make_unique<server::Service>(server::ServiceParts{engine, store, metrics},
                                                    server::ServiceSettings{{.port = 0}});
    }
    [[nodiscard]] std::uint16_t port() const { return service->server().port(); }
    /// A request as bytes: its line, the Host, and what follows.
    [[nodiscard]] std::string request(const std::string &line, const std::string &rest = "\r\n") const;
    [[nodiscard]] std::string chat(bool stream) const;
    [[nodiscard]] RawAnswer get(const std::string &path) const;
    /// What `/health` says with this status, within a tenth of a second; else an object that tells what came. A slow
    /// answer is asked for again: the machine may have been busy, but a server that waits for its model is slow always.
    [[nodiscard]] nlohmann::json health(int status) const;

    QTemporaryDir folder;
    server::Metrics metrics;
    EngineHost engine;
    documents::DocumentWorker store{{.file = folder.filePath("documents.sqlite").toStdString()}};
    std::unique_ptr<server::Service> service;
};

} // namespace palimpsest::test
