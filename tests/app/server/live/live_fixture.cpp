// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_fixture.h"

#include "tests/support/test_tokenizers.h"

#include <QHostAddress>
#include <QWebSocket>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace palimpsest::test {

namespace {

EngineParts fakeParts(const LiveSettings &settings)
{
    EngineParts parts;
    parts.tokenizer = demoTokenizer();
    const std::int64_t vocabSize = parts.tokenizer->vocabSize();
    if (settings.stepMs > 0)
        settings.log->beforeDenoise = [time = std::chrono::milliseconds(settings.stepMs)](std::span<const DenoiseJob>) {
            std::this_thread::sleep_for(time);
        };
    const bool isRestless = settings.model == LiveSettings::Model::Restless;
    parts.backend = std::make_unique<FakeBackend>(
        FakeSettings{.vocabSize = vocabSize, .canvasLength = settings.canvasLength, .maxPositions = 4096},
        isRestless ? restlessModel(vocabSize) : settlingModel(vocabSize), settings.log);
    parts.chat = ChatFormat(ChatDialect::PlainTurns);
    parts.defaults.maxDenoisingSteps = settings.maxSteps;
    parts.desk.queueCapacity = settings.queueCapacity;
    return parts;
}

std::unique_ptr<EngineHost> hostOf(const LiveSettings &settings)
{
    if (settings.model != LiveSettings::Model::Demo)
        return std::make_unique<EngineHost>(fakeParts(settings));
    const std::string folder = PALIMPSEST_SOURCE_DIR "/resources/demo_model";
    return std::make_unique<EngineHost>(
        engineLoader({.model = {.model = folder, .threads = 2, .device = "cpu"}, .id = std::nullopt}));
}

} // namespace

LiveFixture::LiveFixture(const LiveSettings &settings) : m_settings(settings)
{
    if (!m_server.listen(QHostAddress::LocalHost))
        throw std::runtime_error(m_server.errorString().toStdString());
    QObject::connect(&m_server, &QWebSocketServer::newConnection, &m_server, [this] {
        while (QWebSocket *socket = m_server.nextPendingConnection()) {
            QObject::connect(socket, &QWebSocket::disconnected, socket, &QObject::deleteLater);
            m_hub->adopt(socket);
        }
    });
    start();
}

LiveFixture::~LiveFixture()
{
    stop();
}

void LiveFixture::restart()
{
    stop();
    start();
}

void LiveFixture::start()
{
    m_engine = hostOf(m_settings);
    m_store = std::make_unique<documents::DocumentWorker>(
        documents::StoreOptions{.file = std::filesystem::path(m_folder.path().toStdString()) / "documents.sqlite"});
    m_sessions = std::make_unique<editing::SessionRegistry>(*m_engine, *m_store);
    m_hub = std::make_unique<live::Hub>(live::Hub::Parts{.engine = *m_engine,
                                                         .store = *m_store,
                                                         .sessions = *m_sessions,
                                                         .version = QStringLiteral("0.0-test"),
                                                         .pingEvery = m_settings.pingEvery,
                                                         .lostAfter = m_settings.lostAfter});
}

void LiveFixture::stop()
{
    m_hub.reset();
    m_sessions.reset();
    m_store.reset();
    m_engine.reset();
}

} // namespace palimpsest::test
