// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/self_condition.h"

#include "kernels/dense_gemm.h"
#include "kernels/launch.h"
#include "kernels/processed_logits.cuh"
#include "kernels/ptx.cuh"

namespace palimpsest::kernels {

namespace {

// The same constants as the CPU backend's (engine/cpu/head.cpp).
constexpr int kMostGathered = 192;
constexpr float kGatherFloor = 0x1p-26F;
constexpr float kDroppedMass = 0x1p-20F;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kListThreads = 1024;

/// Scratch memory: see selfConditionWorkspace() for the sizes.
struct Workspace
{
    Bf16 *weights;          ///< [rows, vocabSize]: exp(x - maximum) of the dense rows, in their order
    float *products;        ///< [parts, rows, hidden]
    std::int32_t *isDense;  ///< [rows]
    std::int32_t *denseRow; ///< [rows]: numbers of the dense rows, ascending
    std::int32_t *count;
};

std::int64_t roundedUp(std::int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

struct WorkspaceSizes
{
    std::int64_t weights;
    std::int64_t products;
    std::int64_t perRow;

    WorkspaceSizes(std::int64_t rows, std::int64_t vocabSize, std::int64_t hidden)
        : weights(roundedUp(rows * vocabSize * 2)),
          products(roundedUp(denseGemmParts(hidden, vocabSize, WeightLayout::InputMajor) * rows * hidden * 4)),
          perRow(roundedUp(rows * 4))
    {
    }
    [[nodiscard]] std::int64_t total() const { return weights + products + 2 * perRow + 256; }
};

Workspace workspaceOf(const SelfConditionArgs &args)
{
    const WorkspaceSizes sizes(args.canvas.rows, args.canvas.vocabSize, args.hidden);
    auto *at = static_cast<unsigned char *>(args.workspace);
    Workspace made{};
    made.weights = reinterpret_cast<Bf16 *>(at);
    made.products = reinterpret_cast<float *>(at += sizes.weights);
    made.isDense = reinterpret_cast<std::int32_t *>(at += sizes.products);
    made.denseRow = reinterpret_cast<std::int32_t *>(at += sizes.perRow);
    made.count = reinterpret_cast<std::int32_t *>(at + sizes.perRow);
    return made;
}

/// Exclusive prefix sum over the block and its total; `scratch`: [kWarps]. Two barriers.
__device__ int blockPrefix(int value, int *scratch, int &total)
{
    int inclusive = value;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(kWholeWarp, inclusive, distance);
        if (static_cast<int>(threadIdx.x) % 32 >= distance)
            inclusive += other;
    }
    __syncthreads(); // scratch may still be read from before
    if (threadIdx.x % 32 == 31)
        scratch[threadIdx.x / 32] = inclusive;
    __syncthreads();
    int before = 0;
    total = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) {
        if (warp < static_cast<int>(threadIdx.x) / 32)
            before += scratch[warp];
        total += scratch[warp];
    }
    return before + inclusive - value;
}

/// The ids that carry a row, in ascending order.
struct Carriers
{
    std::int32_t blocks[kMostGathered]; ///< blocks that hold one
    int firstOfBlock[kMostGathered];    ///< number of its ids, then the place of its first one
    float droppedOfBlock[kMostGathered];
    std::int32_t ids[kMostGathered];
    float weights[kMostGathered];
};

/// Calls body(vector of exp(x - maximum), index in carriers.blocks), one warp for each listed block.
template <typename Body>
__device__ void forEachBlock(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                             const Carriers &carriers, int blockCount, float maximum, Body body)
{
    for (int index = static_cast<int>(threadIdx.x) / 32; index < blockCount; index += kWarps) {
        LogitVector vector = processedBlock(canvas, settings, row, carriers.blocks[index]);
        for (float &value : vector.values)
            value = __expf(fmaxf(value - maximum, -100.0F));
        body(vector, index);
    }
}

/// Lists the carriers; false if there are too many or the others weigh too much. Known to the whole block.
__device__ bool listCarriers(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                             Carriers &carriers, int &count)
{
    __shared__ int scratch[kWarps];
    __shared__ float sums[kWarps];
    const SampleWorkspace sample = sampleWorkspace(canvas);
    const float *maxima = sample.maxima + row * sample.blockCount;
    const BlockSums *blockSums = sample.sums + row * sample.blockCount;
    const RowStats stats = sample.rows[row];
    const float floor = stats.sum * kGatherFloor;

    // Blocks whose largest weight is below the floor are dropped whole, by their sum.
    float droppedHere = 0.0F;
    int listed = 0;
    for (std::int64_t first = 0; first < sample.blockCount; first += kThreads) {
        const std::int64_t block = first + threadIdx.x;
        bool carries = false;
        if (block < sample.blockCount) {
            const float factor = __expf(fmaxf(maxima[block] - stats.maximum, -100.0F));
            carries = factor >= floor;
            droppedHere += carries ? 0.0F : blockSums[block].sum * factor;
        }
        int found = 0;
        const int place = listed + blockPrefix(carries ? 1 : 0, scratch, found);
        listed += found;
        if (carries && place < kMostGathered)
            carriers.blocks[place] = static_cast<std::int32_t>(block);
    }
    float dropped = blockSum<kThreads>(droppedHere, sums);
    if (listed > kMostGathered)
        return false; // each of them holds an id at least

    forEachBlock(canvas, settings, row, carriers, listed, stats.maximum, [&](const LogitVector &vector, int index) {
        int above = 0;
        float below = 0.0F;
        for (const float weight : vector.values) {
            above += weight >= floor ? 1 : 0;
            below += weight >= floor ? 0.0F : weight;
        }
        below = warpSum(below);
        above = static_cast<int>(__reduce_add_sync(kWholeWarp, static_cast<unsigned>(above)));
        if (threadIdx.x % 32 == 0) {
            carriers.firstOfBlock[index] = above;
            carriers.droppedOfBlock[index] = below;
        }
    });
    __syncthreads();
    const int mine = static_cast<int>(threadIdx.x) < listed ? carriers.firstOfBlock[threadIdx.x] : 0;
    const int first = blockPrefix(mine, scratch, count);
    if (static_cast<int>(threadIdx.x) < listed)
        carriers.firstOfBlock[threadIdx.x] = first;
    for (int index = 0; index < listed; ++index)
        dropped += carriers.droppedOfBlock[index];
    __syncthreads();
    if (count > kMostGathered || dropped > kDroppedMass * stats.sum)
        return false;

    const float inverse = 1.0F / stats.sum;
    forEachBlock(canvas, settings, row, carriers, listed, stats.maximum, [&](const LogitVector &vector, int index) {
        int place = carriers.firstOfBlock[index];
        // In the order of the ids: halves of the block, then lanes, then a lane's four.
        for (int i = 0; i < 2; ++i) {
            int here = 0;
            for (int c = 0; c < 4; ++c)
                here += vector.values[i * 4 + c] >= floor ? 1 : 0;
            int inclusive = here;
            for (int distance = 1; distance < 32; distance *= 2) {
                const int other = __shfl_up_sync(kWholeWarp, inclusive, distance);
                if (static_cast<int>(threadIdx.x) % 32 >= distance)
                    inclusive += other;
            }
            int at = place + inclusive - here;
            for (int c = 0; c < 4; ++c) {
                const float weight = vector.values[i * 4 + c];
                if (weight < floor)
                    continue;
                carriers.ids[at] = carriers.blocks[index] * kLogitBlock + LogitVector::idOffset(i * 4 + c);
                carriers.weights[at] = weight * inverse;
                ++at;
            }
            place += __shfl_sync(kWholeWarp, inclusive, 31);
        }
    });
    __syncthreads();
    return true;
}

// A block a row: gathers it, or marks it as dense.
__global__ __launch_bounds__(kThreads) void gatherKernel(const SelfConditionArgs args, const Workspace workspace)
{
    ptx::beginDependent();
    __shared__ Carriers carriers;
    const std::int64_t row = blockIdx.x;
    const SampleSettings settings = *args.canvas.settings;
    int count = 0;
    const bool gathers = listCarriers(args.canvas, settings, row, carriers, count);
    if (threadIdx.x == 0)
        workspace.isDense[row] = gathers ? 0 : 1;
    if (!gathers)
        return;
    for (std::int64_t column = threadIdx.x * 8; column < args.hidden; column += kThreads * 8) {
        float sums[8] = {};
#pragma unroll 4
        for (int i = 0; i < count; ++i) {
            const uint4 packed = *reinterpret_cast<const uint4 *>(args.table + carriers.ids[i] * args.hidden + column);
            const std::uint32_t pairs[4] = {packed.x, packed.y, packed.z, packed.w};
            const float weight = carriers.weights[i];
#pragma unroll
            for (int pair = 0; pair < 4; ++pair) {
                sums[pair * 2] += weight * ptx::lowBf16(pairs[pair]);
                sums[pair * 2 + 1] += weight * ptx::highBf16(pairs[pair]);
            }
        }
        auto *out = reinterpret_cast<float4 *>(args.out + row * args.hidden + column);
        out[0] = make_float4(sums[0], sums[1], sums[2], sums[3]);
        out[1] = make_float4(sums[4], sums[5], sums[6], sums[7]);
    }
}

// One block: numbers the dense rows.
__global__ __launch_bounds__(kListThreads) void listDenseRowsKernel(std::int64_t rows, const Workspace workspace,
                                                                    std::int32_t *denseRows)
{
    ptx::beginDependent();
    __shared__ int counts[kListThreads / 32];
    int before = 0;
    for (std::int64_t first = 0; first < rows; first += kListThreads) {
        const std::int64_t row = first + threadIdx.x;
        const bool dense = row < rows && workspace.isDense[row] != 0;
        const unsigned ballot = __ballot_sync(kWholeWarp, dense);
        if (threadIdx.x % 32 == 0)
            counts[threadIdx.x / 32] = __popc(ballot);
        __syncthreads();
        int place = before + __popc(ballot & ((1U << (threadIdx.x % 32)) - 1U));
        for (int warp = 0; warp < kListThreads / 32; ++warp) {
            place += warp < static_cast<int>(threadIdx.x) / 32 ? counts[warp] : 0;
            before += counts[warp];
        }
        if (dense)
            workspace.denseRow[place] = static_cast<std::int32_t>(row);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *workspace.count = before;
        if (denseRows != nullptr)
            *denseRows = before;
    }
}

// Weights of the dense rows as the operand of the product.
__global__ __launch_bounds__(kThreads) void weightsKernel(const SelfConditionArgs args, const Workspace workspace)
{
    ptx::beginDependent();
    const std::int64_t index = blockIdx.y;
    if (index >= *workspace.count)
        return;
    const std::int64_t row = workspace.denseRow[index];
    const SampleSettings settings = *args.canvas.settings;
    const SampleWorkspace sample = sampleWorkspace(args.canvas);
    const float maximum = sample.rows[row].maximum;
    for (std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
         block < sample.blockCount; block += static_cast<std::int64_t>(gridDim.x) * kWarps) {
        const LogitVector vector = processedBlock(args.canvas, settings, row, block);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const std::int64_t id = block * kLogitBlock + LogitVector::idOffset(i * 4);
            if (id >= args.canvas.vocabSize)
                continue;
            float weights[4];
#pragma unroll
            for (int c = 0; c < 4; ++c)
                weights[c] = __expf(fmaxf(vector.values[i * 4 + c] - maximum, -100.0F));
            *reinterpret_cast<uint2 *>(workspace.weights + index * args.canvas.vocabSize + id) =
                make_uint2(ptx::packBf16(weights[0], weights[1]), ptx::packBf16(weights[2], weights[3]));
        }
    }
}

// The dense rows' parts, added in order, over the row's sum.
__global__ __launch_bounds__(kThreads) void scatterKernel(const SelfConditionArgs args, const Workspace workspace,
                                                          int parts)
{
    ptx::beginDependent();
    const std::int64_t index = blockIdx.x;
    if (index >= *workspace.count)
        return;
    const std::int64_t row = workspace.denseRow[index];
    const float inverse = 1.0F / sampleWorkspace(args.canvas).rows[row].sum;
    const std::int64_t stride = args.canvas.rows * args.hidden;
    for (std::int64_t column = threadIdx.x; column < args.hidden; column += kThreads) {
        float sum = workspace.products[index * args.hidden + column];
        for (int part = 1; part < parts; ++part)
            sum += workspace.products[part * stride + index * args.hidden + column];
        args.out[row * args.hidden + column] = sum * inverse;
    }
}

} // namespace

std::int64_t selfConditionWorkspace(std::int64_t rows, std::int64_t vocabSize, std::int64_t hidden)
{
    return WorkspaceSizes(rows, vocabSize, hidden).total();
}

cudaError_t selfCondition(const SelfConditionArgs &args, cudaStream_t stream)
{
    const CanvasLogits &canvas = args.canvas;
    if (canvas.rows < 0 || canvas.rows > 65535 || canvas.vocabSize <= 0 || canvas.vocabSize % 8 != 0 ||
        args.hidden <= 0 || args.hidden % 8 != 0 || canvas.logits == nullptr || canvas.settings == nullptr ||
        canvas.workspace == nullptr || args.table == nullptr || args.out == nullptr || args.workspace == nullptr)
        return cudaErrorInvalidValue;
    if (canvas.rows == 0)
        return cudaSuccess;
    const Workspace workspace = workspaceOf(args);
    const auto rows = static_cast<unsigned>(canvas.rows);
    cudaError_t status =
        launchDependent(gatherKernel, {.grid = dim3(rows), .threads = kThreads}, stream, args, workspace);
    if (status == cudaSuccess)
        status = launchDependent(listDenseRowsKernel, {.grid = dim3(1), .threads = kListThreads}, stream, canvas.rows,
                                 workspace, args.denseRows);
    // Eight blocks a row: enough to fill a device with 132 multiprocessors from 17 rows on.
    constexpr unsigned kBlocksOfRow = 8;
    if (status == cudaSuccess)
        status = launchDependent(weightsKernel, {.grid = dim3(kBlocksOfRow, rows), .threads = kThreads}, stream, args,
                                 workspace);
    if (status != cudaSuccess)
        return status;
    const int parts = denseGemmParts(args.hidden, canvas.vocabSize, WeightLayout::InputMajor);
    status = denseGemm({.rows = canvas.rows,
                        .outputs = args.hidden,
                        .inputs = canvas.vocabSize,
                        .x = workspace.weights,
                        .weight = args.table,
                        .layout = WeightLayout::InputMajor,
                        .epilogue = GemmEpilogue::Float,
                        .out = workspace.products,
                        .parts = parts,
                        .activeRows = workspace.count},
                       stream);
    if (status != cudaSuccess)
        return status;
    return launchDependent(scatterKernel, {.grid = dim3(rows), .threads = kThreads}, stream, args, workspace, parts);
}

} // namespace palimpsest::kernels
