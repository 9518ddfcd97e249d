// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/dense_gemm_sm90.cuh"
#include "kernels/dense_gemm_variants.h"
#include "kernels/launch.h"
#include "kernels/tensor_map.h"

#include <algorithm>
#include <cstdint>

namespace palimpsest::kernels {

namespace {

using namespace hopper_gemm;

constexpr std::int64_t kMultiprocessors = 132; // of an H200, where the tiles were chosen

struct Maps
{
    CUtensorMap weight{};
    CUtensorMap x{};
    CUtensorMap out{}; ///< where it is staged
};

/// Outputs of the weight for one that is stored.
constexpr std::int64_t weightOutputs(GemmEpilogue epilogue)
{
    return epilogue == GemmEpilogue::GatedGelu ? 2 : 1;
}

/// False where the driver refuses one.
template <int kWarpgroups, WeightLayout kLayout, GemmEpilogue kEpilogue>
bool describeOperands(Maps &maps, const DenseGemmArgs &args, int fetchedRows)
{
    constexpr int kBlockOutputs = kWarpgroups * kGroupOutputs;
    constexpr bool kGated = kEpilogue == GemmEpilogue::GatedGelu;
    constexpr std::int64_t kWidth = weightOutputs(kEpilogue);
    using Stored = Staging<kWarpgroups, kEpilogue>;
    const auto inputs = static_cast<cuuint64_t>(args.inputs);
    const auto outputs = static_cast<cuuint64_t>(args.outputs);
    const auto rows = static_cast<cuuint64_t>(args.rows);
    bool described =
        describe<2>(maps.x, args.x, {inputs, rows}, {args.inputs}, {kTileInputs, static_cast<cuuint32_t>(fetchedRows)});
    if constexpr (kGated) // [group of 8][gate or up][8][inputs]: eight gate rows, then their up rows
        described &= describe<4>(maps.weight, args.weight, {inputs, 8, 2, outputs / 16},
                                 {args.inputs, args.outputs / 2 * args.inputs, 8 * args.inputs},
                                 {kTileInputs, 8, 2, kBlockOutputs / 16});
    else if constexpr (kLayout == WeightLayout::InputMajor)
        described &=
            describe<2>(maps.weight, args.weight, {outputs, inputs}, {args.outputs}, {kGroupOutputs, kTileInputs});
    else
        described &=
            describe<2>(maps.weight, args.weight, {inputs, outputs}, {args.inputs}, {kTileInputs, kBlockOutputs});
    if constexpr (isStaged(kEpilogue))
        described &= describe<2>(maps.out, static_cast<const Bf16 *>(args.out), {outputs / kWidth, rows},
                                 {args.outputs / kWidth}, {Stored::kOutputs, Stored::kChunkRows},
                                 kGated ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B);
    return described;
}

template <int kWarpgroups, int kTileRows, WeightLayout kLayout, GemmEpilogue kEpilogue, bool kAddParts = false>
cudaError_t launch(const DenseGemmArgs &args, cudaStream_t stream)
{
    constexpr int kBlockOutputs = kWarpgroups * kGroupOutputs;
    // Columns of the accumulators behind the fetched rows are never stored, whatever lies in shared memory.
    const int fetchedRows = args.rows < kTileRows ? static_cast<int>((args.rows + 7) / 8) * 8 : kTileRows;
    Maps maps;
    if (!describeOperands<kWarpgroups, kLayout, kEpilogue>(maps, args, fetchedRows))
        return cudaErrorInvalidValue;

    const std::int64_t blocks = (args.outputs + kBlockOutputs - 1) / kBlockOutputs;
    const Sizes sizes{.rows = args.rows,
                      .outputs = args.outputs / weightOutputs(kEpilogue),
                      .inputTiles = static_cast<int>((args.inputs + kTileInputs - 1) / kTileInputs),
                      .outputBlocks = static_cast<int>(blocks),
                      .parts = args.parts,
                      .addParts = kAddParts,
                      .fetchedRows = fetchedRows,
                      .activeRows = args.activeRows,
                      .besideNext = args.besideNext,
                      .out = static_cast<float *>(args.out)};
    const auto kernel = hopperKernel<kWarpgroups, kTileRows, kLayout, kEpilogue, kAddParts>;
    constexpr int kSharedBytes = Pipeline<kWarpgroups, kTileRows>::sharedBytes(Staging<kWarpgroups, kEpilogue>::kBytes);
    cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    int multiprocessors = 0;
    if (status == cudaSuccess)
        status = currentMultiprocessors(multiprocessors);
    if (status != cudaSuccess)
        return status;
    const std::int64_t tiles = blocks * ((args.rows + kTileRows - 1) / kTileRows) * (kAddParts ? 1 : args.parts);
    if (tiles > INT32_MAX)
        return cudaErrorInvalidValue;
    return launchDependent(kernel,
                           {.grid = dim3(static_cast<unsigned>(std::min<std::int64_t>(tiles, multiprocessors))),
                            .threads = threadsOf(kWarpgroups, kAddParts),
                            .sharedBytes = kSharedBytes},
                           stream, maps.weight, maps.x, maps.out, sizes);
}

template <int kWarpgroups, int kTileRows>
cudaError_t launchFor(const DenseGemmArgs &args, cudaStream_t stream)
{
    using enum WeightLayout;
    using enum GemmEpilogue;
    if (args.layout == InputMajor)
        return args.epilogue == Float ? launch<kWarpgroups, kTileRows, InputMajor, Float>(args, stream)
                                      : launch<kWarpgroups, kTileRows, InputMajor, HalfWidth>(args, stream);
    switch (args.epilogue) {
    case Float:
        return launch<kWarpgroups, kTileRows, OutputMajor, Float>(args, stream);
    case HalfWidth:
        return launch<kWarpgroups, kTileRows, OutputMajor, HalfWidth>(args, stream);
    case Fp16:
        return launch<kWarpgroups, kTileRows, OutputMajor, Fp16>(args, stream);
    case GatedGelu:
        return launch<kWarpgroups, kTileRows, OutputMajor, GatedGelu>(args, stream);
    }
    return cudaErrorInvalidValue;
}

} // namespace

HopperGemmConfig hopperGemmConfig(std::int64_t rows, std::int64_t outputs, int parts, bool besideNext)
{
    // Measured on an H200 at 256 and 1024 rows (NOTES.md): a round of short blocks takes 0.6 times as long as one of
    // tall ones, which share what they fetch of x. Where short blocks are too few for half of the multiprocessors, each
    // takes half a canvas; but a third stays for the next launch if that runs beside. The choice does not touch the
    // order of summation.
    constexpr std::int64_t kCanvas = 256;
    const std::int64_t rowTiles = (rows + kCanvas - 1) / kCanvas;
    const auto blocks = [&](std::int64_t blockOutputs) {
        return (outputs + blockOutputs - 1) / blockOutputs * parts * rowTiles;
    };
    const std::int64_t leftForThis = besideNext ? kMultiprocessors * 2 / 3 : kMultiprocessors;
    if (2 * blocks(64) <= leftForThis)
        return {.weightRows = 64, .tileRows = 128};
    const auto rounds = [&](std::int64_t blockOutputs) {
        return (blocks(blockOutputs) + kMultiprocessors - 1) / kMultiprocessors;
    };
    const bool useTall = 10 * rounds(128) <= 6 * rounds(64);
    const std::int64_t hundredths = useTall ? 100 * rounds(128) : 60 * rounds(64);
    // Three warpgroups with half a canvas: 0.78 of a round of tall blocks.
    const std::int64_t halves = (outputs + 191) / 192 * parts * ((rows + kCanvas / 2 - 1) / (kCanvas / 2));
    const std::int64_t halfRounds = (halves + kMultiprocessors - 1) / kMultiprocessors;
    if (rows > kCanvas / 2 && 78 * halfRounds < hundredths * 95 / 100)
        return {.weightRows = 192, .tileRows = 128};
    return {.weightRows = useTall ? 128 : 64, .tileRows = rows <= 128 ? 128 : 256};
}

bool hopperGemmAddsParts(std::int64_t rows, std::int64_t outputs)
{
    // Blocks of 192 outputs and half a canvas have registers for two sets of sums. They win where they fill most of the
    // rounds that they take.
    const std::int64_t blocks = (outputs + 191) / 192 * ((rows + 127) / 128);
    const std::int64_t places = (blocks + kMultiprocessors - 1) / kMultiprocessors * kMultiprocessors;
    return 5 * blocks >= 4 * places;
}

cudaError_t denseGemmHopper(const DenseGemmArgs &args, HopperGemmConfig config, cudaStream_t stream)
{
    if (args.addParts)
        return args.layout == WeightLayout::InputMajor
                   ? launch<3, 128, WeightLayout::InputMajor, GemmEpilogue::Float, true>(args, stream)
                   : launch<3, 128, WeightLayout::OutputMajor, GemmEpilogue::Float, true>(args, stream);
    if (config.weightRows == 192)
        return launchFor<3, 128>(args, stream);
    if (config.tileRows == 128)
        return config.weightRows == 128 ? launchFor<2, 128>(args, stream) : launchFor<1, 128>(args, stream);
    return config.weightRows == 128 ? launchFor<2, 256>(args, stream) : launchFor<1, 256>(args, stream);
}

} // namespace palimpsest::kernels
