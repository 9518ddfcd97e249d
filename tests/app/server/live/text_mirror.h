// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/text_edit.h"

#include <QJsonObject>
#include <QString>

#include <cstdint>
#include <deque>
#include <optional>

namespace palimpsest::test {

/// A window's own copy of a draft's text, kept as PROTOCOL.md tells clients to: its edits show at once, one at a time
/// is on its way, and what comes in meanwhile is moved.
class TextMirror
{
public:
    TextMirror() = default;
    TextMirror(QString text, std::int64_t version) : m_text(std::move(text)), m_version(version) {}

    [[nodiscard]] const QString &text() const noexcept { return m_text; }
    [[nodiscard]] std::int64_t version() const noexcept { return m_version; }
    [[nodiscard]] bool isQuiet() const noexcept { return !m_sent && m_waiting.empty(); }

    void type(const editing::TextEdit &edit);
    /// The next edit to send, of version(), if none is on its way.
    [[nodiscard]] std::optional<editing::TextEdit> next();
    /// The reply to the edit that was sent. False if the server did something else than what is shown here.
    [[nodiscard]] bool confirmed(const QJsonObject &reply);
    /// Somebody else's edit.
    void edited(const QJsonObject &message);

private:
    QString m_text;
    std::int64_t m_version = 0;
    std::optional<editing::TextEdit> m_sent;
    std::deque<editing::TextEdit> m_waiting;
};

inline void TextMirror::type(const editing::TextEdit &edit)
{
    editing::apply(m_text, edit);
    m_waiting.push_back(edit);
}

inline std::optional<editing::TextEdit> TextMirror::next()
{
    if (m_sent || m_waiting.empty())
        return std::nullopt;
    m_sent = m_waiting.front();
    m_waiting.pop_front();
    return m_sent;
}

inline bool TextMirror::confirmed(const QJsonObject &reply)
{
    const bool isSame = m_sent && reply.value(u"start").toInteger() == m_sent->span.start &&
                        reply.value(u"end").toInteger() == m_sent->span.end &&
                        reply.value(u"version").toInteger() == m_version + 1;
    m_version = reply.value(u"version").toInteger();
    m_sent.reset();
    return isSame;
}

inline void TextMirror::edited(const QJsonObject &message)
{
    using editing::EditOrder;
    editing::TextEdit theirs{
        .span = {.start = message.value(u"start").toInteger(), .end = message.value(u"end").toInteger()},
        .text = message.value(u"text").toString()};
    m_version = message.value(u"version").toInteger();
    const auto pass = [&theirs](editing::TextEdit &ours) {
        const editing::TextEdit before = theirs;
        theirs = editing::moved(theirs, ours, EditOrder::Earlier);
        ours = editing::moved(ours, before, EditOrder::Later);
    };
    if (m_sent)
        pass(*m_sent);
    for (editing::TextEdit &ours : m_waiting)
        pass(ours);
    editing::apply(m_text, theirs);
}

} // namespace palimpsest::test
