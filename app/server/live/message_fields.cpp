// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/message_fields.h"

#include "engine/sampler.h"

#include <array>
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

constexpr std::array<std::pair<std::string_view, Action>, 5> kActions{{{"proofread", Action::Proofread},
                                                                       {"rewrite", Action::Rewrite},
                                                                       {"renoise", Action::Renoise},
                                                                       {"fill", Action::Fill},
                                                                       {"continue", Action::Continue}}};
constexpr std::array<std::pair<std::string_view, Amount>, 3> kAmounts{
    {{"light", Amount::Light}, {"medium", Amount::Medium}, {"full", Amount::Full}}};

template <typename Value, std::size_t size>
Value named(const JsonFields &fields, std::string_view name,
            const std::array<std::pair<std::string_view, Value>, size> &values)
{
    std::string wanted;
    for (const auto &[text, value] : values)
        wanted += (wanted.empty() ? "" : ", ") + std::string(text);
    const std::string found = fields.string(name);
    for (const auto &[text, value] : values) {
        if (text == found)
            return value;
    }
    fields.fail(name, describeJson(found), "one of: " + wanted);
}

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

SamplerWish readSampler(const JsonFields &fields)
{
    return {.maxSteps = asInt(fields.optionalInteger("maxSteps", kSteps)),
            .tMin = fields.optionalNumber("tMin", kTemperatures),
            .tMax = fields.optionalNumber("tMax", kTemperatures),
            .entropyBoundNats = fields.optionalNumber("entropyBound", kNats),
            .stability = asInt(fields.optionalInteger("stability", kSteps)),
            .confidenceNats = fields.optionalNumber("confidence", kNats)};
}

} // namespace

Id MessageFields::id(std::string_view name) const
{
    std::string id = text(name);
    if (id.empty() || id.size() > kLongestIdBytes)
        fail(name, describeJson(id), "an id of at most " + std::to_string(kLongestIdBytes) + " bytes");
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

int MessageFields::index(std::string_view name) const
{
    return static_cast<int>(m_fields.integer(name, kIndices));
}

std::optional<int> MessageFields::optionalIndex(std::string_view name) const
{
    return asInt(m_fields.optionalInteger(name, kIndices));
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

std::string MessageFields::text(std::string_view name) const
{
    std::string text = m_fields.string(name);
    if (text.find('\0') != std::string::npos)
        fail(name, "a NUL character", "a text without one"); // stores and toolkits end a text there
    return text;
}

std::string MessageFields::textOr(std::string_view name, std::string absent) const
{
    return has(name) ? text(name) : std::move(absent);
}

TextRange MessageFields::range() const
{
    const TextRange range{.start = count("start"), .end = count("end")};
    if (range.end < range.start)
        fail("end", std::to_string(range.end), "a number not below start, " + std::to_string(range.start));
    return range;
}

CanvasAddress MessageFields::canvas() const
{
    return {.run = id("run"), .lane = index("lane"), .canvas = index("canvas")};
}

Action MessageFields::action(std::string_view name) const
{
    return named(m_fields, name, kActions);
}

Amount MessageFields::amountOr(std::string_view name, Amount absent) const
{
    return has(name) ? named(m_fields, name, kAmounts) : absent;
}

int MessageFields::alternativesOr(std::string_view name, int absent) const
{
    return asInt(m_fields.optionalInteger(name, {.min = 1, .max = kMostAlternatives})).value_or(absent);
}

std::optional<std::uint64_t> MessageFields::optionalSeed(std::string_view name) const
{
    const std::optional<std::int64_t> seed = optionalCount(name);
    return seed ? std::optional(static_cast<std::uint64_t>(*seed)) : std::nullopt;
}

SamplerWish MessageFields::samplerOrOwn(std::string_view name) const
{
    return has(name) ? readSampler(objectIn(m_fields, name)) : SamplerWish{};
}

std::vector<RunFreeze::Change> MessageFields::freezeChanges(std::string_view name) const
{
    const nlohmann::json &list = m_fields.require(name, "a list of changes");
    if (!list.is_array())
        fail(name, describeJson(list), "a list of changes");
    std::vector<RunFreeze::Change> changes;
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

nlohmann::json MessageFields::settings(std::string_view name) const
{
    const JsonFields settings = objectIn(m_fields, name);
    if (settings.value().dump().size() > kMostSettingsBytes)
        fail(name, "more than 16 KiB", "a few settings");
    if (settings.has("sampler"))
        static_cast<void>(readSampler(objectIn(settings, "sampler")));
    static_cast<void>(settings.optionalInteger("seed", kCounts));
    return settings.value();
}

} // namespace palimpsest::live
