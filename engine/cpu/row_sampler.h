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

/// How raw logits become processed ones.
struct LogitProcessing
{
    float softcap = 30.0F;
    float temperature = 1.0F;
    std::span<const LogitBias> bias; ///< sorted by id
    std::int64_t vocabSize = 0;
};

/// One block of 64 raw logits, ids [64 * block, ...), to processed logits: soft-cap, bias, temperature; ids behind the
/// vocabulary become -infinity. Returns the block's maximum.
[[nodiscard]] float processBlock(const RowKernels &kernels, const LogitProcessing &processing, std::int64_t block,
                                 const float *raw, float *processed);

/// Where a row's noise comes from.
struct RowNoise
{
    NoiseAddress address;
    std::uint32_t position = 0;
    bool pruning = true; ///< tests switch it off
};

/// What is left of the row for self-conditioning: weights e (in place of the logits) and their sum; p = e / sum.
struct RowWeights
{
    double sum = 0.0;
    float maximum = 0.0F; ///< of the processed logits
};

/// Argmax, entropy, Gumbel sample and alternatives of one row of processed logits, which is overwritten with
/// exp(processed - maximum).
///
/// row: [64 * blocks], blockMaxima: [blocks], as processBlock left them.
///
/// The Gumbel maximum is exact but rarely looks at all ids: noise is at most 16.64, so a block of 64 ids whose best
/// logit is further below the best perturbed logit so far is skipped, and in the others a random word must exceed a
/// floor before its logarithms are taken (the Gumbel value is monotone in the word).
[[nodiscard]] RowWeights sampleRow(const RowKernels &kernels, const RowNoise &noise, std::span<float> row,
                                   std::span<const float> blockMaxima, PositionResult &result);

} // namespace palimpsest::cpu
