// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/launch.h"
#include "kernels/w4_product_sm90.cuh"

#include <algorithm>

namespace palimpsest::kernels::w4 {

namespace {

template <int kGroup, typename Epilogue>
cudaError_t launch(Problem problem, std::int64_t mostItems, const Device &device, cudaStream_t stream)
{
    constexpr int kStatic =
        static_cast<int>(sizeof(Schedule) + sizeof(BulkBarriers)) + 1024; // and what the system takes
    const int bytes = stageBytes<kGroup>(problem.warps);
    problem.stages = std::min(kMostStages, (device.sharedBytes - kStatic) / bytes);
    if (device.computeMajor < 9 || problem.stages < 2)
        return cudaErrorNotSupported;
    const auto kernel = bulkKernel<kGroup, Epilogue>;
    const int shared = problem.stages * bytes;
    const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (status != cudaSuccess)
        return status;
    const std::int64_t grid = std::min<std::int64_t>(mostItems, device.multiprocessors);
    const LaunchShape shape{.grid = dim3(static_cast<unsigned>(grid)),
                            .threads = static_cast<unsigned>(problem.warps + 1) * 32,
                            .sharedBytes = static_cast<std::size_t>(shared)};
    return launchDependent(kernel, shape, stream, problem);
}

} // namespace

cudaError_t launchCopyEngine(Product product, Problem problem, std::int64_t mostItems, const Device &device,
                             cudaStream_t stream)
{
    return launchFor(product, [&]<int kGroup, typename Epilogue>() {
        return launch<kGroup, Epilogue>(problem, mostItems, device, stream);
    });
}

} // namespace palimpsest::kernels::w4
