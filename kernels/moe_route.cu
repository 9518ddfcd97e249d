// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/moe_route.h"

#include "kernels/chip.h"
#include "kernels/launch.h"
#include "kernels/moe_route_choose.cuh"
#include "kernels/moe_route_logits.cuh"
#include "kernels/moe_route_logits_many.cuh"
#include "kernels/vector_aligned.h"

#include <algorithm>

namespace palimpsest::kernels {

using namespace route;

namespace {

bool isAllowed(const MoeRouteArgs &args)
{
    return args.tokens >= 0 && args.hidden > 0 && args.hidden <= INT32_MAX && args.hidden % 8 == 0 &&
           args.experts > 0 && args.experts <= kMostRoutedExperts && args.slotsPerToken > 0 &&
           args.slotsPerToken <= args.experts && args.slotsPerToken <= kMostSlotsPerToken &&
           args.tokens <= INT32_MAX / args.slotsPerToken && isVectorAligned(args.workspace) &&
           isVectorAligned(args.x) && isVectorAligned(args.scale) && isVectorAligned(args.weights) &&
           args.perExpertScale != nullptr && args.expertIds != nullptr && args.slotWeights != nullptr &&
           args.expertOffsets != nullptr && args.slots != nullptr;
}

} // namespace

std::int64_t moeRouteWorkspaceBytes(std::int64_t tokens, std::int64_t hidden, std::int64_t experts) noexcept
{
    const std::int64_t floats = squareCount(tokens, hidden) + sliceCount(hidden) * tokens * experts;
    return kCounterBytes + 2 * countBytes(tokens) + floats * static_cast<std::int64_t>(sizeof(float));
}

cudaError_t moeRouteLogits(const MoeRouteArgs &args, cudaStream_t stream)
{
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    if (args.tokens == 0)
        return cudaSuccess;
    const std::int64_t slices = sliceCount(args.hidden);
    const std::int64_t expertTiles = (args.experts + kTileExperts - 1) / kTileExperts;
    const std::int64_t tiles = (args.tokens + kTileTokens - 1) / kTileTokens;
    int sharedBytes = 0;
    cudaError_t status = currentSharedBytes(sharedBytes);
    if (status != cudaSuccess)
        return status;
    // Chips of 8.6, 8.9 and 12.x have 99 KiB for a block: there it is always small ones.
    const bool isMany = static_cast<std::size_t>(sharedBytes) >= sizeof(SliceOperands) &&
                        tiles * expertTiles * slices > kMostSmallBlocks;
    const std::int64_t groups = isMany ? (args.tokens + kManyTokens - 1) / kManyTokens : tiles;
    const std::int64_t sharing =
        !isMany && tiles * expertTiles <= kFewTiles ? std::min(slices, kFewBlocks / (tiles * expertTiles)) : slices;
    const LaunchShape shape{
        .grid = dim3(static_cast<unsigned>(groups), static_cast<unsigned>(sharing), static_cast<unsigned>(expertTiles)),
        .threads = static_cast<unsigned>(isMany ? kManyWarps : kProjectWarps) * 32,
        .sharedBytes = isMany ? sizeof(SliceOperands) : sizeof(ProjectSums)};
    const auto kernel = isMany ? projectManyKernel : projectKernel;
    status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.sharedBytes));
    return status == cudaSuccess ? launchDependent(kernel, shape, stream, args, workspaceOf(args)) : status;
}

cudaError_t moeRouteChoose(const MoeRouteArgs &args, cudaStream_t stream)
{
    if (args.tokens == 0 && args.expertOffsets != nullptr && args.experts > 0)
        return cudaMemsetAsync(args.expertOffsets, 0, static_cast<std::size_t>(args.experts + 1) * sizeof(std::int32_t),
                               stream);
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    const Workspace workspace = workspaceOf(args);
    const LaunchShape shape{.grid = dim3(static_cast<unsigned>((args.tokens + kChooseWarps - 1) / kChooseWarps)),
                            .threads = kChooseThreads};
    if (args.experts <= 32)
        return launchDependent(chooseKernel<1>, shape, stream, args, workspace);
    if (args.experts <= 128)
        return launchDependent(chooseKernel<4>, shape, stream, args, workspace);
    return launchDependent(chooseKernel<8>, shape, stream, args, workspace);
}

cudaError_t moeRoute(const MoeRouteArgs &args, cudaStream_t stream)
{
    const cudaError_t status = args.tokens == 0 ? cudaSuccess : moeRouteLogits(args, stream);
    return status == cudaSuccess ? moeRouteChoose(args, stream) : status;
}

} // namespace palimpsest::kernels
