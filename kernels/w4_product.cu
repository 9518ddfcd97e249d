// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/chip.h"
#include "kernels/vector_aligned.h"
#include "kernels/w4_product_portable.cuh"

#include <algorithm>

namespace palimpsest::kernels::w4 {

namespace {

/// Blocks of threads of 1..mostWarps multiplying warps: the number whose busiest multiprocessor has the least to do. An
/// item costs its row blocks and something for its beginning and end. Row blocks do not meet before the output, so the
/// choice does not touch the result.
int chooseWarps(int rowBlocks, std::int64_t tokenTileCount, int multiprocessors, int mostWarps)
{
    std::int64_t best = 0;
    int chosen = 1;
    for (int warps = 1; warps <= mostWarps; ++warps) {
        const std::int64_t items = (rowBlocks + warps - 1) / warps * tokenTileCount;
        const std::int64_t rounds = (items + multiprocessors - 1) / multiprocessors;
        const std::int64_t cost = rounds * (warps + 1);
        if (warps == 1 || cost <= best) {
            best = cost;
            chosen = warps;
        }
    }
    return chosen;
}

cudaError_t currentDevice(Device &device)
{
    int index = 0;
    cudaError_t status = cudaGetDevice(&index);
    const auto read = [&](int &value, cudaDeviceAttr attribute) {
        if (status == cudaSuccess)
            status = cudaDeviceGetAttribute(&value, attribute, index);
    };
    read(device.multiprocessors, cudaDevAttrMultiProcessorCount);
    read(device.computeMajor, cudaDevAttrComputeCapabilityMajor);
    read(device.computeMinor, cudaDevAttrComputeCapabilityMinor);
    read(device.sharedBytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    return status;
}

template <int kGroup, typename Epilogue>
cudaError_t launch(const Problem &problem, std::int64_t mostItems, const Device &device, cudaStream_t stream)
{
    const int shared = kPortableStages * stageBytes<kGroup>(problem.warps);
    const auto kernel = portableKernel<kGroup, Epilogue>;
    cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    int perMultiprocessor = 0;
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, kernel, problem.warps * 32, shared);
    if (status != cudaSuccess)
        return status;
    const std::int64_t resident = static_cast<std::int64_t>(std::max(perMultiprocessor, 1)) * device.multiprocessors;
    kernel<<<static_cast<unsigned>(std::min(mostItems, resident)), problem.warps * 32, shared, stream>>>(problem);
    return cudaGetLastError();
}

} // namespace

cudaError_t launchPortable(Product product, Problem problem, std::int64_t mostItems, const Device &device,
                           cudaStream_t stream)
{
    return launchFor(product, [&]<int kGroup, typename Epilogue>() {
        return launch<kGroup, Epilogue>(problem, mostItems, device, stream);
    });
}

namespace {

/// The variant to take in place of Automatic, and whether the one that was asked for can be had. The variants add in
/// the same order, and the chip's two kinds of matrix products round alike: on one card the choice does not touch the
/// bits (the tests compare them).
cudaError_t settleVariant(W4Variant &variant, Product product, const Problem &problem)
{
    // Tokens of an expert from which warpgroup products were faster on an H200 with the 26B shapes: 123 us against 134
    // at 32 for gate and up, 135 against 141 at 64 for down, whose short rows leave less to hide its beginnings and
    // ends.
    const int manyTokens = product == Product::GateUp128 ? 32 : 48;
    ChipChoices chip;
    const cudaError_t status = currentChip(chip);
    if (status != cudaSuccess)
        return status;
    if (variant == W4Variant::Automatic)
        variant = chip.wgmma && problem.expertOffsets != nullptr && problem.positions / problem.experts >= manyTokens
                      ? W4Variant::Warpgroup
                      : chip.w4;
    const bool isMissing = (variant == W4Variant::Warpgroup && !chip.wgmma) ||
                           (variant == W4Variant::CopyEngine && !hasCodeFor(chip.major));
    return isMissing ? cudaErrorNotSupported : cudaSuccess;
}

} // namespace

cudaError_t launchProduct(Product product, Problem problem, W4Variant variant, cudaStream_t stream)
{
    if (problem.positions == 0 || problem.rowBlocks == 0)
        return cudaSuccess;
    if (problem.experts < 1 || problem.experts > kMaxExperts || problem.columns <= 0 ||
        !isVectorAligned(problem.weights) || !isVectorAligned(problem.input) || !isVectorAligned(problem.out))
        return cudaErrorInvalidValue;
    Device device;
    cudaError_t status = currentDevice(device);
    if (status == cudaSuccess)
        status = settleVariant(variant, product, problem);
    if (status != cudaSuccess)
        return status;
    problem.tileTokens = variant == W4Variant::Warpgroup ? kWarpgroupTokens : kTileTokens;

    // The lists are on the device: for the choice of a tile, take the positions as evenly spread; for the grid, bound
    // it.
    const std::int64_t active = std::min(problem.experts, problem.positions);
    const std::int64_t typicalTiles =
        active * ((problem.positions / active + problem.tileTokens - 1) / problem.tileTokens);
    const std::int64_t mostTiles = active + problem.positions / problem.tileTokens;
    const int mostWarps = variant == W4Variant::CopyEngine ? kCopyEngineWarps : kPortableWarps;
    problem.warps = variant == W4Variant::Warpgroup
                        ? kWarpgroupBlocks
                        : chooseWarps(problem.rowBlocks, typicalTiles, device.multiprocessors, mostWarps);
    const std::int64_t mostItems = (problem.rowBlocks + problem.warps - 1) / problem.warps * mostTiles;
    if (mostItems > INT32_MAX)
        return cudaErrorInvalidValue;
    if (variant == W4Variant::Warpgroup)
        return launchWarpgroup(product, problem, mostItems, device, stream);
    return variant == W4Variant::CopyEngine ? launchCopyEngine(product, problem, mostItems, device, stream)
                                            : launchPortable(product, problem, mostItems, device, stream);
}

} // namespace palimpsest::kernels::w4
