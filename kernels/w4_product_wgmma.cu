// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/launch.h"
#include "kernels/tensor_map.h"
#include "kernels/w4_product_wgmma.cuh"

#include <algorithm>

namespace palimpsest::kernels::w4 {

namespace {

bool describeTokens(TokenBoxes &boxes, const Problem &problem)
{
    bool described = true;
    cuuint32_t rows = 0;
    for (CUtensorMap &map : boxes.ofTiles) {
        rows += 8;
        described &= describe<2>(map, problem.input,
                                 {static_cast<cuuint64_t>(problem.columns), static_cast<cuuint64_t>(problem.positions)},
                                 {problem.columns}, {64, rows});
    }
    return described;
}

template <int kGroup, typename Epilogue, bool kGathers>
cudaError_t launch(Problem problem, std::int64_t mostItems, const Device &device, cudaStream_t stream)
{
    if (device.computeMajor != 9 || device.computeMinor != 0)
        return cudaErrorNotSupported;
    constexpr int kStatic = static_cast<int>(sizeof(Schedule) + sizeof(WarpgroupBarriers)) + 1024; // the system's
    constexpr int kAlignment = 1024;
    constexpr int kBytes = kWarpgroupStageBytes<kGroup>;
    problem.stages = std::min(kMostStages, (device.sharedBytes - kStatic - kAlignment) / kBytes);
    TokenBoxes boxes{};
    if (!kGathers && !describeTokens(boxes, problem))
        return cudaErrorInvalidValue;
    const auto kernel = warpgroupKernel<kGroup, Epilogue, kGathers>;
    const int shared = problem.stages * kBytes + kAlignment;
    const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (status != cudaSuccess)
        return status;
    const std::int64_t grid = std::min<std::int64_t>(mostItems, device.multiprocessors);
    const LaunchShape shape{.grid = dim3(static_cast<unsigned>(grid)),
                            .threads = kWarpgroups * 128 + kFeeders,
                            .sharedBytes = static_cast<std::size_t>(shared)};
    return launchDependent(kernel, shape, stream, problem, boxes);
}

} // namespace

cudaError_t launchWarpgroup(Product product, Problem problem, std::int64_t mostItems, const Device &device,
                            cudaStream_t stream)
{
    return launchFor(product, [&]<int kGroup, typename Epilogue>() {
        if (problem.gatherInput != 0)
            return launch<kGroup, Epilogue, true>(problem, mostItems, device, stream);
        if constexpr (std::is_same_v<Epilogue, GateUpEpilogue>) // the experts' first product always looks its tokens up
            return cudaErrorNotSupported;
        else
            return launch<kGroup, Epilogue, false>(problem, mostItems, device, stream);
    });
}

} // namespace palimpsest::kernels::w4
