// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_check.h"
#include "kernels/rms_norm.h"

using namespace palimpsest;
using namespace palimpsest::gpu_check;

namespace {

// fp32 sums of n terms in a tree and one rounding per operation: a few units of 2^-24. The store as bf16 adds at
// most 2^-8 = 3.9e-3 of the value; in long rows half of that, but a row of four may come near it.
constexpr double kFloatBound = 1e-6;
constexpr double kBf16Bound = 4e-3;
constexpr float kEpsilon = 0.1F; // large enough that leaving it out would show

double inverseRms(const double *row, std::size_t columns)
{
    double sum = 0.0;
    for (std::size_t c = 0; c < columns; ++c)
        sum += row[c] * row[c];
    return 1.0 / std::sqrt(sum / static_cast<double>(columns) + static_cast<double>(kEpsilon));
}

void plain(std::size_t rows, std::size_t columns, bool weighted)
{
    const std::string what = "rmsNorm " + std::to_string(rows) + " x " + std::to_string(columns);
    const auto in = randomFloats(rows * columns, testRandom());
    const auto weight = randomFloats(columns, testRandom());
    const float scale = 3.5F;
    std::vector<double> wanted(rows * columns);
    std::vector<double> row(columns);
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c)
            row[c] = static_cast<double>(in[r * columns + c]) * static_cast<double>(scale);
        const double inverse = inverseRms(row.data(), columns);
        for (std::size_t c = 0; c < columns; ++c)
            wanted[r * columns + c] = row[c] * inverse * (weighted ? static_cast<double>(weight[c]) : 1.0);
    }
    const DeviceArray<float> deviceIn(in);
    const DeviceArray<float> deviceWeight(weight);
    const DeviceArray<float> outFloat(in.size());
    const DeviceArray<kernels::Bf16> outBf16(in.size());
    ok(kernels::rmsNorm({.rows = static_cast<std::int64_t>(rows),
                         .columns = static_cast<std::int64_t>(columns),
                         .epsilon = kEpsilon,
                         .in = deviceIn.data(),
                         .inputScale = scale,
                         .weight = weighted ? deviceWeight.data() : nullptr,
                         .outFloat = outFloat.data(),
                         .outBf16 = outBf16.data()},
                        nullptr),
       what);
    requireClose(outFloat.host(what), wanted, kFloatBound, what);
    requireClose(widened(outBf16.host(what)), wanted, kBf16Bound, what + " bf16");
}

void residual(std::size_t rows, std::size_t columns, int parts, int norms)
{
    const std::string what = "residualNorm " + std::to_string(rows) + " x " + std::to_string(columns);
    const auto x = randomFloats(rows * columns, testRandom());
    const auto branch = randomFloats(rows * columns * static_cast<std::size_t>(parts), testRandom());
    const auto branchWeight = randomFloats(columns, testRandom());
    const float scale = 0.7F;
    std::vector<double> wantedX(rows * columns);
    std::vector<double> row(columns);
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
            row[c] = 0.0;
            for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part)
                row[c] += static_cast<double>(branch[(part * rows + r) * columns + c]);
        }
        const double inverse = inverseRms(row.data(), columns);
        for (std::size_t c = 0; c < columns; ++c)
            wantedX[r * columns + c] =
                (static_cast<double>(x[r * columns + c]) + row[c] * inverse * static_cast<double>(branchWeight[c])) *
                static_cast<double>(scale);
    }
    const DeviceArray<float> deviceX(x);
    const DeviceArray<float> deviceBranch(branch);
    const DeviceArray<float> deviceBranchWeight(branchWeight);
    kernels::ResidualNormArgs args{.rows = static_cast<std::int64_t>(rows),
                                   .columns = static_cast<std::int64_t>(columns),
                                   .epsilon = kEpsilon,
                                   .x = deviceX.data(),
                                   .branch = deviceBranch.data(),
                                   .parts = parts,
                                   .branchWeight = deviceBranchWeight.data(),
                                   .scale = scale};
    std::vector<std::vector<float>> weights;
    std::vector<std::unique_ptr<DeviceArray<float>>> deviceWeights;
    std::vector<std::unique_ptr<DeviceArray<kernels::Bf16>>> outs;
    for (int i = 0; i < norms; ++i) {
        weights.push_back(randomFloats(columns, testRandom()));
        deviceWeights.push_back(std::make_unique<DeviceArray<float>>(weights.back()));
        outs.push_back(std::make_unique<DeviceArray<kernels::Bf16>>(rows * columns));
        args.norms[i] = {deviceWeights.back()->data(), outs.back()->data()};
    }
    ok(kernels::residualNorm(args, nullptr), what);
    requireClose(deviceX.host(what), wantedX, kFloatBound, what);
    for (std::size_t i = 0; i < outs.size(); ++i) {
        std::vector<double> wanted(rows * columns);
        for (std::size_t r = 0; r < rows; ++r) {
            const double inverse = inverseRms(wantedX.data() + r * columns, columns);
            for (std::size_t c = 0; c < columns; ++c)
                wanted[r * columns + c] = wantedX[r * columns + c] * inverse * static_cast<double>(weights[i][c]);
        }
        requireClose(widened(outs[i]->host(what)), wanted, kBf16Bound, what + " norm " + std::to_string(i));
    }
}

/// Parts that the product has added already give what parts added here give, bit for bit: which of the two a row meets
/// depends on how many rows there are.
void addedPartsAreTheSame(std::size_t rows, std::size_t columns)
{
    constexpr std::size_t kParts = 3;
    const std::string what = "residualNorm, added parts, " + std::to_string(rows) + " x " + std::to_string(columns);
    const std::size_t count = rows * columns;
    const auto parts = randomFloats(kParts * count, testRandom());
    std::vector<float> sum(count);
    for (std::size_t i = 0; i < count; ++i)
        sum[i] = (parts[i] + parts[count + i]) + parts[2 * count + i];
    const auto x = randomFloats(count, testRandom());
    const DeviceArray<float> weight(randomFloats(columns, testRandom()));
    const auto run = [&](const std::vector<float> &branch, int partCount) {
        const DeviceArray<float> onDevice(branch);
        const DeviceArray<float> newX(x);
        const DeviceArray<kernels::Bf16> norm(count);
        kernels::ResidualNormArgs args{.rows = static_cast<std::int64_t>(rows),
                                       .columns = static_cast<std::int64_t>(columns),
                                       .epsilon = kEpsilon,
                                       .x = newX.data(),
                                       .branch = onDevice.data(),
                                       .parts = partCount,
                                       .branchWeight = weight.data(),
                                       .scale = 0.9F};
        args.norms[0] = {weight.data(), norm.data()};
        ok(kernels::residualNorm(args, nullptr), what);
        return std::pair{newX.host(what), norm.host(what)};
    };
    const auto apart = run(parts, kParts);
    const auto together = run(sum, 1);
    requireSameBits(together.first, apart.first, what);
    requireSameBits(together.second, apart.second, what + ", norm");
}

} // namespace

int main()
{
    requireDevice();
    for (const std::size_t columns : {4U, 128U, 256U, 1024U, 1028U, 2816U, 8192U, 16384U})
        for (const std::size_t rows : {1U, 17U, 256U}) {
            plain(rows, columns, columns != 256);
            residual(rows, columns, static_cast<int>(rows % 3) + 1, static_cast<int>(columns / 4 % 4));
            residual(rows, columns, static_cast<int>(rows % 5) + 3, 2); // more parts than are read at once
        }
    for (const std::size_t columns : {256U, 2816U, 4096U})
        addedPartsAreTheSame(600, columns);
    const DeviceArray<float> small(8);
    require(kernels::rmsNorm({.rows = 1, .columns = 6, .in = small.data(), .outFloat = small.data()}, nullptr) ==
                cudaErrorInvalidValue,
            "six columns are refused");
    require(kernels::rmsNorm({.rows = 0, .columns = 8, .in = small.data(), .outFloat = small.data()}, nullptr) ==
                cudaSuccess,
            "no rows are nothing to do");
    return finish("rms_norm");
}
