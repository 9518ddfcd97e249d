// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/live_channel.h"

#include "app/server/http/routes.h"

namespace palimpsest::live {

LiveChannel::LiveChannel(EngineHost &engine, documents::DocumentWorker &store, const QString &version)
    : m_sessions(engine, store), m_hub({.engine = engine, .store = store, .sessions = m_sessions, .version = version})
{
    m_bell->hub = &m_hub;
}

LiveChannel::~LiveChannel()
{
    const std::lock_guard lock(m_bell->mutex);
    m_bell->hub = nullptr;
}

void LiveChannel::addTo(http::Routes &routes)
{
    routes.addWebSocket("/ws", [this](const http::WebSocketArrival &arrival) { m_hub.adopt(arrival.socket); });
}

void LiveChannel::onLibraryChanged(std::function<void()> tell)
{
    QObject::connect(&m_hub, &Hub::changedLibrary, &m_hub, std::move(tell));
}

std::function<void()> LiveChannel::bell() const
{
    return [bell = m_bell] {
        const std::lock_guard lock(bell->mutex);
        if (bell->hub != nullptr)
            QMetaObject::invokeMethod(bell->hub, "libraryChanged", Qt::QueuedConnection);
    };
}

} // namespace palimpsest::live
