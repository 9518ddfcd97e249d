// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/cpu/cpu_model.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace palimpsest::test {

/// A model of the golden fixtures, by its folder there.
[[nodiscard]] std::unique_ptr<cpu::CpuModel> loadModel(const std::filesystem::path &folder, int threads = 2);

/// A prefix of these ids, encoded in chunks of these sizes and the rest.
[[nodiscard]] std::unique_ptr<Sequence> encoded(cpu::CpuModel &model, std::span<const TokenId> ids,
                                                const std::vector<std::int64_t> &chunks = {});

/// Keys or values of a cached position of a layer, [kvHeads, headDim], as the fixtures have them.
[[nodiscard]] std::vector<float> cachedKeys(const cpu::CpuSequence &sequence, std::int64_t layer,
                                            std::int64_t position);
[[nodiscard]] std::vector<float> cachedValues(const cpu::CpuSequence &sequence, std::int64_t layer,
                                              std::int64_t position);
/// The same of all positions, [positions, kvHeads, headDim].
[[nodiscard]] std::vector<float> wholeCache(const cpu::CpuSequence &sequence, std::int64_t layer,
                                            std::vector<float> (*part)(const cpu::CpuSequence &, std::int64_t,
                                                                       std::int64_t));

/// One denoising step; the results are kept alive with it.
struct Step
{
    std::vector<PositionResult> results;

    void run(cpu::CpuModel &model, const Sequence &prefix, const std::vector<TokenId> &canvas,
             SelfConditioning *conditioning, float temperature, std::uint64_t seed = 1);
};

} // namespace palimpsest::test
