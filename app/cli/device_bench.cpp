// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/device_bench.h"

#include "app/cli/bench_floor.h"

#include <algorithm>
#include <fmt/format.h>

namespace palimpsest::cli {

namespace {

constexpr double kMsPerSecond = 1000.0;
constexpr double kTera = 1e12;
constexpr std::int64_t kBytesOfBf16 = 2;

double mebibytes(std::int64_t bytes)
{
    return static_cast<double>(bytes) / static_cast<double>(1 << 20);
}

} // namespace

double stepBytes(const ModelConfig &config, const BackendInfo &info, std::int64_t context, std::int64_t batch)
{
    std::int64_t cache = 0;
    for (const LayerConfig &layer : config.layers) {
        const std::int64_t seen =
            layer.kind == LayerKind::Sliding ? std::min(context, config.slidingWindow - 1) : context;
        cache += 2 * seen * layer.kvHeads * layer.headDim * kBytesOfBf16;
    }
    return static_cast<double>(info.weightBytes + config.vocabSize * config.hiddenSize * kBytesOfBf16 + batch * cache);
}

double deviceFloorMs(const ModelConfig &config, const BackendInfo &info, const DeviceRates &rates, std::int64_t context,
                     std::int64_t batch)
{
    const double reading = stepBytes(config, info, context, batch) / rates.copyBytesPerSecond;
    const double computing = static_cast<double>(batch) * stepWork(config, context).total() / rates.productFlops;
    return kMsPerSecond * std::max(reading, computing);
}

std::string describeDevice(const DeviceRates &rates, const DeviceMemory &memory)
{
    return fmt::format("copies {:.2f} TB/s, products {:.0f} TFLOP/s\n"
                       "memory: weights {:.0f} MiB, activations {:.0f}, context {:.0f}; {:.0f} of {:.0f} MiB free\n",
                       rates.copyBytesPerSecond / kTera, rates.productFlops / kTera, mebibytes(memory.weightBytes),
                       mebibytes(memory.activationBytes), mebibytes(memory.cacheBytes), mebibytes(memory.freeBytes),
                       mebibytes(memory.totalBytes));
}

std::string stageTable(const std::vector<StageTime> &stages)
{
    std::string text = fmt::format("{:<26} {:>6} {:>9}\n", "stage (kernel by kernel)", "times", "ms");
    double sum = 0.0;
    for (const StageTime &stage : stages) {
        text += fmt::format("{:<26} {:>6} {:>9.3f}\n", stage.name, stage.launches, stage.ms);
        sum += stage.ms;
    }
    return text + fmt::format("{:<26} {:>6} {:>9.3f}\n", "all", "", sum);
}

nlohmann::json toJson(const DeviceRates &rates)
{
    return {{"copy_bytes_per_second", rates.copyBytesPerSecond}, {"product_flops", rates.productFlops}};
}

nlohmann::json toJson(const DeviceMemory &memory)
{
    return {{"weight_bytes", memory.weightBytes},
            {"activation_bytes", memory.activationBytes},
            {"cache_bytes", memory.cacheBytes},
            {"free_bytes", memory.freeBytes},
            {"total_bytes", memory.totalBytes}};
}

nlohmann::json toJson(const std::vector<StageTime> &stages)
{
    nlohmann::json rows = nlohmann::json::array();
    for (const StageTime &stage : stages)
        rows.push_back({{"name", stage.name}, {"times", stage.launches}, {"ms", stage.ms}});
    return rows;
}

} // namespace palimpsest::cli
