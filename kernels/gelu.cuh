// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace palimpsest::kernels {

/// tanh(x) as 1 - 2 / (e^2x + 1): absolute error about 1e-7 everywhere, which is what gelu and the soft-cap need. Large
/// |x| saturate through e^2x = infinity or 0.
__device__ __forceinline__ float hyperbolicTangent(float x)
{
    return 1.0F - __fdividef(2.0F, __expf(2.0F * fminf(fmaxf(x, -20.0F), 20.0F)) + 1.0F);
}

/// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). Source: Hendrycks and Gimpel 2016, tanh form.
__device__ __forceinline__ float geluTanh(float x)
{
    constexpr float kRootOfTwoOverPi = 0.7978845608F;
    return 0.5F * x * (1.0F + hyperbolicTangent(kRootOfTwoOverPi * (x + 0.044715F * x * x * x)));
}

/// The same to a few ulp, for the fp32 kernels.
__device__ __forceinline__ float preciseGeluTanh(float x)
{
    constexpr float kRootOfTwoOverPi = 0.7978845608F;
    return 0.5F * x * (1.0F + tanhf(kRootOfTwoOverPi * (x + 0.044715F * x * x * x)));
}

} // namespace palimpsest::kernels
