// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/moe_route.h"

#include "kernels/launch.h"
#include "kernels/moe_route_choose.cuh"
#include "kernels/moe_route_logits.cuh"

#include <algorithm>

namespace palimpsest::kernels {

using namespace route;

namespace {

bool isAllowed(const MoeRouteArgs &args)
{
    const auto aligned = [](const void *p) {
        return p != nullptr && (reinterpret_cast<std::uintptr_t>(p) & 15U) == 0;
    };
    return args.tokens >= 0 && args.hidden > 0 && args.hidden <= INT32_MAX && args.hidden % 8 == 0 &&
           args.experts > 0 && args.experts <= kMostRoutedExperts && args.slotsPerToken > 0 &&
           args.slotsPerToken <= args.experts && args.slotsPerToken <= kMostSlotsPerToken &&
           args.tokens <= INT32_MAX / args.slotsPerToken && aligned(args.workspace) && aligned(args.x) &&
           aligned(args.scale) && aligned(args.weights) && args.perExpertScale != nullptr &&
           args.expertIds != nullptr && args.slotWeights != nullptr && args.expertOffsets != nullptr &&
           args.slots != nullptr;
}

} // namespace

std::int64_t moeRouteWorkspaceBytes(std::int64_t tokens, std::int64_t hidden, std::int64_t experts) noexcept
{
    // The most for this many tokens or fewer: just below kManyTokens there are more parts than above.
    const std::int64_t split = tokens < kManyTokens ? tokens : kManyTokens - 1;
    const std::int64_t rows = split * sliceCount(hidden) > tokens ? split * sliceCount(hidden) : tokens;
    return kCounterBytes + 2 * countBytes(tokens) + rows * (experts + 1) * static_cast<std::int64_t>(sizeof(float));
}

cudaError_t moeRouteLogits(const MoeRouteArgs &args, cudaStream_t stream)
{
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    if (args.tokens == 0)
        return cudaSuccess;
    const std::int64_t parts = partCount(args.tokens, args.hidden);
    const std::int64_t tokenTiles = (args.tokens + kTileTokens - 1) / kTileTokens;
    const std::int64_t expertTiles = (args.experts + kTileExperts - 1) / kTileExperts;
    const std::int64_t sharing =
        tokenTiles * expertTiles <= kFewTiles ? std::min(parts, kFewBlocks / (tokenTiles * expertTiles)) : parts;
    const std::int64_t tilesOfBlock =
        parts == 1 ? 1 : (tokenTiles * expertTiles * sharing + kManyBlocks - 1) / kManyBlocks;
    const LaunchShape shape{.grid = dim3(static_cast<unsigned>((tokenTiles + tilesOfBlock - 1) / tilesOfBlock),
                                         static_cast<unsigned>(sharing), static_cast<unsigned>(expertTiles)),
                            .threads = kProjectWarps * 32,
                            .sharedBytes = sizeof(ProjectSums)};
    // Two blocks a multiprocessor where there are many; with one, more registers keep more loads under way.
    const auto kernel = tilesOfBlock > 1 ? projectKernel<2> : projectKernel<1>;
    const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    static_cast<int>(sizeof(ProjectSums)));
    if (status != cudaSuccess)
        return status;
    return launchDependent(kernel, shape, stream, args, workspaceOf(args, parts), static_cast<int>(parts),
                           static_cast<int>(tilesOfBlock));
}

cudaError_t moeRouteChoose(const MoeRouteArgs &args, cudaStream_t stream)
{
    if (args.tokens == 0 && args.expertOffsets != nullptr && args.experts > 0)
        return cudaMemsetAsync(args.expertOffsets, 0, static_cast<std::size_t>(args.experts + 1) * sizeof(std::int32_t),
                               stream);
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    const auto parts = static_cast<int>(partCount(args.tokens, args.hidden));
    const Workspace workspace = workspaceOf(args, parts);
    const LaunchShape shape{.grid = dim3(static_cast<unsigned>((args.tokens + kChooseWarps - 1) / kChooseWarps)),
                            .threads = kChooseThreads};
    if (args.experts <= 32)
        return launchDependent(chooseKernel<1>, shape, stream, args, workspace, parts);
    if (args.experts <= 128)
        return launchDependent(chooseKernel<4>, shape, stream, args, workspace, parts);
    return launchDependent(chooseKernel<8>, shape, stream, args, workspace, parts);
}

cudaError_t moeRoute(const MoeRouteArgs &args, cudaStream_t stream)
{
    const cudaError_t status = args.tokens == 0 ? cudaSuccess : moeRouteLogits(args, stream);
    return status == cudaSuccess ? moeRouteChoose(args, stream) : status;
}

} // namespace palimpsest::kernels
