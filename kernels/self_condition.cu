// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/self_condition.h"

#include "kernels/carriers.cuh"
#include "kernels/dense_gemm.h"
#include "kernels/launch.h"
#include "kernels/processed_logits.cuh"
#include "kernels/ptx.cuh"

namespace palimpsest::kernels {

namespace {

// Up to this many dense rows in a batch are multiplied by a launch of their own, whose tiles are half as high: it waits
// for the table alone, where 256 rows take as long as their arithmetic.
constexpr std::int64_t kFewRows = 128;

/// How many dense rows the batch has so far; for the launch that is to multiply them, the other one finds 0.
struct DenseCounts
{
    std::int32_t few;
    std::int32_t many;
};

/// Scratch memory, for all canvases of a batch: see selfConditionWorkspace() for the sizes.
struct Workspace
{
    Bf16 *weights;     ///< [rows, vocabSize]: exp(x - maximum) of the dense rows, in their order
    float *products;   ///< [parts, rows, hidden], or of kFewRows alone: [parts, kFewRows, hidden]
    float *denseScale; ///< [rows]: of a dense row 1 over the sum of its weights, of a gathered one 0
    DenseCounts *counts;
};

std::int64_t roundedUp(std::int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

struct WorkspaceSizes
{
    std::int64_t weights;
    std::int64_t products;
    std::int64_t scales;

    WorkspaceSizes(std::int64_t rows, std::int64_t vocabSize, std::int64_t hidden)
        : weights(roundedUp(rows * vocabSize * 2)),
          products(roundedUp(denseGemmParts(hidden, vocabSize, WeightLayout::InputMajor) * rows * hidden * 4)),
          scales(roundedUp(rows * 4))
    {
    }
    [[nodiscard]] std::int64_t total() const { return weights + products + scales + roundedUp(sizeof(DenseCounts)); }
};

std::int64_t batchRowsOf(const SelfConditionArgs &args)
{
    return args.batchRows == 0 ? args.canvas.rows : args.batchRows;
}

Workspace workspaceOf(const SelfConditionArgs &args)
{
    const WorkspaceSizes sizes(batchRowsOf(args), args.canvas.vocabSize, args.hidden);
    auto *at = static_cast<unsigned char *>(args.workspace);
    Workspace made{};
    made.weights = reinterpret_cast<Bf16 *>(at);
    made.products = reinterpret_cast<float *>(at += sizes.weights);
    made.denseScale = reinterpret_cast<float *>(at += sizes.products);
    made.counts = reinterpret_cast<DenseCounts *>(at + sizes.scales);
    return made;
}

// A block a row: gathers it, or marks it as dense.
__global__ __launch_bounds__(kSampleThreads) void gatherKernel(const SelfConditionArgs args, const Workspace workspace)
{
    ptx::beginDependent();
    __shared__ Carriers carriers;
    const std::int64_t row = blockIdx.x;
    const SampleSettings settings = *args.canvas.settings;
    int count = 0;
    const bool gathers = listCarriers(args.canvas, settings, row, carriers, count);
    if (threadIdx.x == 0)
        workspace.denseScale[args.firstRow + row] = gathers ? 0.0F : 1.0F / sampleWorkspace(args.canvas).rows[row].sum;
    if (!gathers)
        return;
    for (std::int64_t column = threadIdx.x * 8; column < args.hidden; column += kSampleThreads * 8) {
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
        auto *out = reinterpret_cast<float4 *>(args.out + (args.firstRow + row) * args.hidden + column);
        out[0] = make_float4(sums[0], sums[1], sums[2], sums[3]);
        out[1] = make_float4(sums[4], sums[5], sums[6], sums[7]);
    }
}

/// How many of the batch's rows before `end` are dense, which is the place of row `end` among them if it is.
__device__ int denseRowsBefore(const float *denseScale, std::int64_t end)
{
    __shared__ int counts[kSampleWarps];
    int count = 0;
    for (std::int64_t row = threadIdx.x; row < end; row += kSampleThreads)
        count += denseScale[row] > 0.0F ? 1 : 0;
    count = __reduce_add_sync(kWholeWarp, count);
    __syncthreads(); // counts may still be read from before
    if (threadIdx.x % 32 == 0)
        counts[threadIdx.x / 32] = count;
    __syncthreads();
    int total = 0;
#pragma unroll
    for (int warp = 0; warp < kSampleWarps; ++warp)
        total += counts[warp];
    return total;
}

/// Counts behind this canvas; those behind the last one are the batch's.
__device__ void storeCounts(const SelfConditionArgs &args, const Workspace &workspace, std::int64_t batchRows)
{
    const int before = denseRowsBefore(workspace.denseScale, args.firstRow);
    const int count = denseRowsBefore(workspace.denseScale, args.firstRow + args.canvas.rows);
    if (threadIdx.x != 0)
        return;
    const bool few = count <= kFewRows && kFewRows < batchRows;
    *workspace.counts = {few ? count : 0, few ? 0 : count};
    if (args.denseRows != nullptr)
        *args.denseRows = count - before;
}

// Weights of the canvas's dense rows as the operand of the product, behind those of the canvases before. Grid: blocks
// that share a row, rows.
__global__ __launch_bounds__(kSampleThreads) void weightsKernel(const SelfConditionArgs args, const Workspace workspace,
                                                                std::int64_t batchRows)
{
    ptx::beginDependent();
    const std::int64_t row = blockIdx.y;
    if (blockIdx.x == 0 && row == 0)
        storeCounts(args, workspace, batchRows);
    if (!(workspace.denseScale[args.firstRow + row] > 0.0F))
        return;
    Bf16 *const weightsOfRow =
        workspace.weights + denseRowsBefore(workspace.denseScale, args.firstRow + row) * args.canvas.vocabSize;
    const SampleSettings settings = *args.canvas.settings;
    const SampleWorkspace sample = sampleWorkspace(args.canvas);
    const float maximum = sample.rows[row].maximum;
    for (std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * kSampleWarps + threadIdx.x / 32;
         block < sample.blockCount; block += static_cast<std::int64_t>(gridDim.x) * kSampleWarps) {
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
            *reinterpret_cast<uint2 *>(weightsOfRow + id) =
                make_uint2(ptx::packBf16(weights[0], weights[1]), ptx::packBf16(weights[2], weights[3]));
        }
    }
}

// A block a row of the batch: a dense row's parts, added in order, over the row's sum.
__global__ __launch_bounds__(kSampleThreads) void scatterKernel(const SelfConditionArgs args, const Workspace workspace,
                                                                std::int64_t batchRows, int parts)
{
    ptx::beginDependent();
    const std::int64_t row = blockIdx.x;
    const float scale = workspace.denseScale[row];
    if (!(scale > 0.0F))
        return;
    const std::int64_t index = denseRowsBefore(workspace.denseScale, row);
    const std::int64_t stride = (workspace.counts->few > 0 ? kFewRows : batchRows) * args.hidden;
    for (std::int64_t column = threadIdx.x; column < args.hidden; column += kSampleThreads) {
        float sum = workspace.products[index * args.hidden + column];
        for (int part = 1; part < parts; ++part)
            sum += workspace.products[part * stride + index * args.hidden + column];
        args.out[row * args.hidden + column] = sum * scale;
    }
}

bool isAllowed(const SelfConditionArgs &args)
{
    const std::int64_t batchRows = batchRowsOf(args);
    return args.canvas.rows >= 0 && args.firstRow >= 0 && args.firstRow + args.canvas.rows <= batchRows &&
           batchRows <= 65535 && args.canvas.vocabSize > 0 && args.canvas.vocabSize % 8 == 0 && args.hidden > 0 &&
           args.hidden % 8 == 0 && args.table != nullptr && args.out != nullptr && args.workspace != nullptr;
}

} // namespace

std::int64_t selfConditionWorkspace(std::int64_t rows, std::int64_t vocabSize, std::int64_t hidden)
{
    return WorkspaceSizes(rows, vocabSize, hidden).total();
}

cudaError_t selfConditionRows(const SelfConditionArgs &args, cudaStream_t stream)
{
    const CanvasLogits &canvas = args.canvas;
    if (!isAllowed(args) || canvas.logits == nullptr || canvas.settings == nullptr || canvas.workspace == nullptr)
        return cudaErrorInvalidValue;
    if (canvas.rows == 0)
        return cudaSuccess;
    const Workspace workspace = workspaceOf(args);
    const auto rows = static_cast<unsigned>(canvas.rows);
    const cudaError_t status =
        launchDependent(gatherKernel, {.grid = dim3(rows), .threads = kSampleThreads}, stream, args, workspace);
    if (status != cudaSuccess)
        return status;
    // Eight blocks a row: enough to fill a device with 132 multiprocessors from 17 rows on.
    constexpr unsigned kBlocksOfRow = 8;
    return launchDependent(weightsKernel, {.grid = dim3(kBlocksOfRow, rows), .threads = kSampleThreads}, stream, args,
                           workspace, batchRowsOf(args));
}

cudaError_t selfConditionProduct(const SelfConditionArgs &args, cudaStream_t stream)
{
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    const std::int64_t batchRows = batchRowsOf(args);
    if (batchRows == 0)
        return cudaSuccess;
    const Workspace workspace = workspaceOf(args);
    const int parts = denseGemmParts(args.hidden, args.canvas.vocabSize, WeightLayout::InputMajor);
    const auto multiply = [&](std::int64_t rows, const std::int32_t *count) {
        return denseGemm({.rows = rows,
                          .outputs = args.hidden,
                          .inputs = args.canvas.vocabSize,
                          .x = workspace.weights,
                          .weight = args.table,
                          .layout = WeightLayout::InputMajor,
                          .epilogue = GemmEpilogue::Float,
                          .out = workspace.products,
                          .parts = parts,
                          .activeRows = count},
                         stream);
    };
    cudaError_t status = multiply(batchRows, &workspace.counts->many);
    if (status == cudaSuccess && kFewRows < batchRows)
        status = multiply(kFewRows, &workspace.counts->few);
    if (status != cudaSuccess)
        return status;
    return launchDependent(scatterKernel, {.grid = dim3(static_cast<unsigned>(batchRows)), .threads = kSampleThreads},
                           stream, args, workspace, batchRows, parts);
}

cudaError_t selfCondition(const SelfConditionArgs &args, cudaStream_t stream)
{
    const cudaError_t status = selfConditionRows(args, stream);
    return status == cudaSuccess ? selfConditionProduct(args, stream) : status;
}

} // namespace palimpsest::kernels
