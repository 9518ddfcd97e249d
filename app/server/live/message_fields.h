// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/live/client_messages.h"
#include "engine/strict_json.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::live {

/// The kinds of fields that messages are made of. Every reader throws Error (of the kind that JsonFields throws) whose
/// subject is the field, for what is missing, of another type or out of range; `null` counts as absent.
///
/// Borrows the JSON value.
class MessageFields
{
public:
    MessageFields(const nlohmann::json &value, std::string type) : m_fields(value, std::move(type)) {}

    [[nodiscard]] bool has(std::string_view name) const { return m_fields.has(name); }
    [[nodiscard]] Id id(std::string_view name) const;
    [[nodiscard]] std::int64_t revision(std::string_view name) const; ///< from 1
    [[nodiscard]] std::int64_t count(std::string_view name) const;    ///< from 0
    [[nodiscard]] std::optional<std::int64_t> optionalCount(std::string_view name) const;
    [[nodiscard]] std::size_t index(std::string_view name) const; ///< from 0
    [[nodiscard]] std::optional<std::size_t> optionalIndex(std::string_view name) const;
    [[nodiscard]] std::optional<int> optionalWords(std::string_view name) const; ///< from 1
    [[nodiscard]] int step(std::string_view name) const;                         ///< from 1
    [[nodiscard]] std::optional<int> optionalStep(std::string_view name) const;
    [[nodiscard]] std::int64_t position(std::string_view name) const; ///< of a canvas
    [[nodiscard]] bool flag(std::string_view name) const;
    [[nodiscard]] bool flagOr(std::string_view name, bool absent) const;
    [[nodiscard]] QString text(std::string_view name) const;
    [[nodiscard]] QString textOr(std::string_view name, const QString &absent) const;
    [[nodiscard]] std::string type() const;
    [[nodiscard]] editing::TextSpan span() const; ///< `start` and `end`
    [[nodiscard]] CanvasAddress canvas() const;   ///< `run`, `lane` and `canvas`
    [[nodiscard]] editing::RunAction action(std::string_view name) const;
    [[nodiscard]] NoiseAmount amountOr(std::string_view name, NoiseAmount absent) const;
    [[nodiscard]] int alternativesOr(std::string_view name, int absent) const;
    [[nodiscard]] std::optional<std::uint64_t> optionalSeed(std::string_view name) const;
    [[nodiscard]] editing::SamplerWish samplerOrOwn(std::string_view name) const;
    [[nodiscard]] std::vector<editing::HoldChange> freezeChanges(std::string_view name) const;
    [[nodiscard]] QJsonObject settings(std::string_view name) const;

    [[noreturn]] void fail(std::string_view name, std::string_view found, std::string_view wanted) const
    {
        m_fields.fail(name, found, wanted);
    }

private:
    explicit MessageFields(JsonFields fields) : m_fields(std::move(fields)) {}

    JsonFields m_fields;
};

} // namespace palimpsest::live
