// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft_session.h"
#include "app/server/live/client_messages.h"

#include <QJsonObject>
#include <QPointer>
#include <QString>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

namespace palimpsest::live {

class Window;

/// Answers one message, now or later; copies answer the same one. A message without `ref` gets no reply, and an error
/// without one; a window that has left gets nothing.
class Answerer
{
public:
    Answerer(Window &window, std::optional<std::int64_t> ref);

    /// Null when it has left.
    [[nodiscard]] Window *window() const;

    void reply(QJsonObject fields = {}) const;
    /// A reply with one field whose value is JSON text already.
    void replyText(QStringView name, const QString &json) const;
    void fail(const Problem &problem) const;
    void fail(const Error &error) const;

    /// What to give to something that answers later: `fieldsOf` makes the reply out of the value.
    template <typename Value, typename FieldsOf>
    [[nodiscard]] editing::Answer<Value> later(FieldsOf fieldsOf) const
    {
        return [answerer = *this, fieldsOf = std::move(fieldsOf)](std::variant<Value, Error> answer) {
            if (const auto *error = std::get_if<Error>(&answer))
                answerer.fail(*error);
            else
                answerer.reply(fieldsOf(std::get<Value>(answer)));
        };
    }

private:
    QPointer<Window> m_window;
    std::optional<std::int64_t> m_ref;
};

} // namespace palimpsest::live
