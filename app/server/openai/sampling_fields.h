// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/openai/request_json.h"
#include "engine/backend.h"
#include "engine/byte_range.h"
#include "engine/generation.h"
#include "engine/model_config.h"
#include "engine/truncation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace palimpsest::openai {

inline constexpr std::int64_t kMostChoices = 8;
inline constexpr std::size_t kMostStopStrings = 4;
inline constexpr std::int64_t kMostTopLogprobs = kAlternativeCount;

/// A text that the first canvas starts from: `palimpsest.start`.
struct StartText
{
    std::string text;
    std::vector<ByteRange> frozen; ///< bytes of the text that stay; the rest may be changed
};

/// The vendor key `palimpsest` of a request: what only a block-diffusion model has. All of it is optional.
///
///     "palimpsest": {"steps": 48, "entropy_bound": 0.1, "t_min": 0.4, "t_max": 0.8, "confidence_threshold": 0.005,
///                    "stability_threshold": 1, "drafts": true,
///                    "start": {"text": "Dear Ms Smith", "frozen": [[0, 4]]}}
///
/// `frozen` counts Unicode code points of `text`, end exclusive.
struct VendorFields
{
    std::optional<std::int64_t> steps;
    std::optional<double> entropyBoundNats;
    std::optional<double> tMin;
    std::optional<double> tMax;
    std::optional<double> confidenceThresholdNats;
    std::optional<std::int64_t> stabilityThreshold;
    bool drafts = false; ///< opts in to events of the type `draft`
    std::optional<StartText> start;
};

/// The fields that say how an answer is drawn, the same for every endpoint.
struct SamplingFields
{
    double temperature = 1.0; ///< multiplies the model's own schedule
    Truncation truncation;
    std::optional<std::uint64_t> seed;
    std::vector<std::string> stopStrings;
    int choices = 1;
    std::optional<std::int64_t> maxTokens; ///< absent: as many as the context holds
    std::vector<LogitBias> logitBias;
    VendorFields vendor;
    /// Known fields that had a value and have no effect (penalties), for the log.
    std::vector<std::string> withoutEffect;
};

/// Reads everything but the token limit, whose name differs, and logprobs. Throws Error InvalidArgument (subject: the
/// field).
[[nodiscard]] SamplingFields readSamplingFields(RequestFields &fields);

/// A token limit under one of several names, the first of which wins; at least 1.
[[nodiscard]] std::optional<std::int64_t> readTokenLimit(RequestFields &fields,
                                                         std::initializer_list<std::string_view> names);

/// The model's schedule with the request's wishes put in. A temperature of 0 is the coldest that the engine knows: the
/// draws then are the argmax, and what is left of chance (the renoised positions) follows from the seed.
[[nodiscard]] SamplerSettings samplerSettings(const SamplingFields &fields, const GenerationDefaults &defaults);

/// The given seed, or a fresh one below 2^53, so that every JSON reader keeps it.
[[nodiscard]] std::uint64_t seedOrRandom(const std::optional<std::uint64_t> &seed);

/// Byte of a UTF-8 text at which code point `index` begins; the text's size for its length; nothing beyond.
[[nodiscard]] std::optional<std::int64_t> byteOfCodePoint(std::string_view text, std::int64_t index);

} // namespace palimpsest::openai
