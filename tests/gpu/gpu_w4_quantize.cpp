// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "kernels/w4_quantize.h"

#include "engine/half_precision.h"
#include "gpu_check.h"

using namespace palimpsest;
using namespace palimpsest::gpu_check;

namespace {

struct Quantised
{
    std::vector<std::uint8_t> packed;
    std::vector<std::uint16_t> scale;
    std::vector<std::uint16_t> zero;
};

/// The definition, in fp32 with halves to even.
Quantised reference(const std::vector<float> &weights, std::size_t groupSize)
{
    Quantised result;
    for (std::size_t first = 0; first < weights.size(); first += groupSize) {
        const auto [low, high] = std::minmax_element(weights.begin() + static_cast<std::ptrdiff_t>(first),
                                                     weights.begin() + static_cast<std::ptrdiff_t>(first + groupSize));
        const float scale = std::max(*high - *low, 1e-8F) / 15.0F;
        const float zero = std::clamp(std::nearbyint(-*low / scale), 0.0F, 15.0F);
        const auto nibble = [&](std::size_t at) {
            return static_cast<unsigned>(std::clamp(std::nearbyint(weights[at] / scale + zero), 0.0F, 15.0F));
        };
        for (std::size_t at = first; at < first + groupSize; at += 2)
            result.packed.push_back(static_cast<std::uint8_t>(nibble(at) | nibble(at + 1) << 4U));
        result.scale.push_back(floatToFp16(scale));
        result.zero.push_back(floatToFp16(zero + 0.0F));
    }
    return result;
}

/// One group of each kind that the format's fixtures name.
std::vector<float> weightsFor(std::size_t rows, std::size_t columns)
{
    std::vector<float> weights = randomFloats(rows * columns, testRandom(), 0.05F);
    for (std::size_t row = 0; row < rows; ++row) {
        float *begin = weights.data() + row * columns;
        switch (row % 10) {
        case 1:
            std::fill_n(begin, columns, 0.25F); // constant: its scale is 0 in binary16
            break;
        case 2:
            for (std::size_t c = 0; c < columns; ++c)
                begin[c] = std::abs(begin[c]) + 1.0F; // far from zero: the zero point is clamped
            break;
        case 3:
            for (std::size_t c = 0; c < columns; ++c)
                begin[c] = -std::abs(begin[c]);
            break;
        case 4:
            begin[columns / 2] = 1.5e6F; // the scale is infinite in binary16
            break;
        case 5:
            for (std::size_t c = 0; c < columns; ++c)
                begin[c] *= 1e-38F; // denormal
            break;
        case 6:
            for (std::size_t c = 0; c < columns; ++c)
                begin[c] = static_cast<float>(c % 31) * 0.5F; // exact halves
            break;
        default:
            break;
        }
    }
    return weights;
}

void matchesTheDefinition(std::size_t rows, std::size_t columns, std::size_t groupSize)
{
    const std::string what = "w4Quantize " + std::to_string(rows) + " x " + std::to_string(columns) + ", groups of " +
                             std::to_string(groupSize);
    const std::vector<float> weights = weightsFor(rows, columns);
    const Quantised wanted = reference(weights, groupSize);
    const DeviceArray<float> deviceWeights(weights);
    const DeviceArray<std::uint8_t> packed(wanted.packed.size());
    const DeviceArray<std::uint16_t> scale(wanted.scale.size());
    const DeviceArray<std::uint16_t> zero(wanted.zero.size());
    ok(kernels::w4Quantize({.rows = static_cast<std::int64_t>(rows),
                            .columns = static_cast<std::int64_t>(columns),
                            .groupSize = static_cast<std::int64_t>(groupSize),
                            .weights = deviceWeights.data(),
                            .packed = packed.data(),
                            .scale = scale.data(),
                            .zero = zero.data()},
                           nullptr),
       what);
    requireSameBits(packed.host(what), wanted.packed, what);
    requireSameBits(scale.host(what), wanted.scale, what + " scale");
    std::vector<std::uint16_t> zeros = zero.host(what);
    for (std::uint16_t &bits : zeros)
        bits = bits == 0x8000 ? std::uint16_t{0} : bits; // -0 is 0
    requireSameBits(zeros, wanted.zero, what + " zero");

    const DeviceArray<float> back(weights.size());
    ok(kernels::w4Dequantize({.rows = static_cast<std::int64_t>(rows),
                              .columns = static_cast<std::int64_t>(columns),
                              .groupSize = static_cast<std::int64_t>(groupSize),
                              .packed = packed.data(),
                              .scale = scale.data(),
                              .zero = zero.data(),
                              .weights = back.data()},
                             nullptr),
       what);
    const std::vector<float> found = back.host(what);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::uint8_t byte = wanted.packed[i / 2];
        const float wide =
            (static_cast<float>(i % 2 == 0 ? byte & 15U : byte >> 4U) - fp16ToFloat(zeros[i / groupSize])) *
            fp16ToFloat(wanted.scale[i / groupSize]);
        if (std::isnan(wide) ? !std::isnan(found[i]) : found[i] != wide)
            return fail(what + ": weight " + std::to_string(i) + " comes back as " + std::to_string(found[i]));
    }
}

} // namespace

int main()
{
    requireDevice();
    for (const std::size_t groupSize : {64U, 128U, 256U})
        for (const std::size_t rows : {1U, 10U, 137U})
            matchesTheDefinition(rows, groupSize * 5, groupSize);
    const DeviceArray<float> one(1);
    require(kernels::w4Quantize({.rows = 1, .columns = 32, .groupSize = 32, .weights = one.data()}, nullptr) ==
                cudaErrorInvalidValue,
            "groups of 32 are refused");
    return finish("w4_quantize");
}
