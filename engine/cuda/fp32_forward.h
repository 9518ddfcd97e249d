// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/cuda/forward.h"

namespace palimpsest::cuda {

/// The same passes with every product in fp32 (precision.h), on Fp32Activations and a cache in fp32. Each product
/// normalises its own input: launches are not what small models wait for.
class Fp32Forward final : public Forward
{
public:
    using Forward::Forward;

    void normaliseFor(std::int64_t, const StepShape &) override {}

protected:
    void decoderInput(const StepShape &shape) override;
    void project(std::int64_t layer, Role role, const StepShape &shape) override;
    void attend(std::int64_t layer, Role role, const StepShape &shape) override;
    void feedForward(std::int64_t layer, Role role, const StepShape &shape) override;
    void head(const StepShape &shape) override;
    [[nodiscard]] kernels::NormOutput nextNorm(std::int64_t) const override { return {}; }

private:
    [[nodiscard]] const Fp32Activations &wide() const noexcept { return parts().activations.fp32; }
    void norm(const float *in, const float *weight, float *out, std::int64_t rows, float inputScale = 1.0F);
    void product(const float *in, const Bf16 *weight, std::int64_t inputs, std::int64_t outputs, float *out,
                 std::int64_t rows);
    /// From `normed` to `product`, [rows, hidden].
    void gatedMlp(const GatedMlpWeights &weights, std::int64_t rows);
    void experts(std::int64_t layer, const StepShape &shape);
    void headOf(std::int64_t canvas, const StepShape &shape);
};

} // namespace palimpsest::cuda
