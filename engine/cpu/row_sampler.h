// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/cpu/row_kernels.h"
#include "engine/philox.h"
#include "engine/sampler.h"

#include <cstdint>
#include <span>
#include <vector>

namespace palimpsest::cpu {

/// How one row of logits becomes a PositionResult.
struct RowSamplerInput
{
    float softcap = 30.0F;
    float temperature = 1.0F;
    std::span<const LogitBias> bias; ///< sorted by id
    NoiseAddress noise;
    std::uint32_t position = 0;
    bool pruning = true; ///< tests switch it off
};

/// What is left of the row for self-conditioning: weights e (in place of the logits) and their sum; p = e / sum.
struct RowWeights
{
    double sum = 0.0;
    float maximum = 0.0F; ///< of the processed logits
};

/// Soft-cap, bias, temperature, argmax, entropy, Gumbel sample and alternatives of one row of raw logits, which is
/// overwritten with exp(processed - maximum).
///
/// logits: [stride], the first `vocabSize` are given, the rest (stride is the next multiple of 64) is ignored.
/// blockMaxima: [stride / 64], scratch that is also read afterwards: the processed maximum of each block.
///
/// The Gumbel maximum is exact but rarely looks at all ids: noise is at most 16.64, so a block of 64 ids whose best
/// logit is further below the best perturbed logit so far is skipped, and in the others a random word must exceed a
/// floor before its logarithms are taken (the Gumbel value is monotone in the word).
[[nodiscard]] RowWeights sampleRow(const RowKernels &kernels, const RowSamplerInput &input, std::span<float> logits,
                                   std::int64_t vocabSize, std::span<float> blockMaxima, PositionResult &result);

} // namespace palimpsest::cpu
