// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/cpu/row_sampler.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace palimpsest::gpu_check {

/// What the CPU makes of one row of logits; with a soft-cap of 0 they are taken as they are.
struct CpuRow
{
    std::vector<float> processed; ///< [vocabulary]
    PositionResult result;
};

[[nodiscard]] inline CpuRow cpuRow(std::span<const float> logits, const cpu::LogitProcessing &processing,
                                   const cpu::RowNoise &noise)
{
    constexpr std::size_t kBlock = 64;
    const std::size_t blocks = (logits.size() + kBlock - 1) / kBlock;
    std::vector<float> raw(blocks * kBlock);
    std::ranges::copy(logits, raw.begin());
    std::vector<float> row(raw.size());
    std::vector<float> maxima(blocks);
    if (processing.softcap == 0.0F) { // the head knows no model without one
        std::ranges::fill(row, -std::numeric_limits<float>::infinity());
        std::ranges::transform(logits, row.begin(), [&](float logit) { return logit / processing.temperature; });
        for (std::size_t block = 0; block < blocks; ++block)
            maxima[block] = std::ranges::max(std::span(row).subspan(block * kBlock, kBlock));
    } else {
        for (std::size_t block = 0; block < blocks; ++block)
            maxima[block] = cpu::processBlock(cpu::rowKernels(), processing, static_cast<std::int64_t>(block),
                                              raw.data() + block * kBlock, row.data() + block * kBlock);
    }
    CpuRow made;
    made.processed.assign(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(logits.size()));
    (void)cpu::sampleRow(cpu::rowKernels(), noise, row, maxima, made.result);
    return made;
}

} // namespace palimpsest::gpu_check
