// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

// The loops behind RowKernels, included once for each instruction set with PALIMPSEST_SIMD_NAMESPACE set. Only headers
// without inline functions of external linkage may be included here: such a function compiled for AVX-512 could be the
// copy that the linker keeps for everyone.

#include "engine/cpu/row_kernels.h"
#include "engine/cpu/vector_lanes.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

extern "C" float logf(float); // NOLINT: <cmath> would bring inline functions

namespace palimpsest::cpu {
namespace PALIMPSEST_SIMD_NAMESPACE {
namespace {

PALIMPSEST_INLINE float inverseRootMeanSquare(const float *in, int64_t n, float epsilon)
{
    Floats sum0{};
    Floats sum1{};
    int64_t i = 0;
    for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
        const Floats a = load(in + i);
        const Floats b = load(in + i + kLanes);
        sum0 += a * a;
        sum1 += b * b;
    }
    for (; i + kLanes <= n; i += kLanes) {
        const Floats a = load(in + i);
        sum0 += a * a;
    }
    float total = sumOf(sum0 + sum1);
    for (; i < n; ++i)
        total += in[i] * in[i];
    return 1.0F / __builtin_sqrtf(total / static_cast<float>(n) + epsilon);
}

void rmsNorm(float *out, const float *in, const float *weight, int64_t n, float epsilon)
{
    const float inverse = inverseRootMeanSquare(in, n, epsilon);
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        const Floats normalised = load(in + i) * inverse;
        store(out + i, weight != nullptr ? normalised * load(weight + i) : normalised);
    }
    for (; i < n; ++i)
        out[i] = in[i] * inverse * (weight != nullptr ? weight[i] : 1.0F);
}

void addRmsNorm(float *accumulator, const float *in, const float *weight, int64_t n, float epsilon)
{
    const float inverse = inverseRootMeanSquare(in, n, epsilon);
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        const Floats normalised = load(in + i) * inverse;
        store(accumulator + i,
              load(accumulator + i) + (weight != nullptr ? normalised * load(weight + i) : normalised));
    }
    for (; i < n; ++i)
        accumulator[i] += in[i] * inverse * (weight != nullptr ? weight[i] : 1.0F);
}

void scale(float *row, float factor, int64_t n)
{
    for (int64_t i = 0; i < n; ++i)
        row[i] *= factor;
}

void add(float *accumulator, const float *in, int64_t n)
{
    for (int64_t i = 0; i < n; ++i)
        accumulator[i] += in[i];
}

void addScaled(float *accumulator, const float *in, float factor, int64_t n)
{
    for (int64_t i = 0; i < n; ++i)
        accumulator[i] += factor * in[i];
}

void addScaledBf16(float *accumulator, const uint16_t *in, float factor, int64_t n)
{
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        store(accumulator + i, load(accumulator + i) + widenBf16(in + i) * factor);
    for (; i < n; ++i)
        accumulator[i] += factor * widenBf16Scalar(in[i]);
}

void gatedGelu(float *out, const float *gate, const float *up, int64_t n)
{
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        store(out + i, geluTanh(load(gate + i)) * load(up + i));
    if (i < n) {
        float padded[3][kLanes] = {};
        const size_t rest = static_cast<size_t>(n - i) * sizeof(float);
        memcpy(padded[0], gate + i, rest);
        memcpy(padded[1], up + i, rest);
        store(padded[2], geluTanh(load(padded[0])) * load(padded[1]));
        memcpy(out + i, padded[2], rest);
    }
}

void unpackBf16(float *out, const uint16_t *in, int64_t n)
{
    // Weights stream through once a step; the hardware prefetcher alone leaves a third of the time waiting.
    constexpr int64_t kAhead = 1024;
    int64_t i = 0;
    for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
        __builtin_prefetch(in + i + kAhead);
        store(out + i, widenBf16(in + i));
        store(out + i + kLanes, widenBf16(in + i + kLanes));
    }
    for (; i + kLanes <= n; i += kLanes)
        store(out + i, widenBf16(in + i));
    for (; i < n; ++i)
        out[i] = widenBf16Scalar(in[i]);
}

void transposeBf16(float *panel, const uint16_t *rows, int64_t depth)
{
    for (int64_t column = 0; column < kPanelColumns; column += kLanes) {
        const uint16_t *in = rows + column * depth;
        int64_t k = 0;
        for (; k + kLanes <= depth; k += kLanes) {
            Floats block[kLanes];
            for (int64_t i = 0; i < kLanes; ++i)
                block[i] = widenBf16(in + i * depth + k);
            transpose16(block);
            for (int64_t i = 0; i < kLanes; ++i)
                store(panel + (k + i) * kPanelColumns + column, block[i]);
        }
        for (; k < depth; ++k)
            for (int64_t i = 0; i < kLanes; ++i)
                panel[k * kPanelColumns + column + i] = widenBf16Scalar(in[i * depth + k]);
    }
}

void unpackW4(float *out, const uint8_t *packed, const float *scale, const float *zero, int64_t rows, int64_t group)
{
    using Bytes = uint8_t __attribute__((vector_size(16), aligned(1), may_alias));
    for (int64_t first = 0; first < rows; first += group, scale += kPanelColumns, zero += kPanelColumns) {
        Floats scales[4];
        Floats zeros[4];
        for (int64_t part = 0; part < 4; ++part) {
            scales[part] = load(scale + part * kLanes);
            zeros[part] = load(zero + part * kLanes);
        }
        for (int64_t row = first; row < first + group; ++row) {
            const uint8_t *bytes = packed + row * (kPanelColumns / 2);
            __builtin_prefetch(bytes + 1024);
            float *values = out + row * kPanelColumns;
            for (int64_t part = 0; part < 2; ++part) {
                const Ints both =
                    __builtin_convertvector(*reinterpret_cast<const Bytes *>(bytes + part * kLanes), Ints);
                const Floats low = __builtin_convertvector(both & 15, Floats);
                const Floats high = __builtin_convertvector(both >> 4, Floats);
                store(values + part * kLanes, (low - zeros[part]) * scales[part]);
                store(values + (part + 2) * kLanes, (high - zeros[part + 2]) * scales[part + 2]);
            }
        }
    }
}

void rotate(float *x, const float *cosine, const float *sine, int64_t pairs, int64_t half)
{
    for (int64_t i = 0; i < pairs; ++i) {
        const float first = x[i];
        const float second = x[i + half];
        x[i] = first * cosine[i] - second * sine[i];
        x[i + half] = second * cosine[i] + first * sine[i];
    }
}

float softmaxBlock(float *scores, int64_t begin, int64_t end, AttentionRow *row)
{
    const float lowest = -__builtin_inff();
    if (begin >= end) { // nothing visible here: the row's state must stay exactly as it is
        for (int64_t i = 0; i < kPanelColumns; i += kLanes)
            store(scores + i, Floats{});
        return 1.0F;
    }
    if (begin > 0 || end < kPanelColumns) {
        for (int64_t i = 0; i < begin; ++i)
            scores[i] = lowest;
        for (int64_t i = end; i < kPanelColumns; ++i)
            scores[i] = lowest;
    }
    Floats values[4];
    for (int64_t part = 0; part < 4; ++part)
        values[part] = load(scores + part * kLanes);
    const float blockMaximum = maximumOf(larger(larger(values[0], values[1]), larger(values[2], values[3])));
    const float maximum = blockMaximum > row->maximum ? blockMaximum : row->maximum;
    Floats sum{};
    for (int64_t part = 0; part < 4; ++part) {
        const Floats e = exponential(values[part] - maximum);
        store(scores + part * kLanes, e);
        sum += e;
    }
    const Floats factor = exponential(splat(row->maximum - maximum)); // 0 for the first block (-inf)
    row->sum = row->sum * factor[0] + sumOf(sum);
    row->maximum = maximum;
    return factor[0];
}

void rescaleAdd(float *output, const float *in, float factor, int64_t n)
{
    for (int64_t i = 0; i < n; ++i)
        output[i] = output[i] * factor + in[i];
}

void softcap(float *out, const float *in, float cap, int64_t n)
{
    const float inverse = 1.0F / cap;
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        store(out + i, hyperbolicTangent(load(in + i) * inverse) * cap);
    if (i < n) {
        float padded[kLanes] = {};
        const size_t rest = static_cast<size_t>(n - i) * sizeof(float);
        memcpy(padded, in + i, rest);
        store(padded, hyperbolicTangent(load(padded) * inverse) * cap);
        memcpy(out + i, padded, rest);
    }
}

float divideBlock(float *row, float divisor)
{
    Floats maximum = splat(-__builtin_inff());
    for (int64_t part = 0; part < kPanelColumns; part += kLanes) {
        const Floats value = load(row + part) / divisor;
        store(row + part, value);
        maximum = larger(value, maximum);
    }
    return maximumOf(maximum);
}

void expSums(float *row, float maximum, int64_t n, double *sum, double *weightedSum)
{
    // Partial sums of 4096 entries in fp32, the rest in double: keeps a vocabulary of 262144 within 1e-6.
    constexpr int64_t kChunk = 4096;
    *sum = 0.0;
    *weightedSum = 0.0;
    for (int64_t first = 0; first < n; first += kChunk) {
        const int64_t last = first + kChunk < n ? first + kChunk : n;
        Floats plain{};
        Floats weighted{};
        for (int64_t i = first; i < last; i += kLanes) {
            const Floats distance = larger(load(row + i) - maximum, splat(-100.0F)); // -inf (banned) times 0 is NaN
            const Floats e = exponential(distance);
            store(row + i, e);
            plain += e;
            weighted += e * distance;
        }
        *sum += static_cast<double>(sumOf(plain));
        *weightedSum += static_cast<double>(sumOf(weighted));
    }
}

void partition(const float *row, float threshold, int64_t n, double *sumBelow, int64_t *countAtOrAbove)
{
    Floats below{};
    Ints above{};
    for (int64_t i = 0; i < n; i += kLanes) {
        const Floats value = load(row + i);
        const Ints isAbove = value >= splat(threshold);
        below += isAbove ? Floats{} : value;
        above -= isAbove;
    }
    int32_t lanes[kLanes];
    memcpy(lanes, &above, sizeof lanes);
    *countAtOrAbove = 0;
    for (const int32_t lane : lanes)
        *countAtOrAbove += lane;
    *sumBelow = static_cast<double>(sumOf(below));
}

struct WideProduct
{
    Words high;
    Words low;
};

// 32 x 32 -> 64 bit products of 16 lanes.
PALIMPSEST_INLINE WideProduct multiplyWide(Words a, uint32_t factor)
{
    WideProduct out;
#if defined(__AVX512F__)
    __m512i lanes;
    memcpy(&lanes, &a, sizeof lanes);
    const __m512i multiplier = _mm512_set1_epi32(static_cast<int>(factor));
    const __m512i even = _mm512_mul_epu32(lanes, multiplier);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(lanes, 32), multiplier);
    const __m512i high = _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
    const __m512i low = _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
    memcpy(&out.high, &high, sizeof high);
    memcpy(&out.low, &low, sizeof low);
#else
    using Wide = uint64_t __attribute__((vector_size(128)));
    const Wide product = __builtin_convertvector(a, Wide) * static_cast<uint64_t>(factor);
    out.high = __builtin_convertvector(product >> 32, Words);
    out.low = __builtin_convertvector(product, Words);
#endif
    return out;
}

void gumbelBlock(const float *logits, int64_t block, uint32_t position, uint32_t step, uint32_t stream,
                 const uint32_t *key, uint32_t wordFloor, GumbelBest *best)
{
    Words c0 = Words{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + static_cast<uint32_t>(block * kLanes);
    Words c1 = Words{} + position;
    Words c2 = Words{} + step;
    Words c3 = Words{} + stream;
    uint32_t k0 = key[0];
    uint32_t k1 = key[1];
    for (int round = 0; round < 10; ++round) { // the same rounds as philox4x32 in engine/philox.h
        const WideProduct p0 = multiplyWide(c0, 0xD2511F53U);
        const WideProduct p1 = multiplyWide(c2, 0xCD9E8D57U);
        c0 = p1.high ^ c1 ^ k0;
        c1 = p1.low;
        c2 = p0.high ^ c3 ^ k1;
        c3 = p0.low;
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
    }
    const Words words[4] = {c0, c1, c2, c3};
    uint32_t lanes[4][kLanes];
    memcpy(lanes, words, sizeof lanes);
    bool any = false;
    for (const auto &word : words) {
        const Ints hit = word >= wordFloor;
        int32_t flags[kLanes];
        memcpy(flags, &hit, sizeof flags);
        int32_t all = 0;
        for (const int32_t flag : flags)
            all |= flag;
        any |= all != 0;
    }
    if (!any)
        return;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
        for (int64_t word = 0; word < 4; ++word) {
            const uint32_t random = lanes[word][lane];
            if (random < wordFloor)
                continue;
            // Specification, section 3: u = float((r + 0.5) * 2^-32) clamped to [2^-33, 1 - 2^-24].
            float u = static_cast<float>((static_cast<double>(random) + 0.5) * 0x1p-32);
            u = u < 0x1p-33F ? 0x1p-33F : u;
            u = u > 1.0F - 0x1p-24F ? 1.0F - 0x1p-24F : u;
            const int64_t offset = lane * 4 + word;
            const float value = logits[offset] - logf(-logf(u));
            const int32_t id = static_cast<int32_t>(block * kPanelColumns + offset);
            if (value > best->value || (value == best->value && id < best->id)) {
                best->value = value;
                best->id = id;
            }
        }
    }
}

} // namespace

extern const RowKernels kRowKernels;
const RowKernels kRowKernels{
    .name = PALIMPSEST_SIMD_NAME,
    .rmsNorm = rmsNorm,
    .addRmsNorm = addRmsNorm,
    .scale = scale,
    .add = add,
    .addScaled = addScaled,
    .addScaledBf16 = addScaledBf16,
    .gatedGelu = gatedGelu,
    .unpackBf16 = unpackBf16,
    .transposeBf16 = transposeBf16,
    .unpackW4 = unpackW4,
    .rotate = rotate,
    .softmaxBlock = softmaxBlock,
    .rescaleAdd = rescaleAdd,
    .softcap = softcap,
    .divideBlock = divideBlock,
    .expSums = expSums,
    .partition = partition,
    .gumbelBlock = gumbelBlock,
};

} // namespace PALIMPSEST_SIMD_NAMESPACE
} // namespace palimpsest::cpu
