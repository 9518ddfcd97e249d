// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_check.h"
#include "kernels/embed.h"

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::Bf16;

namespace {

constexpr float kEpsilon = 1e-6F;

void embeds(std::size_t rows, std::size_t columns, int parts, bool normalise)
{
    const std::string what = "embed " + std::to_string(rows) + " x " + std::to_string(columns);
    std::mt19937 random(testSeed());
    constexpr std::size_t kVocabulary = 300;
    const auto table = roundedToBf16(randomFloats(kVocabulary * columns, random));
    const auto signal = randomFloats(rows * columns * static_cast<std::size_t>(std::max(1, parts)), random);
    const auto weight = randomFloats(columns, random);
    std::vector<std::int32_t> ids(rows);
    for (auto &id : ids)
        id = static_cast<std::int32_t>(random() % kVocabulary);
    ids.back() = static_cast<std::int32_t>(kVocabulary); // outside: zeros
    const float scale = std::sqrt(static_cast<float>(columns));
    std::vector<double> wantedX;
    std::vector<double> wantedNorm;
    for (std::size_t row = 0; row < rows; ++row) {
        std::vector<double> x(columns);
        const auto norm = [&] {
            double sum = 0.0;
            for (const double value : x)
                sum += value * value;
            return 1.0 / std::sqrt(sum / static_cast<double>(columns) + static_cast<double>(kEpsilon));
        };
        for (std::size_t c = 0; c < columns; ++c) {
            const auto id = static_cast<std::size_t>(ids[row]);
            x[c] = id < kVocabulary
                       ? static_cast<double>(fromBf16(table[id * columns + c])) * static_cast<double>(scale)
                       : 0.0;
            for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part)
                x[c] += static_cast<double>(signal[(part * rows + row) * columns + c]);
        }
        const double first = normalise ? norm() : 1.0;
        for (double &value : x)
            value *= first;
        const double second = norm();
        for (std::size_t c = 0; c < columns; ++c) {
            wantedX.push_back(x[c]);
            wantedNorm.push_back(x[c] * second * static_cast<double>(weight[c]));
        }
    }
    const DeviceArray<Bf16> deviceTable(table);
    const DeviceArray<float> deviceSignal(signal);
    const DeviceArray<float> deviceWeight(weight);
    const DeviceArray<std::int32_t> deviceIds(ids);
    const DeviceArray<float> x(rows * columns);
    const DeviceArray<Bf16> normed(rows * columns);
    ok(kernels::embed({.rows = static_cast<std::int64_t>(rows),
                       .columns = static_cast<std::int64_t>(columns),
                       .vocabSize = kVocabulary,
                       .ids = deviceIds.data(),
                       .table = deviceTable.data(),
                       .scale = scale,
                       .signal = parts > 0 ? deviceSignal.data() : nullptr,
                       .parts = std::max(1, parts),
                       .normalise = normalise,
                       .epsilon = kEpsilon,
                       .x = x.data(),
                       .norm = {deviceWeight.data(), normed.data()}},
                      nullptr),
       what);
    requireClose(x.host(what), wantedX, 1e-6, what);
    requireClose(widened(normed.host(what)), wantedNorm, 0x1p-8, what + ", norm");
}

} // namespace

int main()
{
    requireDevice();
    for (const std::size_t columns : {8U, 128U, 256U, 2816U, 5000U})
        for (const std::size_t rows : {1U, 17U, 256U})
            embeds(rows, columns, static_cast<int>(rows % 4), columns != 256);
    return finish("embed");
}
