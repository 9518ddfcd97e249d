// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct EntropyArgs
{
    std::int64_t rows = 0;
    std::int64_t vocabSize = 0;
    const float *logits = nullptr; ///< [rows, vocabSize]
    float temperature = 1.0F;      ///< above 0
    float *entropyNats = nullptr;  ///< [rows], out
};

/// Entropy of each row's softmax(logits / temperature), in nats. -infinity counts as impossible; a row of nothing else,
/// or with a NaN, gives NaN.
///
/// Where the five best ids or a sample are wanted as well, headSample() has all of it in one pass.
///
/// Requires   vocabSize a positive multiple of 4, 0 <= rows < 2^31; logits aligned to 16 bytes.
/// Numerics   fp32 logits and exponentials, each thread's sums in fp32 relative to its own maximum, their sum in
///            double; absolute error below 2e-5. The order of summation depends on vocabSize alone.
/// Cost       one read of the logits: 268 MB at 256 x 262144, 63 us at 4.27 TB/s. A row is one block of threads: fewer
///            rows than multiprocessors leave the rest of the chip idle.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
[[nodiscard]] cudaError_t entropy(const EntropyArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
