// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

inline constexpr int kSampleAlternatives = 5;

/// What one canvas position gets from its row of logits; processed = (softcap(logits) + bias) / temperature.
struct RowSample
{
    std::int32_t argmax = 0;                            ///< of the processed logits, lowest id on ties
    std::int32_t sampled = 0;                           ///< argmax of processed logit + Gumbel noise, lowest id on ties
    float entropyNats = 0.0F;                           ///< of softmax(processed)
    std::int32_t alternativeIds[kSampleAlternatives]{}; ///< by descending probability, equal ones by id
    float alternativeProbabilities[kSampleAlternatives]{};
};

struct DeviceLogitBias
{
    std::int32_t id = 0;
    float bias = 0.0F; ///< added to the soft-capped logit; -infinity bans the id
};

/// What changes from step to step, in device memory, so that a captured graph can be replayed.
struct SampleSettings
{
    float temperature = 1.0F;
    std::uint32_t seedLow = 0;
    std::uint32_t seedHigh = 0;
    std::uint32_t step = 0;
    std::uint32_t stream = 0; ///< canvas number << 8 | 2 (specification, section 1)
    std::int32_t biasCount = 0;
    const DeviceLogitBias *bias = nullptr; ///< [biasCount], sorted by id, each id once; device memory
};

enum class LogitType {
    Fp32,
    Fp16, ///< IEEE binary16, for raw logits of which a soft-cap leaves little beyond some tens
};

/// The logits of the canvases of a step and how they are read; self_condition reads them once more.
struct CanvasLogits
{
    std::int64_t rows = 0;     ///< of each canvas; row r is its position r
    std::int64_t canvases = 1; ///< one behind the other
    std::int64_t vocabSize = 0;
    const void *logits = nullptr; ///< [canvases, rows, vocabSize], as the head product gives them
    LogitType type = LogitType::Fp32;
    float softcap = 30.0F;                    ///< cap * tanh(x / cap); 0: the logits are taken as they are
    const SampleSettings *settings = nullptr; ///< [canvases]
    void *workspace = nullptr;                ///< headSampleWorkspace() bytes; selfCondition() reads what is in it

    /// Of all canvases.
    [[nodiscard]] constexpr std::int64_t allRows() const noexcept { return rows * canvases; }
};

/// Whether sizes and pointers are as headSample() requires.
[[nodiscard]] bool isAllowed(const CanvasLogits &canvases);

/// Bytes of workspace for this many rows of all canvases.
[[nodiscard]] std::int64_t headSampleWorkspace(std::int64_t rows, std::int64_t vocabSize);

/// Soft-cap, bias, temperature, argmax, entropy, Gumbel sample and the five best ids of each row.
///
/// Shapes     results: [canvases, rows].
/// Requires   vocabSize % 8 == 0 and at most 2^31 - 16384, at most 65535 rows of all canvases; logits and workspace
///            aligned to 16 bytes.
/// Numerics   fp32 values and exponentials, sums of blocks of 256 ids in fp32, their sum in double. A row's bits are
///            the same alone and in any batch. Noise is drawn by the specification's counters; its words are the CPU's
///            bit for bit (gumbelFromWord() in philox.cuh says how close the values are). Noise is at most 16.64:
///            groups of four ids that cannot win are not perturbed, which changes nothing in the result.
/// Cost       one read of the logits (134 MB in Fp16 at 256 x 262144: 31 us at 4.27 TB/s), a byte written for four of
///            them and read where their block may win.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph and replayed with other settings.
/// Source     Gumbel-max: Maddison, Tarlow and Minka 2014; specification of the random numbers, sections 1 and 3.
[[nodiscard]] cudaError_t headSample(const CanvasLogits &canvases, RowSample *results, cudaStream_t stream);

} // namespace palimpsest::kernels
