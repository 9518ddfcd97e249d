// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/channels.h"

#include "app/server/live/window.h"

#include <chrono>

namespace palimpsest::live {

namespace {

constexpr std::chrono::milliseconds kRefresh{16}; // 62.5 Hz

} // namespace

Channels::Channels(editing::SessionRegistry &sessions, Counters &counters, QObject *parent)
    : QObject(parent), m_sessions(sessions), m_counters(counters)
{
    m_refresh.setSingleShot(true);
    m_refresh.setTimerType(Qt::PreciseTimer);
    m_refresh.setInterval(kRefresh);
    m_soon.setSingleShot(true);
    m_soon.setInterval(0);
    connect(&m_soon, &QTimer::timeout, this, &Channels::sendFrames);
    connect(&m_refresh, &QTimer::timeout, this, [this] {
        if (m_isDue)
            sendFrames();
    });
}

void Channels::join(editing::DraftSession &session, Window &window)
{
    DocumentChannel *&channel = m_channels[session.document()];
    if (channel == nullptr) {
        channel = new DocumentChannel(session, m_counters, this);
        connect(channel, &DocumentChannel::framesDue, this, &Channels::framesDue);
        connect(channel, &DocumentChannel::gone, this, [this, document = session.document()] { drop(document); });
    }
    window.documents().insert(session.document());
    channel->join(window);
}

void Channels::leave(const QString &document, Window &window)
{
    if (!window.documents().remove(document))
        return;
    const auto channel = m_channels.find(document);
    if (channel != m_channels.end()) {
        channel->second->leave(window);
        if (channel->second->isEmpty())
            drop(document);
    }
    m_sessions.leave(document, window.id());
}

void Channels::leaveAll(Window &window)
{
    const QSet<QString> documents = window.documents();
    for (const QString &document : documents)
        leave(document, window);
}

void Channels::confirm(const Window &window, const LaneKey &lane, FramePlace place)
{
    const editing::DraftSession *session = m_sessions.findByRun(lane.run);
    const auto channel = session == nullptr ? m_channels.end() : m_channels.find(session->document());
    if (channel != m_channels.end())
        channel->second->confirm(window, lane, place);
}

void Channels::framesDue()
{
    m_isDue = true;
    if (!m_refresh.isActive() && !m_soon.isActive())
        m_soon.start(); // so that the lanes of one step go out together
}

void Channels::sendFrames()
{
    m_isDue = false;
    for (const auto &[document, channel] : m_channels)
        channel->sendFrames();
    m_refresh.start();
}

void Channels::drop(const QString &document)
{
    const auto channel = m_channels.find(document);
    if (channel == m_channels.end())
        return;
    channel->second->release();
    channel->second->deleteLater(); // it may be in the middle of a signal
    m_channels.erase(channel);
}

} // namespace palimpsest::live
