// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace palimpsest::cpu {

/// Columns of a weight panel and keys of a cache block: four AVX-512 vectors, the width at which oneDNN's small
/// products run at 95 % of their peak (measured: 160 GFLOP/s a core for [64,256] x [256,64], 145 for strided output).
inline constexpr std::int64_t kPanelColumns = 64;

/// State of one query row while it walks over its key blocks (online softmax).
struct AttentionRow
{
    float maximum;
    float sum;
};

/// Position of one sampled id and its perturbed logit.
struct GumbelBest
{
    float value;
    std::int32_t id;
};

/// Loops over one row or panel, compiled once for each instruction set. All arithmetic is fp32; the order of every
/// reduction is fixed (16 lanes, then a tree), so a row's bits depend on the row alone.
struct RowKernels
{
    const char *name;

    /// out[i] = in[i] * (mean(in^2) + epsilon)^-0.5 * weight[i] (weight null: 1). out may be in.
    /// Source: Zhang and Sennrich 2019, eq. 4.
    void (*rmsNorm)(float *out, const float *in, const float *weight, std::int64_t n, float epsilon);
    /// accumulator[i] += in[i] normalised as above.
    void (*addRmsNorm)(float *accumulator, const float *in, const float *weight, std::int64_t n, float epsilon);
    void (*scale)(float *row, float factor, std::int64_t n);
    void (*add)(float *accumulator, const float *in, std::int64_t n);
    /// accumulator[i] += factor * in[i]
    void (*addScaled)(float *accumulator, const float *in, float factor, std::int64_t n);
    /// accumulator[i] += factor * bf16(in[i])
    void (*addScaledBf16)(float *accumulator, const std::uint16_t *in, float factor, std::int64_t n);
    /// out[i] = gelu_tanh(gate[i]) * up[i]; source: Hendrycks and Gimpel 2016, tanh form.
    void (*gatedGelu)(float *out, const float *gate, const float *up, std::int64_t n);

    void (*unpackBf16)(float *out, const std::uint16_t *in, std::int64_t n);
    /// 64 rows of a matrix [., depth] that lies as in a checkpoint, to a panel [depth][64].
    void (*transposeBf16)(float *panel, const std::uint16_t *rows, std::int64_t depth);
    /// One 4-bit panel of 64 columns: packed [rows][32], byte j of a row holds column j in its low and column j + 32 in
    /// its high nibble; scale and zero [rows / group][64]. out [rows][64] = (q - zero) * scale.
    void (*unpackW4)(float *out, const std::uint8_t *packed, const float *scale, const float *zero, std::int64_t rows,
                     std::int64_t group);

    /// One head's pair rotation (RoPE): x[i], x[i + half] for i < pairs; cosine and sine [pairs].
    void (*rotate)(float *x, const float *cosine, const float *sine, std::int64_t pairs, std::int64_t half);

    /// One query row against one block of 64 keys: scores [64] become exp(score - new maximum) for keys in [begin, end)
    /// and 0 elsewhere; returns the factor by which the row's earlier output must be scaled.
    float (*softmaxBlock)(float *scores, std::int64_t begin, std::int64_t end, AttentionRow *row);
    /// output[i] = output[i] * factor + in[i]
    void (*rescaleAdd)(float *output, const float *in, float factor, std::int64_t n);

    /// out[i] = cap * tanh(in[i] / cap)
    void (*softcap)(float *out, const float *in, float cap, std::int64_t n);
    /// One block of 64: row[i] = row[i] / divisor; returns the maximum.
    float (*divideBlock)(float *row, float divisor);
    /// row[i] = exp(row[i] - maximum); returns sum(e) and sum(e * (x - maximum)).
    void (*expSums)(float *row, float maximum, std::int64_t n, double *sum, double *weightedSum);
    /// Sum and number of the entries below and at or above a threshold.
    void (*partition)(const float *row, float threshold, std::int64_t n, double *sumBelow,
                      std::int64_t *countAtOrAbove);
    /// Max, over one block of 64 processed logits, of logit + Gumbel noise, if it beats `best` (lower id on ties).
    /// Philox counters (block * 16 + lane, position, step, stream); words below `wordFloor` cannot win and are skipped.
    void (*gumbelBlock)(const float *logits, std::int64_t block, std::uint32_t position, std::uint32_t step,
                        std::uint32_t stream, const std::uint32_t *key, std::uint32_t wordFloor, GumbelBest *best);
};

/// The best set for this processor.
[[nodiscard]] const RowKernels &rowKernels() noexcept;

/// Every set that this processor can run, for tests.
[[nodiscard]] const RowKernels *const *usableRowKernels(int *count) noexcept;

} // namespace palimpsest::cpu
