// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/launch.h"
#include "kernels/w4_product_wgmma.cuh"

#include <algorithm>

namespace palimpsest::kernels::w4 {

namespace {

template <int kGroup, typename Epilogue>
cudaError_t launch(Problem problem, std::int64_t mostItems, const Device &device, cudaStream_t stream)
{
    if (device.computeMajor != 9 || device.computeMinor != 0)
        return cudaErrorNotSupported;
    constexpr int kStatic = static_cast<int>(sizeof(Schedule) + sizeof(WarpgroupBarriers)) + 1024; // the system's
    constexpr int kAlignment = 1024;
    constexpr int kBytes = kWarpgroupStageBytes<kGroup>;
    problem.stages = std::min(kMostStages, (device.sharedBytes - kStatic - kAlignment) / kBytes);
    const auto kernel = warpgroupKernel<kGroup, Epilogue>;
    const int shared = problem.stages * kBytes + kAlignment;
    const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (status != cudaSuccess)
        return status;
    const std::int64_t grid = std::min<std::int64_t>(mostItems, device.multiprocessors);
    const LaunchShape shape{.grid = dim3(static_cast<unsigned>(grid)),
                            .threads = kWarpgroups * 128 + kFeeders,
                            .sharedBytes = static_cast<std::size_t>(shared)};
    return launchDependent(kernel, shape, stream, problem);
}

} // namespace

cudaError_t launchWarpgroup(Product product, Problem problem, std::int64_t mostItems, const Device &device,
                            cudaStream_t stream)
{
    return launchFor(product, [&]<int kGroup, typename Epilogue>() {
        return launch<kGroup, Epilogue>(problem, mostItems, device, stream);
    });
}

} // namespace palimpsest::kernels::w4
