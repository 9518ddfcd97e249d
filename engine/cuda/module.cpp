// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/backend_module.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/device.h"
#include "engine/cuda/memory_need.h"

namespace {

std::unique_ptr<palimpsest::Backend> make(std::shared_ptr<const palimpsest::Checkpoint> checkpoint,
                                          const palimpsest::LoadProgress &progress)
{
    return palimpsest::cuda::makeCudaBackend(std::move(checkpoint), {}, progress);
}

std::int64_t neededBytes(const palimpsest::Checkpoint &checkpoint)
{
    return palimpsest::cuda::memoryNeed(checkpoint, palimpsest::cuda::Precision::Automatic).totalBytes();
}

} // namespace

extern "C" __attribute__((visibility("default"))) const palimpsest::BackendModule *palimpsestBackendModule()
{
    static constexpr palimpsest::BackendModule kModule{.abiVersion = palimpsest::kBackendModuleAbi,
                                                       .build = PALIMPSEST_BUILD_ID,
                                                       .whyUnusable = palimpsest::cuda::whyUnusable,
                                                       .freeBytes = palimpsest::cuda::freeDeviceBytes,
                                                       .neededBytes = neededBytes,
                                                       .make = make};
    return &kModule;
}
