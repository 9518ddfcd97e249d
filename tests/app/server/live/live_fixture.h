// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document_worker.h"
#include "app/editing/session_registry.h"
#include "app/engine_host.h"
#include "app/server/live/hub.h"
#include "tests/support/fake_backend.h"

#include <QObject>
#include <QTemporaryDir>
#include <QUrl>
#include <QWebSocketServer>

#include <chrono>
#include <memory>
#include <optional>

namespace palimpsest::test {

struct LiveSettings
{
    enum class Model {
        Settling, ///< settles after a few steps
        Restless, ///< runs to the cap
        Demo,
    };
    Model model = Model::Settling;
    int maxSteps = 12;
    int stepMs = 0; ///< what a step of a fake takes, beside its arithmetic
    std::int64_t canvasLength = 48;
    std::shared_ptr<FakeLog> log = std::make_shared<FakeLog>();
    int queueCapacity = 64;
    std::chrono::milliseconds pingEvery{20'000};
    std::chrono::milliseconds lostAfter{60'000};
};

/// A live channel with everything behind it, on the test's thread, with its store in a folder of its own. No gate: what
/// that refuses never comes here.
class LiveFixture
{
public:
    explicit LiveFixture(const LiveSettings &settings = {});
    ~LiveFixture();

    [[nodiscard]] QUrl url() const { return m_server.serverUrl(); }
    [[nodiscard]] live::Hub &hub() noexcept { return *m_hub; }
    [[nodiscard]] EngineHost &engine() noexcept { return *m_engine; }
    [[nodiscard]] documents::DocumentWorker &store() noexcept { return *m_store; }
    [[nodiscard]] editing::SessionRegistry &sessions() noexcept { return *m_sessions; }
    /// Ends the server and begins a new one on the same store.
    void restart();

private:
    void start();
    void stop();

    LiveSettings m_settings;
    QTemporaryDir m_folder;
    std::unique_ptr<EngineHost> m_engine;
    std::unique_ptr<documents::DocumentWorker> m_store;
    std::unique_ptr<editing::SessionRegistry> m_sessions;
    std::unique_ptr<live::Hub> m_hub;
    QWebSocketServer m_server{QStringLiteral("test"), QWebSocketServer::NonSecureMode};
};

} // namespace palimpsest::test
