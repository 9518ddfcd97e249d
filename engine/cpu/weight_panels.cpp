// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/weight_panels.h"

#include "engine/half_precision.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace palimpsest::cpu {

namespace {

constexpr std::int64_t kPackedRow = kPanelColumns / 2;

std::int64_t panelsFor(std::int64_t outputs)
{
    return (outputs + kPanelColumns - 1) / kPanelColumns;
}

// Transposes rows [first, first + columns) of `in` [., inputs] into one panel [inputs][64]. Blocks of 16 inputs keep
// both sides in the first-level cache.
template <typename T>
void transposeIntoPanel(const T *in, std::int64_t columns, std::int64_t inputs, T *panel)
{
    constexpr std::int64_t kBlock = 16;
    for (std::int64_t first = 0; first < inputs; first += kBlock) {
        const std::int64_t last = std::min(first + kBlock, inputs);
        for (std::int64_t column = 0; column < columns; ++column)
            for (std::int64_t k = first; k < last; ++k)
                panel[k * kPanelColumns + column] = in[column * inputs + k];
    }
}

template <typename T>
void fillPanels(const TensorView &tensor, std::int64_t firstRow, std::int64_t outputs, std::int64_t inputs,
                std::vector<T> &panels)
{
    panels.resize(static_cast<std::size_t>(panelsFor(outputs) * inputs * kPanelColumns));
    std::vector<T> rows(static_cast<std::size_t>(kPanelColumns * inputs));
    for (std::int64_t panel = 0; panel < panelsFor(outputs); ++panel) {
        const std::int64_t first = panel * kPanelColumns;
        const std::int64_t columns = std::min(kPanelColumns, outputs - first);
        // Through a copy: tensors in a file need not be aligned.
        std::memcpy(rows.data(),
                    tensor.bytes.data() + static_cast<std::size_t>((firstRow + first) * inputs) * sizeof(T),
                    static_cast<std::size_t>(columns * inputs) * sizeof(T));
        transposeIntoPanel(rows.data(), columns, inputs, panels.data() + panel * inputs * kPanelColumns);
    }
}

float f16At(const TensorView &tensor, std::int64_t index)
{
    std::uint16_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + index * 2, sizeof bits);
    return fp16ToFloat(bits);
}

} // namespace

WeightPanels WeightPanels::fromTensor(const TensorView &tensor, std::int64_t firstRow, std::int64_t outputs,
                                      std::int64_t inputs)
{
    WeightPanels made;
    made.m_outputs = outputs;
    made.m_panels = panelsFor(outputs);
    made.m_inputs = inputs;
    if (tensor.dtype == Dtype::F32) {
        made.m_storage = Storage::F32;
        fillPanels(tensor, firstRow, outputs, inputs, made.m_floats);
    } else {
        assert(tensor.dtype == Dtype::BF16);
        made.m_storage = Storage::BF16;
        fillPanels(tensor, firstRow, outputs, inputs, made.m_halves);
    }
    return made;
}

WeightPanels WeightPanels::inPlace(const TensorView &tensor, std::int64_t outputs, std::int64_t inputs)
{
    if (tensor.dtype != Dtype::BF16 || outputs % kPanelColumns != 0)
        return fromTensor(tensor, 0, outputs, inputs);
    WeightPanels made;
    made.m_storage = Storage::MappedBF16;
    made.m_outputs = outputs;
    made.m_panels = panelsFor(outputs);
    made.m_inputs = inputs;
    made.m_mapped = reinterpret_cast<const std::uint16_t *>(tensor.bytes.data());
    return made;
}

WeightPanels WeightPanels::fromW4(const TensorView &packed, const TensorView &scale, const TensorView &zero,
                                  std::int64_t firstRow, std::int64_t outputs, std::int64_t inputs)
{
    WeightPanels made;
    made.m_storage = Storage::W4;
    made.m_outputs = outputs;
    made.m_panels = panelsFor(outputs);
    made.m_inputs = inputs;
    const std::int64_t groups = scale.shape.back();
    made.m_group = inputs / groups;
    made.m_nibbles.resize(static_cast<std::size_t>(made.m_panels * inputs * kPackedRow));
    made.m_scales.resize(static_cast<std::size_t>(made.m_panels * groups * kPanelColumns));
    made.m_zeros.resize(made.m_scales.size());
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(packed.bytes.data());
    for (std::int64_t output = 0; output < outputs; ++output) {
        const std::int64_t row = firstRow + output;
        const std::int64_t panel = output / kPanelColumns;
        const std::int64_t column = output % kPanelColumns;
        // Column c of a panel row: byte c % 32, low nibble below 32. Input byte j of a row holds inputs 2j and 2j + 1.
        const unsigned shift = column < kPackedRow ? 0U : 4U;
        std::uint8_t *out = made.m_nibbles.data() + panel * inputs * kPackedRow + column % kPackedRow;
        const std::uint8_t *in = bytes + row * (inputs / 2);
        for (std::int64_t j = 0; j < inputs / 2; ++j) {
            const unsigned pair = in[j];
            std::uint8_t &even = out[2 * j * kPackedRow];
            std::uint8_t &odd = out[(2 * j + 1) * kPackedRow];
            even = static_cast<std::uint8_t>(even | ((pair & 15U) << shift));
            odd = static_cast<std::uint8_t>(odd | ((pair >> 4U) << shift));
        }
        for (std::int64_t group = 0; group < groups; ++group) {
            const auto at = static_cast<std::size_t>((panel * groups + group) * kPanelColumns + column);
            made.m_scales[at] = f16At(scale, row * groups + group);
            made.m_zeros[at] = f16At(zero, row * groups + group);
        }
    }
    return made;
}

std::int64_t WeightPanels::bytes() const noexcept
{
    return static_cast<std::int64_t>((m_floats.size() + m_scales.size() + m_zeros.size()) * sizeof(float) +
                                     m_halves.size() * sizeof(std::uint16_t) + m_nibbles.size());
}

const float *WeightPanels::panel(std::int64_t index, float *buffer, const RowKernels &kernels) const
{
    const std::int64_t elements = m_inputs * kPanelColumns;
    switch (m_storage) {
    case Storage::F32:
        return m_floats.data() + index * elements;
    case Storage::BF16:
        kernels.unpackBf16(buffer, m_halves.data() + index * elements, elements);
        return buffer;
    case Storage::MappedBF16:
        kernels.transposeBf16(buffer, m_mapped + index * elements, m_inputs);
        return buffer;
    case Storage::W4: {
        const std::int64_t scales = m_inputs / m_group * kPanelColumns;
        kernels.unpackW4(buffer, m_nibbles.data() + index * elements / 2, m_scales.data() + index * scales,
                         m_zeros.data() + index * scales, m_inputs, m_group);
        return buffer;
    }
    }
    return nullptr;
}

std::vector<float> floatsOf(const TensorView &tensor)
{
    const auto count = static_cast<std::size_t>(tensor.elementCount());
    std::vector<float> out(count);
    if (tensor.dtype == Dtype::F32) {
        std::memcpy(out.data(), tensor.bytes.data(), count * sizeof(float));
        return out;
    }
    assert(tensor.dtype == Dtype::BF16);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, tensor.bytes.data() + i * 2, sizeof bits);
        out[i] = bf16ToFloat(bits);
    }
    return out;
}

} // namespace palimpsest::cpu
