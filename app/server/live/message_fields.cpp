// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/message_fields.h"

#include "engine/sampler.h"

#include <QJsonDocument>

#include <limits>
#include <utility>

namespace palimpsest::live {

namespace {

constexpr IntegerRange kRevisions{.min = 1, .max = kLargestNumber};
constexpr IntegerRange kCounts{.min = 0, .max = kLargestNumber};
constexpr IntegerRange kIndices{.min = 0, .max = 1'000'000};
constexpr IntegerRange kSteps{.min = 1, .max = kMostDenoisingSteps};
constexpr IntegerRange kTokens{.min = 0, .max = std::numeric_limits<TokenId>::max()};
constexpr NumberRange kTemperatures{.min = 0.0, .max = kHighestTemperature};
constexpr NumberRange kNats{.min = 0.0, .max = 1e6};
constexpr std::size_t kMostSettingsBytes = 16UL * 1024;

/// As JsonFields::object, but it is the field that an error names.
JsonFields objectIn(const JsonFields &fields, std::string_view name)
{
    const nlohmann::json &value = fields.require(name, "an object");
    if (!value.is_object())
        fields.fail(name, describeJson(value), "an object");
    return fields.object(name);
}

std::optional<int> asInt(std::optional<std::int64_t> number)
{
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt; // the ranges above fit
}

editing::SamplerWish readSampler(const JsonFields &fields)
{
    return {.maxSteps = asInt(fields.optionalInteger("maxSteps", kSteps)),
            .tMin = fields.optionalNumber("tMin", kTemperatures),
            .tMax = fields.optionalNumber("tMax", kTemperatures),
            .entropyBound = fields.optionalNumber("entropyBound", kNats),
            .stability = asInt(fields.optionalInteger("stability", kSteps)),
            .confidence = fields.optionalNumber("confidence", kNats)};
}

} // namespace

std::string MessageFields::type() const
{
    return m_fields.string("type");
}

Id MessageFields::id(std::string_view name) const
{
    QString id = text(name);
    if (id.isEmpty() || id.size() > kLongestId)
        fail(name, describeJson(*m_fields.find(name)),
             "an id of at most " + std::to_string(kLongestId) + " characters");
    return id;
}

std::int64_t MessageFields::revision(std::string_view name) const
{
    return m_fields.integer(name, kRevisions);
}

std::int64_t MessageFields::count(std::string_view name) const
{
    return m_fields.integer(name, kCounts);
}

std::optional<std::int64_t> MessageFields::optionalCount(std::string_view name) const
{
    return m_fields.optionalInteger(name, kCounts);
}

std::size_t MessageFields::index(std::string_view name) const
{
    return static_cast<std::size_t>(m_fields.integer(name, kIndices));
}

std::optional<std::size_t> MessageFields::optionalIndex(std::string_view name) const
{
    return has(name) ? std::optional(index(name)) : std::nullopt;
}

std::optional<int> MessageFields::optionalWords(std::string_view name) const
{
    return asInt(m_fields.optionalInteger(name, {.min = 1, .max = kIndices.max}));
}

int MessageFields::step(std::string_view name) const
{
    return static_cast<int>(m_fields.integer(name, kSteps));
}

std::optional<int> MessageFields::optionalStep(std::string_view name) const
{
    return asInt(m_fields.optionalInteger(name, kSteps));
}

std::int64_t MessageFields::position(std::string_view name) const
{
    return m_fields.integer(name, kIndices);
}

bool MessageFields::flag(std::string_view name) const
{
    static_cast<void>(m_fields.require(name, "true or false"));
    return m_fields.optionalBool(name).value_or(false);
}

bool MessageFields::flagOr(std::string_view name, bool absent) const
{
    return m_fields.optionalBool(name).value_or(absent);
}

QString MessageFields::text(std::string_view name) const
{
    const std::string text = m_fields.string(name);
    if (text.find('\0') != std::string::npos)
        fail(name, "a NUL character", "a text without one"); // stores and tokenizers end a text there
    return QString::fromStdString(text);
}

QString MessageFields::textOr(std::string_view name, const QString &absent) const
{
    return has(name) ? text(name) : absent;
}

editing::TextSpan MessageFields::span() const
{
    const editing::TextSpan span{.start = count("start"), .end = count("end")};
    if (span.end < span.start)
        fail("end", std::to_string(span.end), "a number not below start, " + std::to_string(span.start));
    return span;
}

CanvasAddress MessageFields::canvas() const
{
    return {.run = id("run"),
            .lane = static_cast<int>(m_fields.integer("lane", kIndices)),
            .canvas = m_fields.integer("canvas", kIndices)};
}

editing::RunAction MessageFields::action(std::string_view name) const
{
    const std::optional<editing::RunAction> action = editing::runActionFromName(text(name));
    if (!action)
        fail(name, describeJson(*m_fields.find(name)), "proofread, rewrite, renoise, fill or continue");
    return *action;
}

NoiseAmount MessageFields::amountOr(std::string_view name, NoiseAmount absent) const
{
    if (!has(name))
        return absent;
    const std::optional<NoiseAmount> amount = editing::noiseAmountFromName(text(name));
    if (!amount)
        fail(name, describeJson(*m_fields.find(name)), "light, medium or full");
    return *amount;
}

int MessageFields::alternativesOr(std::string_view name, int absent) const
{
    return asInt(m_fields.optionalInteger(name, {.min = 1, .max = editing::kMostAlternatives})).value_or(absent);
}

std::optional<std::uint64_t> MessageFields::optionalSeed(std::string_view name) const
{
    const std::optional<std::int64_t> seed = optionalCount(name);
    return seed ? std::optional(static_cast<std::uint64_t>(*seed)) : std::nullopt;
}

editing::SamplerWish MessageFields::samplerOrOwn(std::string_view name) const
{
    return has(name) ? readSampler(objectIn(m_fields, name)) : editing::SamplerWish{};
}

std::vector<editing::HoldChange> MessageFields::freezeChanges(std::string_view name) const
{
    const nlohmann::json &list = m_fields.require(name, "a list of changes");
    if (!list.is_array())
        fail(name, describeJson(list), "a list of changes");
    std::vector<editing::HoldChange> changes;
    changes.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string place = std::string(name) + "[" + std::to_string(i) + "]";
        if (!list[i].is_object())
            fail(place, describeJson(list[i]), "an object");
        const JsonFields change(list[i], m_fields.path(), place + ".");
        const std::optional<std::int64_t> id = change.optionalInteger("id", kTokens);
        changes.push_back({.position = change.integer("position", kIndices),
                           .id = id ? std::optional(static_cast<TokenId>(*id)) : std::nullopt});
    }
    return changes;
}

QJsonObject MessageFields::settings(std::string_view name) const
{
    const std::string text = objectIn(m_fields, name).value().dump();
    if (text.size() > kMostSettingsBytes)
        fail(name, "more than 16 KiB", "a few settings");
    return QJsonDocument::fromJson(QByteArray::fromStdString(text)).object();
}

} // namespace palimpsest::live
