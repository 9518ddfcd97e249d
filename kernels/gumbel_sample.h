// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct GumbelSampleArgs
{
    std::int64_t rows = 0;
    std::int64_t vocabSize = 0;
    const float *logits = nullptr; ///< [rows, vocabSize]
    float temperature = 1.0F;      ///< above 0
    std::uint64_t seed = 0;
    std::uint32_t step = 0;          ///< a number for each draw from the same seed
    std::uint32_t stream = 0;        ///< and one for each purpose
    std::int32_t *sampled = nullptr; ///< [rows], out; null: not wanted, and no noise is drawn
    std::int32_t *argmax = nullptr;  ///< [rows], out; null: not wanted
};

/// One id from each row's softmax(logits / temperature), and the most likely one; the lowest on ties.
///
/// Gumbel-max: the sample is the argmax of logit / temperature + noise, so no probabilities are formed. The noise of id
/// i in row r is lane i % 4 of Philox4x32-10 with the counter (i / 4, r, step, stream) and the key `seed`: the same on
/// every device and for every number of rows. -infinity bans an id; a row of nothing else gives id 0.
///
/// Requires   vocabSize a positive multiple of 4 below 2^31, 0 <= rows < 2^31; logits aligned to 16 bytes, no NaN.
/// Numerics   logit / temperature rounded once, as headSample(); noise -log(-log(u)), each logarithm rounded once to
///            fp32 from double. Ids that cannot win are not perturbed (noise is at most 16.64), which changes nothing
///            in the result.
/// Cost       one read of the logits (63 us for 256 x 262144 at 4.27 TB/s); the noise takes longer than that where no
///            id stands out. A row is one block of threads.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
/// Source     Maddison, Tarlow and Minka 2014, "A* Sampling"; Salmon et al. 2011, "Parallel random numbers: as easy as
///            1, 2, 3".
[[nodiscard]] cudaError_t gumbelSample(const GumbelSampleArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
