// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/checkpoint.h"
#include "engine/cpu/row_kernels.h"

#include <cstdint>
#include <vector>

namespace palimpsest::cpu {

/// A weight matrix W[outputs, inputs] (or one per expert) in the precision it was stored in, reordered so that the
/// product y = x W^T reads it once and in sequence: cut into panels of 64 outputs, each [inputs][64].
///
/// bf16 and 4-bit panels are widened to fp32 into a buffer of the size of one panel right before its product, where
/// they stay in the second-level cache: no second copy of the model exists. A 4-bit row of a panel is 32 bytes, byte j
/// holding column j (low nibble) and j + 32 (high nibble); scales and zeros are fp32 [inputs / group][64].
class WeightPanels
{
public:
    WeightPanels() = default;

    /// From rows [firstRow, firstRow + outputs) of a bf16 or fp32 tensor whose last dimension is `inputs`; a matrix of
    /// an expert is a range of rows. Outputs are padded to a multiple of 64 with zeros.
    [[nodiscard]] static WeightPanels fromTensor(const TensorView &tensor, std::int64_t firstRow, std::int64_t outputs,
                                                 std::int64_t inputs);
    /// Panels that are transposed out of the mapped tensor each time, with nothing kept but its address: for the
    /// embedding matrix, whose rows are needed in place as well. bf16 with a multiple of 64 outputs; others are
    /// repacked.
    [[nodiscard]] static WeightPanels inPlace(const TensorView &tensor, std::int64_t outputs, std::int64_t inputs);
    /// The same from 4-bit rows, with scale and zero [rows, inputs / group].
    [[nodiscard]] static WeightPanels fromW4(const TensorView &packed, const TensorView &scale, const TensorView &zero,
                                             std::int64_t firstRow, std::int64_t outputs, std::int64_t inputs);

    [[nodiscard]] std::int64_t panelCount() const noexcept { return m_panels; }
    [[nodiscard]] std::int64_t outputs() const noexcept { return m_outputs; }
    [[nodiscard]] std::int64_t inputs() const noexcept { return m_inputs; }
    [[nodiscard]] std::int64_t bytes() const noexcept;

    /// Panel [inputs][64] in fp32: a pointer into the weights where they are fp32, else into `buffer` (that size).
    [[nodiscard]] const float *panel(std::int64_t index, float *buffer, const RowKernels &kernels) const;

private:
    enum class Storage { F32, BF16, MappedBF16, W4 };

    Storage m_storage = Storage::F32;
    std::int64_t m_outputs = 0;
    std::int64_t m_panels = 0;
    std::int64_t m_inputs = 0;
    std::int64_t m_group = 0;
    const std::uint16_t *m_mapped = nullptr;
    std::vector<float> m_floats;
    std::vector<std::uint16_t> m_halves;
    std::vector<std::uint8_t> m_nibbles;
    std::vector<float> m_scales;
    std::vector<float> m_zeros;
};

/// A vector of a checkpoint (norm weights, scalars) widened to fp32.
[[nodiscard]] std::vector<float> floatsOf(const TensorView &tensor);

} // namespace palimpsest::cpu
