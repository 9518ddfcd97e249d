// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

// Sixteen floats at a time: loads, folds, the exponential family, a 16 x 16 transpose. Included by row_kernels_body.h
// once for each instruction set, inside whose namespace everything here lands; see there for what may be included.

#include <stdint.h>
#include <string.h>

namespace palimpsest::cpu {
namespace PALIMPSEST_SIMD_NAMESPACE {
namespace {

constexpr int64_t kLanes = 16;

// GCC's vector extension: 16 lanes whatever the machine has; the compiler cuts them into its registers.
using Floats = float __attribute__((vector_size(64)));
using Ints = int32_t __attribute__((vector_size(64)));
using Words = uint32_t __attribute__((vector_size(64)));
using UnalignedFloats = float __attribute__((vector_size(64), aligned(4), may_alias));

#define PALIMPSEST_INLINE static inline __attribute__((always_inline))

PALIMPSEST_INLINE Floats load(const float *p)
{
    return *reinterpret_cast<const UnalignedFloats *>(p);
}

PALIMPSEST_INLINE void store(float *p, Floats v)
{
    *reinterpret_cast<UnalignedFloats *>(p) = v;
}

PALIMPSEST_INLINE Floats splat(float x)
{
    return Floats{} + x;
}

// Folds halves onto each other: lanes i and i + 8, then i and i + 4, ... A fixed tree, in registers.
#define PALIMPSEST_FOLD8(v) __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15)
#define PALIMPSEST_FOLD4(v) __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7)
#define PALIMPSEST_FOLD2(v) __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3)
#define PALIMPSEST_FOLD1(v) __builtin_shufflevector(v, v, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)

PALIMPSEST_INLINE float sumOf(Floats v)
{
    v += PALIMPSEST_FOLD8(v);
    v += PALIMPSEST_FOLD4(v);
    v += PALIMPSEST_FOLD2(v);
    v += PALIMPSEST_FOLD1(v);
    return v[0];
}

PALIMPSEST_INLINE Floats larger(Floats a, Floats b)
{
    return a > b ? a : b;
}

PALIMPSEST_INLINE float maximumOf(Floats v)
{
    v = larger(v, PALIMPSEST_FOLD8(v));
    v = larger(v, PALIMPSEST_FOLD4(v));
    v = larger(v, PALIMPSEST_FOLD2(v));
    v = larger(v, PALIMPSEST_FOLD1(v));
    return v[0];
}

PALIMPSEST_INLINE Floats smaller(Floats a, Floats b)
{
    return a < b ? a : b;
}

// exp by range reduction to [-ln2/2, ln2/2] and a polynomial of degree 6 (coefficients of Cephes' expf); relative error
// below 2 ulp. 0 below -87, where the result would be denormal. exp(0) is exactly 1.
PALIMPSEST_INLINE Floats exponential(Floats x)
{
    const Floats clamped = smaller(larger(x, splat(-87.0F)), splat(88.0F));
    const Floats shifter = splat(12582912.0F); // 1.5 * 2^23: adding it rounds to the nearest integer
    const Floats shifted = clamped * 1.44269504F + shifter;
    const Floats power = shifted - shifter;
    Floats r = clamped - power * 0.693359375F;
    r = r + power * 2.12194440e-4F;
    Floats p = splat(1.9875691500e-4F);
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * (r * r) + r + 1.0F;
    Ints bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + 0x3f800000;
    Floats scale;
    memcpy(&scale, &bits, sizeof scale);
    return x < splat(-87.0F) ? Floats{} : p * scale;
}

PALIMPSEST_INLINE Floats hyperbolicTangent(Floats x)
{
    // Absolute error 6e-8 everywhere, which is what gelu and the soft-cap need.
    return 1.0F - 2.0F / (exponential(smaller(larger(x, splat(-20.0F)), splat(20.0F)) * 2.0F) + 1.0F);
}

PALIMPSEST_INLINE Floats geluTanh(Floats x)
{
    return 0.5F * x * (1.0F + hyperbolicTangent(0.7978845608F * (x + 0.044715F * x * x * x)));
}

PALIMPSEST_INLINE Floats widenBf16(const uint16_t *p)
{
    using Halves = uint16_t __attribute__((vector_size(32), aligned(2), may_alias));
    const Words words = __builtin_convertvector(*reinterpret_cast<const Halves *>(p), Words) << 16;
    Floats out;
    memcpy(&out, &words, sizeof out);
    return out;
}

PALIMPSEST_INLINE float widenBf16Scalar(uint16_t half)
{
    const uint32_t word = static_cast<uint32_t>(half) << 16U;
    float out;
    memcpy(&out, &word, sizeof out);
    return out;
}

// Exchanges off-diagonal blocks of the given width between rows first and first + width: one step of a 16 x 16
// transpose.
#define PALIMPSEST_EXCHANGE(rows, first, width, upper, lower)                                                          \
    do {                                                                                                               \
        const Floats a = (rows)[first];                                                                                \
        const Floats b = (rows)[(first) + (width)];                                                                    \
        (rows)[first] = __builtin_shufflevector(a, b, upper);                                                          \
        (rows)[(first) + (width)] = __builtin_shufflevector(a, b, lower);                                              \
    } while (false)
#define PALIMPSEST_UPPER8 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define PALIMPSEST_LOWER8 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
#define PALIMPSEST_UPPER4 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define PALIMPSEST_LOWER4 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define PALIMPSEST_UPPER2 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define PALIMPSEST_LOWER2 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define PALIMPSEST_UPPER1 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30
#define PALIMPSEST_LOWER1 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31

PALIMPSEST_INLINE void transpose16(Floats *rows)
{
    for (int64_t i = 0; i < 8; ++i)
        PALIMPSEST_EXCHANGE(rows, i, 8, PALIMPSEST_UPPER8, PALIMPSEST_LOWER8);
    for (int64_t i = 0; i < 16; i = i % 4 == 3 ? i + 5 : i + 1)
        PALIMPSEST_EXCHANGE(rows, i, 4, PALIMPSEST_UPPER4, PALIMPSEST_LOWER4);
    for (int64_t i = 0; i < 16; i = i % 2 == 1 ? i + 3 : i + 1)
        PALIMPSEST_EXCHANGE(rows, i, 2, PALIMPSEST_UPPER2, PALIMPSEST_LOWER2);
    for (int64_t i = 0; i < 16; i += 2)
        PALIMPSEST_EXCHANGE(rows, i, 1, PALIMPSEST_UPPER1, PALIMPSEST_LOWER1);
}

} // namespace
} // namespace PALIMPSEST_SIMD_NAMESPACE
} // namespace palimpsest::cpu
