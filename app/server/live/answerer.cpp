// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/answerer.h"

#include "app/server/live/server_messages.h"
#include "app/server/live/window.h"

namespace palimpsest::live {

Answerer::Answerer(Window &window, std::optional<std::int64_t> ref) : m_window(&window), m_ref(ref) {}

Window *Answerer::window() const
{
    return m_window;
}

void Answerer::reply(QJsonObject fields) const
{
    if (m_window && m_ref)
        m_window->send(live::reply(*m_ref, std::move(fields)));
}

void Answerer::replyText(QStringView name, const QString &json) const
{
    if (!m_window || !m_ref)
        return;
    const QString beginning = QStringLiteral(R"({"type":"reply","ref":%1,"%2":)").arg(*m_ref).arg(name);
    m_window->send(QString(beginning + json + QLatin1Char('}')));
}

void Answerer::fail(const Problem &problem) const
{
    if (m_window)
        m_window->send(errorMessage(m_ref, problem));
}

void Answerer::fail(const Error &error) const
{
    fail(problemOf(error));
}

} // namespace palimpsest::live
