// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/bulk_copy.cuh"
#include "kernels/dense_gemm_variants.h"
#include "kernels/gelu.cuh"
#include "kernels/launch.h"
#include "kernels/ptx.cuh"
#include "kernels/ptx_sm90.cuh"
#include "kernels/tensor_map.h"

#include <cstdint>

namespace palimpsest::kernels {

namespace {

// The weight is the tall operand: a warpgroup multiplies 64 of its rows with 256 rows of x, so that a canvas reads each
// weight once and a wgmma (m64n256k16) reads the least shared memory for its work. A block is one producer warp and one
// or two such warpgroups; the pipeline's stages hold 64 inputs:
//
//     weight rows [kWarpgroups * 64][64]  --TMA-->  8 or 16 KiB   (one block's own)
//     x rows      [256][64]               --TMA-->  32 KiB        (each block of the cluster fetches its share for all)
//
// y arrives transposed in the accumulators: a thread holds 2 outputs of 64 rows.
//
// Where there are too few outputs to give every multiprocessor a block, a block takes half a canvas instead: x rows
// [128][64], 16 KiB. Three warpgroups with half a canvas are three quarters of a tall block: they fill the last round
// of some products better.
constexpr int kTileInputs = 64;
constexpr int kGroupOutputs = 64;
constexpr int kInputBytes = kTileInputs * 2;
constexpr int kGroupBytes = kGroupOutputs * kInputBytes;
static_assert(kInputBytes == 128, "a row of a tile is one line of the 128-byte swizzle");

template <int kWarpgroups, int kTileRows>
struct Pipeline
{
    // What fits 227 KiB.
    static constexpr int kStages = kWarpgroups == 3 ? 5 : kTileRows == 128 ? 6 : kWarpgroups == 1 ? 5 : 4;
    static constexpr int kXBytes = kTileRows * kInputBytes;
    static constexpr int kStageBytes = kXBytes + kWarpgroups * kGroupBytes;
    static constexpr int kBarrierBytes = 2 * kStages * 8;
    static constexpr int kSharedBytes = 1024 + kStages * kStageBytes + kBarrierBytes; // 1024: room to align
    static constexpr int kThreads = kWarpgroups * 128 + 32;
};

struct Sizes
{
    std::int64_t rows;
    std::int64_t outputs; ///< columns of the stored matrix
    int inputTiles;
    int parts;
    int cluster;
    int fetchedRows; ///< of a tile of x: all, or fewer where x has no more (rows that are not there cost as much time)
    const std::int32_t *activeRows;
    bool besideNext;
    void *out;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The barriers of the pipeline as shared addresses.
template <int kWarpgroups, int kTileRows>
struct Barriers
{
    std::uint32_t first;
    __device__ std::uint32_t full(int stage) const { return first + static_cast<std::uint32_t>(stage) * 8U; }
    __device__ std::uint32_t empty(int stage) const { return full(Pipeline<kWarpgroups, kTileRows>::kStages + stage); }
};

template <int kWarpgroups, int kTileRows, WeightLayout kLayout, GemmEpilogue kEpilogue>
__device__ void produce(const CUtensorMap &weightMap, const CUtensorMap &xMap, const Sizes &sizes, std::uint32_t tiles,
                        Barriers<kWarpgroups, kTileRows> barriers, int begin, int end)
{
    using P = Pipeline<kWarpgroups, kTileRows>;
    const std::uint32_t rank = ptx::clusterRank();
    const int shareRows = sizes.fetchedRows / sizes.cluster;
    const int firstRow = static_cast<int>(blockIdx.y) * kTileRows + static_cast<int>(rank) * shareRows;
    const int firstOutput = static_cast<int>(blockIdx.x) * kWarpgroups * kGroupOutputs;
    const auto everyone = static_cast<std::uint16_t>((1U << static_cast<unsigned>(sizes.cluster)) - 1U);
    const auto fetchWeight = [&](int tile, int stage) {
        const std::uint32_t full = barriers.full(stage);
        const std::uint32_t weight = tiles + static_cast<std::uint32_t>(stage * P::kStageBytes) + P::kXBytes;
        const int input = tile * kTileInputs;
        ptx::barrierExpect(full,
                           static_cast<std::uint32_t>(sizes.fetchedRows * kInputBytes + kWarpgroups * kGroupBytes));
        if constexpr (kLayout == WeightLayout::InputMajor) {
            for (int group = 0; group < kWarpgroups; ++group)
                ptx::copyBox2(weight + static_cast<std::uint32_t>(group * kGroupBytes), &weightMap, full,
                              firstOutput + group * kGroupOutputs, input);
        } else if constexpr (kEpilogue == GemmEpilogue::GatedGelu) {
            ptx::copyBox4(weight, &weightMap, full, input, 0, 0, firstOutput / 16);
        } else {
            ptx::copyBox2(weight, &weightMap, full, input, firstOutput);
        }
    };
    // Weights do not depend on the kernel before this one: the first stages' are fetched while it ends.
    const int ahead = min(end - begin, P::kStages);
    for (int stage = 0; stage < ahead; ++stage)
        fetchWeight(begin + stage, stage);
    ptx::waitForPrevious();
    if (sizes.besideNext)
        ptx::letNextStart();
    int stage = 0;
    std::uint32_t parity = 1; // a fresh barrier counts as having ended the phase before its first
    for (int tile = begin; tile < end; ++tile) {
        ptx::barrierWait(barriers.empty(stage), parity);
        if (tile - begin >= P::kStages)
            fetchWeight(tile, stage);
        const std::uint32_t full = barriers.full(stage);
        const std::uint32_t share = tiles + static_cast<std::uint32_t>(stage * P::kStageBytes) +
                                    rank * static_cast<std::uint32_t>(shareRows * kInputBytes);
        if (sizes.cluster == 1)
            ptx::copyBox2(share, &xMap, full, tile * kTileInputs, firstRow);
        else
            ptx::copyBox2Multicast(share, &xMap, full, everyone, tile * kTileInputs, firstRow);
        if (++stage == P::kStages) {
            stage = 0;
            parity ^= 1U;
        }
    }
}

template <int kWarpgroups, int kTileRows, WeightLayout kLayout>
__device__ void consume(float (&sums)[kTileRows / 2], const Sizes &sizes, std::uint32_t tiles,
                        Barriers<kWarpgroups, kTileRows> barriers, int begin, int end)
{
    using P = Pipeline<kWarpgroups, kTileRows>;
    constexpr int kTransposed = kLayout == WeightLayout::InputMajor ? 1 : 0;
    // Sixteen inputs further on: 32 bytes along a row, or 16 rows of 128 bytes.
    constexpr std::uint32_t kWeightStep = kTransposed != 0 ? 16 * kInputBytes : 32;
    const auto group = static_cast<std::uint32_t>(threadIdx.x / 128);
    const bool releases = threadIdx.x % 128 < static_cast<unsigned>(sizes.cluster);
    const auto release = [&](int stage) {
        if (!releases)
            return;
        if (sizes.cluster == 1)
            ptx::barrierArrive(barriers.empty(stage));
        else
            ptx::barrierArriveAt(barriers.empty(stage), threadIdx.x % 128);
    };
#pragma unroll
    for (float &sum : sums)
        sum = 0.0F;
    int stage = 0;
    int previous = 0;
    std::uint32_t parity = 0;
    for (int tile = begin; tile < end; ++tile) {
        ptx::barrierWait(barriers.full(stage), parity);
        const std::uint32_t x = tiles + static_cast<std::uint32_t>(stage * P::kStageBytes);
        const std::uint32_t weight = x + P::kXBytes + group * kGroupBytes;
        ptx::wgmmaFence();
#pragma unroll
        for (std::uint32_t k = 0; k < kTileInputs / 16; ++k) {
            const std::uint64_t a = ptx::swizzledMatrix(weight + k * kWeightStep);
            const std::uint64_t b = ptx::swizzledMatrix(x + k * 32);
            if constexpr (kTileRows == 256)
                ptx::wgmma64x256x16<kTransposed>(sums, a, b);
            else
                ptx::wgmma64x128x16<kTransposed>(sums, a, b);
        }
        ptx::wgmmaCommit();
        ptx::wgmmaWait<1>(); // the products before these are done with their stage
        if (tile > begin)
            release(previous);
        previous = stage;
        if (++stage == P::kStages) {
            stage = 0;
            parity ^= 1U;
        }
    }
    ptx::wgmmaWait<0>();
}

// Lanes with neighbouring outputs swap, so that each stores two outputs of one row.
__device__ __forceinline__ void storePair(Bf16 *out, const Sizes &sizes, std::int64_t rows, std::int64_t row,
                                          std::int64_t output, float first, float second)
{
    const bool odd = (threadIdx.x & 4U) != 0;
    const float received = __shfl_xor_sync(0xFFFFFFFFU, odd ? first : second, 4);
    const std::uint32_t pair = odd ? ptx::packBf16(received, second) : ptx::packBf16(first, received);
    row += odd ? 1 : 0;
    output -= odd ? 1 : 0;
    if (row < rows && output < sizes.outputs)
        *reinterpret_cast<std::uint32_t *>(out + row * sizes.outputs + output) = pair;
}

template <int kWarpgroups, int kTileRows, GemmEpilogue kEpilogue>
__device__ void store(const float (&sums)[kTileRows / 2], const Sizes &sizes, std::int64_t rows)
{
    const int group = static_cast<int>(threadIdx.x) / 128;
    const int warp = static_cast<int>(threadIdx.x) % 128 / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t firstRow = static_cast<std::int64_t>(blockIdx.y) * kTileRows + lane % 4 * 2;
    if constexpr (kEpilogue == GemmEpilogue::GatedGelu) {
        // Eight gate rows alternate with their eight up rows, so a thread holds both halves of its outputs.
        const std::int64_t output =
            (static_cast<std::int64_t>(blockIdx.x) * kWarpgroups + group) * (kGroupOutputs / 2) + warp * 8 + lane / 4;
#pragma unroll
        for (int j = 0; j < kTileRows / 8; ++j)
            storePair(static_cast<Bf16 *>(sizes.out), sizes, rows, firstRow + j * 8, output,
                      geluTanh(sums[j * 4]) * sums[j * 4 + 2], geluTanh(sums[j * 4 + 1]) * sums[j * 4 + 3]);
        return;
    }
    const std::int64_t output =
        (static_cast<std::int64_t>(blockIdx.x) * kWarpgroups + group) * kGroupOutputs + warp * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < kTileRows / 8; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float first = sums[j * 4 + half * 2];
            const float second = sums[j * 4 + half * 2 + 1];
            const std::int64_t row = firstRow + j * 8;
            if constexpr (kEpilogue == GemmEpilogue::Float) {
                float *out = static_cast<float *>(sizes.out) + (blockIdx.z * sizes.rows + row) * sizes.outputs +
                             output + half * 8;
                if (output + half * 8 < sizes.outputs) {
                    if (row < rows)
                        out[0] = first;
                    if (row + 1 < rows)
                        out[sizes.outputs] = second;
                }
            } else {
                storePair(static_cast<Bf16 *>(sizes.out), sizes, rows, row, output + half * 8, first, second);
            }
        }
    }
}

#endif

template <int kWarpgroups, int kTileRows, WeightLayout kLayout, GemmEpilogue kEpilogue>
__global__ __launch_bounds__(Pipeline<kWarpgroups, kTileRows>::kThreads,
                             1) void hopperKernel(const __grid_constant__ CUtensorMap weightMap,
                                                  const __grid_constant__ CUtensorMap xMap, const Sizes sizes)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    using P = Pipeline<kWarpgroups, kTileRows>;
    extern __shared__ std::uint8_t shared[];
    if (!sizes.besideNext)
        ptx::letNextStart();
    if (sizes.activeRows != nullptr)
        ptx::waitForPrevious();
    const std::int64_t rows =
        sizes.activeRows == nullptr ? sizes.rows : min(sizes.rows, std::int64_t{*sizes.activeRows});
    if (static_cast<std::int64_t>(blockIdx.y) * kTileRows >= rows)
        return; // the whole cluster: it shares its rows
    const std::uint32_t tiles = (ptx::sharedAddress(shared) + 1023U) & ~1023U;
    const Barriers<kWarpgroups, kTileRows> barriers{tiles + P::kStages * P::kStageBytes};
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < P::kStages; ++stage) {
            ptx::barrierInit(barriers.full(stage), 1);
            ptx::barrierInit(barriers.empty(stage), static_cast<std::uint32_t>(kWarpgroups * sizes.cluster));
        }
        ptx::barrierInitFence();
    }
    __syncthreads();
    if (sizes.cluster > 1)
        ptx::clusterBarrier();

    const int part = static_cast<int>(blockIdx.z);
    const int begin = static_cast<int>(static_cast<std::int64_t>(sizes.inputTiles) * part / sizes.parts);
    const int end = static_cast<int>(static_cast<std::int64_t>(sizes.inputTiles) * (part + 1) / sizes.parts);
    if (threadIdx.x >= kWarpgroups * 128) {
        if (threadIdx.x == kWarpgroups * 128)
            produce<kWarpgroups, kTileRows, kLayout, kEpilogue>(weightMap, xMap, sizes, tiles, barriers, begin, end);
        __syncwarp();
    } else {
        float sums[kTileRows / 2];
        consume<kWarpgroups, kTileRows, kLayout>(sums, sizes, tiles, barriers, begin, end);
        ptx::waitForPrevious(); // long over; but the kernel before may read what is overwritten here
        store<kWarpgroups, kTileRows, kEpilogue>(sums, sizes, rows);
    }
    if (sizes.cluster > 1)
        ptx::clusterBarrier(); // until then the others may arrive at this block's barriers
#endif
}

template <int kWarpgroups, int kTileRows, WeightLayout kLayout, GemmEpilogue kEpilogue>
cudaError_t launch(const DenseGemmArgs &args, int cluster, cudaStream_t stream)
{
    using P = Pipeline<kWarpgroups, kTileRows>;
    const auto inputs = static_cast<cuuint64_t>(args.inputs);
    const auto outputs = static_cast<cuuint64_t>(args.outputs);
    constexpr bool kGated = kEpilogue == GemmEpilogue::GatedGelu;
    // Columns of the accumulators behind the fetched rows are never stored, whatever lies in shared memory.
    const int fetchedRows = args.rows < kTileRows ? static_cast<int>((args.rows + 7) / 8) * 8 : kTileRows;
    cluster = fetchedRows < kTileRows ? 1 : cluster;
    CUtensorMap weightMap;
    CUtensorMap xMap;
    bool described = describe<2>(xMap, args.x, {inputs, static_cast<cuuint64_t>(args.rows)}, {args.inputs},
                                 {kTileInputs, static_cast<cuuint32_t>(fetchedRows / cluster)});
    if constexpr (kGated) // [group of 8][gate or up][8][inputs]: eight gate rows, then their up rows
        described &= describe<4>(weightMap, args.weight, {inputs, 8, 2, outputs / 16},
                                 {args.inputs, args.outputs / 2 * args.inputs, 8 * args.inputs},
                                 {kTileInputs, 8, 2, kWarpgroups * kGroupOutputs / 16});
    else if constexpr (kLayout == WeightLayout::InputMajor)
        described &=
            describe<2>(weightMap, args.weight, {outputs, inputs}, {args.outputs}, {kGroupOutputs, kTileInputs});
    else
        described &= describe<2>(weightMap, args.weight, {inputs, outputs}, {args.inputs},
                                 {kTileInputs, kWarpgroups * kGroupOutputs});
    if (!described)
        return cudaErrorInvalidValue;

    const Sizes sizes{.rows = args.rows,
                      .outputs = kGated ? args.outputs / 2 : args.outputs,
                      .inputTiles = static_cast<int>((args.inputs + kTileInputs - 1) / kTileInputs),
                      .parts = args.parts,
                      .cluster = cluster,
                      .fetchedRows = fetchedRows,
                      .activeRows = args.activeRows,
                      .besideNext = args.besideNext,
                      .out = args.out};
    constexpr int kBlockOutputs = kWarpgroups * kGroupOutputs;
    const std::int64_t blocks = (args.outputs + kBlockOutputs - 1) / kBlockOutputs;
    const auto kernel = hopperKernel<kWarpgroups, kTileRows, kLayout, kEpilogue>;
    cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, P::kSharedBytes);
    if (status != cudaSuccess)
        return status;
    const dim3 grid(static_cast<unsigned>((blocks + cluster - 1) / cluster * cluster),
                    static_cast<unsigned>((args.rows + kTileRows - 1) / kTileRows), static_cast<unsigned>(args.parts));
    return launchDependent(kernel,
                           {.grid = grid,
                            .threads = P::kThreads,
                            .sharedBytes = P::kSharedBytes,
                            .cluster = static_cast<unsigned>(cluster)},
                           stream, weightMap, xMap, sizes);
}

template <int kWarpgroups, int kTileRows>
cudaError_t launchFor(const DenseGemmArgs &args, int cluster, cudaStream_t stream)
{
    using enum WeightLayout;
    using enum GemmEpilogue;
    if (args.layout == InputMajor)
        return args.epilogue == Float ? launch<kWarpgroups, kTileRows, InputMajor, Float>(args, cluster, stream)
                                      : launch<kWarpgroups, kTileRows, InputMajor, HalfWidth>(args, cluster, stream);
    switch (args.epilogue) {
    case Float:
        return launch<kWarpgroups, kTileRows, OutputMajor, Float>(args, cluster, stream);
    case HalfWidth:
        return launch<kWarpgroups, kTileRows, OutputMajor, HalfWidth>(args, cluster, stream);
    case GatedGelu:
        return launch<kWarpgroups, kTileRows, OutputMajor, GatedGelu>(args, cluster, stream);
    }
    return cudaErrorInvalidValue;
}

} // namespace

HopperGemmConfig hopperGemmConfig(std::int64_t rows, std::int64_t outputs, int parts, bool besideNext)
{
    // Measured on an H200 at 256 and 1024 rows (NOTES.md): a round of short blocks takes 0.6 times as long as one of
    // tall ones, which share what they fetch of x. Sharing it in pairs as well wins a little for products of many
    // rounds alone. Where short blocks are too few for half of the multiprocessors, each takes half a canvas; but a
    // third stays for the next launch if that runs beside. The choice does not touch the order of summation.
    constexpr std::int64_t kMultiprocessors = 132;
    constexpr std::int64_t kCanvas = 256;
    const std::int64_t rowTiles = (rows + kCanvas - 1) / kCanvas;
    const auto blocks = [&](std::int64_t blockOutputs) {
        return (outputs + blockOutputs - 1) / blockOutputs * parts * rowTiles;
    };
    const std::int64_t leftForThis = besideNext ? kMultiprocessors * 2 / 3 : kMultiprocessors;
    if (2 * blocks(64) <= leftForThis)
        return {.weightRows = 64, .cluster = 1, .tileRows = 128};
    const auto rounds = [&](std::int64_t blockOutputs) {
        return (blocks(blockOutputs) + kMultiprocessors - 1) / kMultiprocessors;
    };
    const bool useTall = 10 * rounds(128) <= 6 * rounds(64);
    const std::int64_t hundredths = useTall ? 100 * rounds(128) : 60 * rounds(64);
    // Three warpgroups with half a canvas: 0.78 of a round of tall blocks.
    const std::int64_t halves = (outputs + 191) / 192 * parts * ((rows + kCanvas / 2 - 1) / (kCanvas / 2));
    const std::int64_t halfRounds = (halves + kMultiprocessors - 1) / kMultiprocessors;
    if (rows > kCanvas / 2 && 78 * halfRounds < hundredths * 95 / 100)
        return {.weightRows = 192, .cluster = 1, .tileRows = 128};
    const bool isLong = (outputs + 127) / 128 * parts > 4 * kMultiprocessors;
    return {.weightRows = useTall ? 128 : 64, .cluster = isLong ? 2 : 1, .tileRows = rows <= 128 ? 128 : 256};
}

cudaError_t denseGemmHopper(const DenseGemmArgs &args, HopperGemmConfig config, cudaStream_t stream)
{
    if (config.cluster != 1 && config.cluster != 2 && config.cluster != 4)
        return cudaErrorInvalidValue;
    if (config.weightRows == 192)
        return launchFor<3, 128>(args, config.cluster, stream);
    if (config.tileRows == 128)
        return config.weightRows == 128 ? launchFor<2, 128>(args, config.cluster, stream)
                                        : launchFor<1, 128>(args, config.cluster, stream);
    return config.weightRows == 128 ? launchFor<2, 256>(args, config.cluster, stream)
                                    : launchFor<1, 256>(args, config.cluster, stream);
}

} // namespace palimpsest::kernels
