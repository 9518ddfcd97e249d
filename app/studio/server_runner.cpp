// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/server_runner.h"

#include "engine/error.h"

#include <spdlog/spdlog.h>
#include <utility>

namespace palimpsest::studio {

namespace {

constexpr int kCountEveryMs = 500;

} // namespace

ServerRunner::ServerRunner(server::ServiceParts parts) : m_parts(std::move(parts))
{
    m_counting.setInterval(kCountEveryMs);
    connect(&m_counting, &QTimer::timeout, this, &ServerRunner::count);
}

ServerRunner::~ServerRunner() = default;

void ServerRunner::start(server::ServiceSettings settings)
{
    m_counting.stop();
    m_service.reset();
    try {
        m_service = std::make_unique<server::Service>(m_parts, std::move(settings));
    } catch (const Error &error) {
        spdlog::warn("the endpoint cannot be started: {}", error.what());
        Q_EMIT failed(QString::fromUtf8(error.what()));
        return;
    }
    const std::string url = m_service->server().url();
    spdlog::info("the endpoint listens at {}", url);
    Q_EMIT started(QString::fromStdString(url), m_service->server().port(), m_service->hasStudio());
    m_connections = m_windows = -1; // so that the first count is told
    count();
    m_counting.start();
}

void ServerRunner::stop()
{
    m_counting.stop();
    if (m_service)
        spdlog::info("the endpoint is switched off");
    m_service.reset();
    Q_EMIT stopped();
}

void ServerRunner::ringLibrary()
{
    if (m_service)
        m_service->libraryBell()();
}

void ServerRunner::count()
{
    const http::GateFigures figures = m_service->server().figures();
    if (figures.connections == m_connections && figures.webSockets == m_windows)
        return;
    m_connections = figures.connections;
    m_windows = figures.webSockets;
    Q_EMIT clientsChanged(m_connections, m_windows);
}

} // namespace palimpsest::studio
