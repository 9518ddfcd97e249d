// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/sampling_fields.h"

#include "engine/utf8.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <random>

namespace palimpsest::openai {

using nlohmann::json;

namespace {

constexpr double kHighestTemperatureFactor = 2.0; // OpenAI's range
constexpr double kMostBias = 100.0;
constexpr std::int64_t kMostTokens = 1LL << 31U;

std::vector<std::string> readStopStrings(RequestFields &fields)
{
    const json *value = fields.find("stop");
    if (value == nullptr)
        return {};
    const json list = value->is_array() ? *value : json::array({*value});
    if (list.size() > kMostStopStrings)
        refuse("stop", "there are " + std::to_string(list.size()) + ", but at most 4 are taken");
    std::vector<std::string> strings;
    for (const json &entry : list) {
        if (!entry.is_string())
            refuse("stop", "found " + shown(entry) + ", wanted a text or a list of texts");
        if (entry.get_ref<const std::string &>().empty())
            refuse("stop", "a stop string is empty");
        strings.push_back(entry.get<std::string>());
    }
    return strings;
}

LogitBias readBias(const std::string &key, const json &value)
{
    LogitBias bias;
    const char *const end = key.data() + key.size();
    const auto [stop, problem] = std::from_chars(key.data(), end, bias.id);
    if (problem != std::errc() || stop != end || bias.id < 0)
        refuse("logit_bias", "the key " + shown(key) + " is no token id");
    const double amount = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!(amount >= -kMostBias && amount <= kMostBias))
        refuse("logit_bias", "the bias of token " + key + " is " + shown(value) + ", wanted a number from -100 to 100");
    bias.bias = amount == -kMostBias ? -std::numeric_limits<float>::infinity() : static_cast<float>(amount);
    return bias;
}

std::vector<LogitBias> readLogitBias(RequestFields &fields)
{
    std::vector<LogitBias> biases;
    if (const json *object = fields.object("logit_bias")) {
        for (auto entry = object->begin(); entry != object->end(); ++entry)
            biases.push_back(readBias(entry.key(), entry.value()));
    }
    return biases;
}

StartText readStart(const json &object)
{
    RequestFields fields(object, "palimpsest.start.");
    StartText start{fields.requireText("text"), {}};
    const json *frozen = fields.list("frozen");
    if (frozen == nullptr)
        return start;
    for (const json &pair : *frozen) {
        const bool isPair = pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() &&
                            pair[1].is_number_unsigned() && pair[0] <= pair[1] &&
                            pair[1].get<std::uint64_t>() <= start.text.size();
        const auto begin = isPair ? byteOfCodePoint(start.text, pair[0].get<std::int64_t>()) : std::nullopt;
        const auto end = isPair ? byteOfCodePoint(start.text, pair[1].get<std::int64_t>()) : std::nullopt;
        if (!begin || !end)
            refuse("palimpsest.start.frozen", "found " + pair.dump() + ", wanted [begin, end] inside the text");
        start.frozen.push_back({*begin, *end});
    }
    return start;
}

VendorFields readVendorFields(RequestFields &outer)
{
    VendorFields vendor;
    const json *object = outer.object("palimpsest");
    if (object == nullptr)
        return vendor;
    RequestFields fields(*object, "palimpsest.");
    vendor.steps = fields.integer("steps", 1, kMostDenoisingSteps);
    vendor.entropyBoundNats = fields.number("entropy_bound", 0.0, 1e6);
    vendor.tMin = fields.number("t_min", 0.0, kHighestTemperature);
    vendor.tMax = fields.number("t_max", kLowestTemperature, kHighestTemperature);
    vendor.confidenceThresholdNats = fields.number("confidence_threshold", 0.0, 1e6);
    vendor.stabilityThreshold = fields.integer("stability_threshold", 0, kMostDenoisingSteps);
    vendor.drafts = fields.boolean("drafts").value_or(false);
    if (const json *start = fields.object("start"))
        vendor.start = readStart(*start);
    if (const auto unknown = fields.unknown(); !unknown.empty())
        refuse(unknown.front(), "there is no such setting");
    return vendor;
}

void readPenalties(RequestFields &fields, SamplingFields &sampling)
{
    const auto note = [&](std::string_view name, double lowest, double highest, double neutral) {
        if (fields.number(name, lowest, highest).value_or(neutral) != neutral)
            sampling.withoutEffect.emplace_back(name);
    };
    note("frequency_penalty", -2.0, 2.0, 0.0);
    note("presence_penalty", -2.0, 2.0, 0.0);
    note("repetition_penalty", 0.0, 10.0, 1.0);
}

} // namespace

SamplingFields readSamplingFields(RequestFields &fields)
{
    SamplingFields sampling;
    sampling.temperature = fields.number("temperature", 0.0, kHighestTemperatureFactor).value_or(1.0);
    if (const auto topP = fields.number("top_p", 0.0, 1.0)) {
        if (*topP == 0.0)
            refuse("top_p", "found 0, wanted a number above 0, up to 1; for the likeliest alone, top_k is 1");
        sampling.truncation.topP = *topP;
    }
    const auto topK = fields.integer("top_k", -1, std::numeric_limits<int>::max());
    sampling.truncation.topK = static_cast<int>(std::max<std::int64_t>(0, topK.value_or(0))); // -1 means none
    sampling.truncation.minP = fields.number("min_p", 0.0, 1.0).value_or(0.0);
    if (const auto seed = fields.integer("seed", 0, std::numeric_limits<std::int64_t>::max()))
        sampling.seed = static_cast<std::uint64_t>(*seed);
    sampling.stopStrings = readStopStrings(fields);
    sampling.choices = static_cast<int>(fields.integer("n", 1, kMostChoices).value_or(1));
    sampling.logitBias = readLogitBias(fields);
    readPenalties(fields, sampling);
    sampling.vendor = readVendorFields(fields);
    return sampling;
}

std::optional<std::int64_t> readTokenLimit(RequestFields &fields, std::initializer_list<std::string_view> names)
{
    std::optional<std::int64_t> limit;
    for (const std::string_view name : names) {
        const auto found = fields.integer(name, 1, kMostTokens);
        if (!limit)
            limit = found;
    }
    return limit;
}

SamplerSettings samplerSettings(const SamplingFields &fields, const GenerationDefaults &defaults)
{
    const VendorFields &vendor = fields.vendor;
    SamplerSettings settings;
    settings.maxDenoisingSteps = static_cast<int>(vendor.steps.value_or(defaults.maxDenoisingSteps));
    settings.entropyBoundNats = vendor.entropyBoundNats.value_or(defaults.entropyBoundNats);
    const auto warmed = [&](double temperature) {
        return fields.temperature == 1.0
                   ? temperature
                   : std::clamp(temperature * fields.temperature, kLowestTemperature, kHighestTemperature);
    };
    settings.tMin = warmed(vendor.tMin.value_or(defaults.tMin));
    settings.tMax = warmed(vendor.tMax.value_or(defaults.tMax));
    settings.confidenceThresholdNats = vendor.confidenceThresholdNats.value_or(defaults.confidenceThresholdNats);
    settings.stabilityThreshold = static_cast<int>(vendor.stabilityThreshold.value_or(defaults.stabilityThreshold));
    return settings;
}

std::uint64_t seedOrRandom(const std::optional<std::uint64_t> &seed)
{
    if (seed)
        return *seed;
    std::random_device device;
    const std::uint64_t drawn = (static_cast<std::uint64_t>(device()) << 32U) | device();
    constexpr unsigned kDroppedBits = 64 - 53;
    return drawn >> kDroppedBits;
}

std::optional<std::int64_t> byteOfCodePoint(std::string_view text, std::int64_t index)
{
    std::size_t byte = 0;
    for (; index > 0 && byte < text.size(); --index)
        byte += std::max<std::size_t>(1, readUtf8(text, byte).length);
    return index > 0 ? std::nullopt : std::optional<std::int64_t>(static_cast<std::int64_t>(byte));
}

} // namespace palimpsest::openai
