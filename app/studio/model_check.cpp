// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/model_check.h"

#include "app/cli/bench_floor.h"
#include "app/engine_host.h"
#include "app/model_session.h"
#include "app/studio/cpu_agreement.h"
#include "engine/error.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

namespace palimpsest::studio {

namespace {

/// For the CPU: weights are repacked while they are loaded, and caches and canvases come on top (measured on the demo
/// model and on random weights).
constexpr double kMemoryFactor = 1.25;
constexpr std::int64_t kMemoryBase = 64LL << 20;
/// What a step takes beyond its matrix products (README, "How fast it is").
constexpr double kTimesFloor = 1.4;
constexpr std::int64_t kAssumedContext = 512;
/// Of reading the files; the rest is the tokenizer, whose 262,144 pieces take about as long as a tenth of the weights.
constexpr double kWeightsShare = 0.9;

std::string sizesOf(const ModelConfig &config)
{
    return std::to_string(config.layers.size()) + " layers, " + std::to_string(config.expertCount) +
           " experts in each, " + std::to_string(config.expertsPerToken) + " of them for each token";
}

double cpuSecondsAStep(const ModelConfig &config, int threads)
{
    const int used = threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const cli::StepWork work = cli::stepWork(config, kAssumedContext);
    return kTimesFloor * cli::floorMs(work, cli::measureProductRates(config, used)) / 1000.0;
}

void findDevice(const Checkpoint &checkpoint, const BackendRequest &request, ModelCheck &check)
{
    check.neededBytes = kMemoryBase + static_cast<std::int64_t>(static_cast<double>(check.weightBytes) * kMemoryFactor);
    check.onCpu = request.device == DeviceChoice::Cpu;
    if (check.onCpu)
        return;
    check.whyNotCuda = whyNotCuda(request.moduleFolders).value_or("");
    check.onCpu = !check.whyNotCuda.empty();
    if (check.onCpu && request.device == DeviceChoice::Cuda)
        throw Error(ErrorKind::Backend, "CUDA cannot be used: " + check.whyNotCuda, "device");
    if (check.onCpu)
        return;
    try {
        check.neededBytes = neededDeviceBytes(checkpoint, request.moduleFolders).value_or(check.neededBytes);
        check.cardFreeBytes = freeDeviceBytes(request.moduleFolders);
    } catch (const Error &error) {
        if (request.device == DeviceChoice::Cuda || error.kind() != ErrorKind::Unsupported)
            throw;
        check.whyNotCuda = error.what(); // loading it falls back to the CPU in the same way
        check.onCpu = true;
    }
}

} // namespace

std::optional<std::int64_t> freeMemoryBytes()
{
    std::ifstream file("/proc/meminfo");
    std::string line;
    while (std::getline(file, line)) {
        constexpr std::string_view kField = "MemAvailable:";
        if (!line.starts_with(kField))
            continue;
        std::int64_t kibibytes = 0;
        std::istringstream(line.substr(kField.size())) >> kibibytes;
        return kibibytes * 1024;
    }
    return std::nullopt;
}

ModelCheck checkModel(const ModelOptions &options, const CheckListener &listener)
{
    const auto tell = [&listener](CheckStage stage, std::optional<double> part) {
        if (!listener(stage, part))
            throw Error(ErrorKind::Backend, "The check of the model was stopped", "cancelled");
    };
    const LoadedModel model = openModel(options, [&tell](double part) {
        tell(CheckStage::Files, part * kWeightsShare);
        return true;
    });
    tell(CheckStage::Device, {});
    const ModelConfig &config = model.checkpoint->config();
    ModelCheck check{.directory = model.location.directory,
                     .name = modelIdOf(model.location.directory),
                     .sizes = sizesOf(config),
                     .weightBytes = model.checkpoint->weightBytes(),
                     .freeBytes = freeMemoryBytes(),
                     .canChat = model.chat.has_value(),
                     .cardFreeBytes = {},
                     .whyNotCuda = {},
                     .secondsAStep = {},
                     .mostSteps = model.checkpoint->generationDefaults().maxDenoisingSteps,
                     .canvasLength = config.canvasLength};
    findDevice(*model.checkpoint, model.backend, check);
    if (check.onCpu && check.weightBytes >= kLargeModelBytes) {
        tell(CheckStage::Speed, {});
        check.secondsAStep = cpuSecondsAStep(config, model.backend.threads);
    }
    return check;
}

} // namespace palimpsest::studio
