// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/half_precision.h"
#include "gpu_check.h"
#include "kernels/w4_repack.h"

namespace palimpsest::gpu_check {

/// Random 4-bit matrices in the checkpoint's layout, their weights in double, and their blocks on the device.
struct RandomW4
{
    std::int64_t matrices;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t groupSize;
    std::vector<std::uint8_t> packed;
    std::vector<std::uint16_t> scale;
    std::vector<std::uint16_t> zero;

    RandomW4(std::int64_t matrixCount, std::int64_t rowCount, std::int64_t columnCount, std::int64_t group,
             std::mt19937 &random)
        : matrices(matrixCount),
          rows(rowCount),
          columns(columnCount),
          groupSize(group),
          packed(static_cast<std::size_t>(matrixCount * rowCount * columnCount / 2)),
          scale(static_cast<std::size_t>(matrixCount * rowCount * columnCount / group)),
          zero(scale.size())
    {
        for (std::uint8_t &byte : packed)
            byte = static_cast<std::uint8_t>(random() >> 8U);
        const float typical = 0.2F / std::sqrt(static_cast<float>(columns)); // products of about 1
        for (std::uint16_t &bits : scale)
            bits =
                random() % 50 == 0 ? 0 : floatToFp16(typical * (0.5F + static_cast<float>(random() % 1024) / 1024.0F));
        for (std::uint16_t &bits : zero)
            bits = random() % 50 == 0 ? 0x8000 : floatToFp16(static_cast<float>(random() % 16));
    }

    [[nodiscard]] double weight(std::int64_t matrix, std::int64_t row, std::int64_t column) const
    {
        const std::int64_t at = (matrix * rows + row) * columns + column;
        const unsigned byte = packed[static_cast<std::size_t>(at / 2)];
        const unsigned nibble = at % 2 == 0 ? byte & 15U : byte >> 4U;
        const auto group = static_cast<std::size_t>(at / groupSize);
        return (static_cast<double>(nibble) - static_cast<double>(fp16ToFloat(zero[group]))) *
               static_cast<double>(fp16ToFloat(scale[group]));
    }

    /// sum over columns of weight(matrix, row, column) * x[column]
    [[nodiscard]] double product(std::int64_t matrix, std::int64_t row, const float *x) const
    {
        double sum = 0.0;
        for (std::int64_t column = 0; column < columns; ++column)
            sum += weight(matrix, row, column) * static_cast<double>(x[column]);
        return sum;
    }

    [[nodiscard]] std::unique_ptr<DeviceArray<std::uint8_t>> blocks(kernels::W4RowOrder order) const
    {
        const DeviceArray<std::uint8_t> devicePacked(packed);
        const DeviceArray<std::uint16_t> deviceScale(scale);
        const DeviceArray<std::uint16_t> deviceZero(zero);
        const DeviceArray<std::int32_t> invalid(std::vector<std::int32_t>{0});
        auto result = std::make_unique<DeviceArray<std::uint8_t>>(
            static_cast<std::size_t>(matrices * kernels::w4MatrixBytes(rows, columns, groupSize)));
        ok(kernels::w4Repack({.packed = devicePacked.data(),
                              .scale = deviceScale.data(),
                              .zero = deviceZero.data(),
                              .blocks = result->data(),
                              .invalidZeros = invalid.data(),
                              .matrices = matrices,
                              .rows = rows,
                              .columns = columns,
                              .groupSize = groupSize,
                              .order = order},
                             nullptr),
           "w4Repack");
        require(invalid.host("invalid zeros")[0] == 0, "whole zero points are taken for others");
        return result;
    }
};

} // namespace palimpsest::gpu_check
