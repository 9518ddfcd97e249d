// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/model_config.h"

namespace palimpsest::cuda {

/// How wide activations and cached keys and values are; sums and the residual stream are fp32 in both, weights are what
/// the checkpoint has.
enum class Precision {
    Automatic, ///< by the model's size
    Bf16,      ///< bf16 operands for the matrix units
    Fp32       ///< fp32 throughout, without them
};

/// Small models compute in fp32: they are fast enough without the matrix units, and a denoising loop forks where two
/// ids are as good as equal. Of 60 texts of the demo model, computed on the CPU with operands rounded to a precision,
/// as many came out as they do unrounded: bf16 everywhere 29, bf16 in attention or in dense products alone 33 and 32,
/// 16 bits of significand 51. So nothing short of fp32 everywhere gives the texts of the CPU.
[[nodiscard]] inline Precision precisionFor(const ModelConfig &config, Precision asked) noexcept
{
    // A step of 256 positions stays near 5 ms on an H200, and probabilities [256, vocabulary] near 64 MiB.
    constexpr std::int64_t kMostHidden = 1024;
    constexpr std::int64_t kMostVocabulary = 65536;
    if (asked != Precision::Automatic)
        return asked;
    return config.hiddenSize <= kMostHidden && config.vocabSize <= kMostVocabulary ? Precision::Fp32 : Precision::Bf16;
}

} // namespace palimpsest::cuda
