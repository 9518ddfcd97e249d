// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/ptx.cuh"

/// The soft-cap of logits, and how far a softcapped value lies below a maximum.
namespace palimpsest::kernels {

inline constexpr float kLog2E = 1.44269504F;

/// The soft-cap as scale * tanh(x / cap) = scale - 2 scale / (e^(2 x / cap) + 1); the exponential saturates on both
/// sides. Absolute error of the hyperbolic tangent 3e-7.
struct Softcap
{
    float exponentScale; ///< 2 log2(e) / cap
    float scale;         ///< cap, or cap / temperature where nothing comes between the two

    __device__ __forceinline__ float operator()(float x) const { return ofReciprocal(reciprocal(x)); }

    /// 1 / (e^(2 x / cap) + 1), positive or 0; falls as the logit rises.
    [[nodiscard]] __device__ __forceinline__ float reciprocal(float x) const
    {
        float inverse;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(ptx::exp2Approximate(x * exponentScale) + 1.0F));
        return inverse;
    }

    [[nodiscard]] __device__ __forceinline__ float ofReciprocal(float reciprocal) const
    {
        return fmaf(-2.0F * scale, reciprocal, scale);
    }
};

/// How far a softcapped value lies below a maximum, in powers of two, from its reciprocal.
struct SoftcappedDistance
{
    float slope;
    float offset;

    __device__ __forceinline__ SoftcappedDistance(const Softcap &cap, float maximum)
        : slope(-2.0F * kLog2E * cap.scale), offset(kLog2E * (cap.scale - maximum))
    {
    }
    [[nodiscard]] __device__ __forceinline__ float operator()(float reciprocal) const
    {
        return fmaf(slope, reciprocal, offset);
    }
};

} // namespace palimpsest::kernels
