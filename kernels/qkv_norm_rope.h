// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"
#include "kernels/kv_pages.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct RopeAnglesArgs
{
    std::int64_t sequences = 0;
    std::int64_t rowStride = 0; ///< row r of sequence s is row s * rowStride + r of every matrix
    const SequenceView *views = nullptr;
    const float *frequencies = nullptr; ///< [pairs], theta^(-2i / headDim) as the model defines it
    std::int64_t pairs = 0;
    float2 *angles = nullptr; ///< [sequences * rowStride, pairs]: cosine and sine of position * frequency
};

/// The rotations of this launch's rows, once for all layers with the same frequencies. Rows behind a sequence's own are
/// left alone. fp32: the angle is rounded once, as position * frequency; cosine and sine to 2 ulp.
/// Returns cudaErrorInvalidValue for null pointers or sizes below zero, else the status of the launch.
[[nodiscard]] cudaError_t ropeAngles(const RopeAnglesArgs &args, cudaStream_t stream);

/// Where the keys and values go.
enum class KvTarget {
    Cache,   ///< the sequence's pages, behind its `length` positions
    Scratch, ///< the canvas's scratch pages
};

struct QkvNormRopeArgs
{
    std::int64_t sequences = 0;
    std::int64_t rowStride = 0;
    const SequenceView *views = nullptr;
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;
    std::int64_t pairs = 0; ///< frequencies that rotate, at most headDim / 2
    float epsilon = 1e-6F;
    /// [sequences * rowStride, (heads + kvHeads) * headDim] where values are the keys before their norm, else
    /// [sequences * rowStride, (heads + 2 kvHeads) * headDim]: queries, keys, values of a row.
    const Bf16 *qkv = nullptr;
    const float *qkvFloat = nullptr; ///< instead of qkv: then everything is in fp32, queriesFloat and poolFloat too
    bool hasValues = true;
    const float *queryWeight = nullptr; ///< [headDim]
    const float *keyWeight = nullptr;   ///< [headDim]
    const float2 *angles = nullptr;     ///< of ropeAngles() with the same `pairs`
    Bf16 *queries = nullptr;            ///< [sequences * rowStride, heads * headDim]
    KvTarget target = KvTarget::Scratch;
    KvPool pool;
    float *queriesFloat = nullptr;
    Fp32KvPool poolFloat;
};

/// RMS norm per head (queries and keys with a weight, values without), rotation of queries and keys (elements i and
/// i + headDim / 2 for i < pairs), and the keys and values into their pages.
///
/// Requires   headDim % 16 == 0, headDim <= 512; pointers aligned to 16 bytes; with Cache every page that the rows
///            reach. The weights are not written by the kernel just before this one in the stream: reading them begins
///            while that one ends.
/// Numerics   fp32 between the two roundings to bf16, or without any; a row's bits depend on the row and its position
///            alone.
/// Cost       reads and writes qkv once: 8.4 MB at 256 rows of 8192, 2 us out of the L2 cache.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
/// Source     Su et al. 2021, "RoFormer", section 3.4, with halves instead of neighbours; design, section 2.
[[nodiscard]] cudaError_t qkvNormRope(const QkvNormRopeArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
