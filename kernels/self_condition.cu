// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/self_condition.h"

#include "kernels/carriers.cuh"
#include "kernels/dense_gemm.h"
#include "kernels/launch.h"
#include "kernels/processed_logits.cuh"
#include "kernels/ptx.cuh"
#include "kernels/vector_aligned.h"

namespace palimpsest::kernels {

namespace {

// Up to this many dense rows in a batch are multiplied by a launch of their own, whose tiles are half as high: it waits
// for the table alone, where 256 rows take as long as their arithmetic.
constexpr std::int64_t kFewRows = 128;

/// How many dense rows all canvases have, for the launch that is to multiply them; the other one finds 0.
struct DenseCounts
{
    std::int32_t few;
    std::int32_t many;
};

/// Scratch memory, for all canvases: see selfConditionWorkspace() for the sizes.
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

Workspace workspaceOf(const SelfConditionArgs &args)
{
    const WorkspaceSizes sizes(args.canvas.allRows(), args.canvas.vocabSize, args.hidden);
    auto *at = static_cast<unsigned char *>(args.workspace);
    Workspace made{};
    made.weights = reinterpret_cast<Bf16 *>(at);
    made.products = reinterpret_cast<float *>(at += sizes.weights);
    made.denseScale = reinterpret_cast<float *>(at += sizes.products);
    made.counts = reinterpret_cast<DenseCounts *>(at + sizes.scales);
    return made;
}

// A block a row: gathers it, or marks it as dense. Grid: rows of a canvas, canvases.
__global__ __launch_bounds__(kSampleThreads) void gatherKernel(const SelfConditionArgs args, const Workspace workspace)
{
    ptx::beginDependent();
    __shared__ Carriers carriers;
    const std::int64_t row = blockIdx.y * args.canvas.rows + blockIdx.x;
    const SampleSettings settings = args.canvas.settings[blockIdx.y];
    int count = 0;
    const bool gathers = listCarriers(args.canvas, settings, row, carriers, count);
    if (threadIdx.x == 0)
        workspace.denseScale[row] = gathers ? 0.0F : 1.0F / sampleWorkspace(args.canvas).rows[row].sum;
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
        auto *out = reinterpret_cast<float4 *>(args.out + row * args.hidden + column);
        out[0] = make_float4(sums[0], sums[1], sums[2], sums[3]);
        out[1] = make_float4(sums[4], sums[5], sums[6], sums[7]);
    }
}

/// How many of the rows before `end` are dense, which is the place of row `end` among them if it is.
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

/// Counts a canvas's dense rows; those behind the last canvas are all.
__device__ void storeCounts(const SelfConditionArgs &args, const Workspace &workspace, std::int64_t canvas)
{
    const int before = denseRowsBefore(workspace.denseScale, canvas * args.canvas.rows);
    const int count = denseRowsBefore(workspace.denseScale, (canvas + 1) * args.canvas.rows);
    if (threadIdx.x != 0)
        return;
    if (args.denseRows != nullptr)
        args.denseRows[canvas] = count - before;
    if (canvas + 1 != args.canvas.canvases)
        return;
    const bool few = count <= kFewRows && kFewRows < args.canvas.allRows();
    *workspace.counts = {few ? count : 0, few ? 0 : count};
}

/// A row's weights as the product takes them: those that hardly count are powers of two. A product with such operands
/// takes a tenth less energy, and so time on a card at its power limit (NOTES.md). Where id i has the probability p_i,
/// rounding all with p_i < 2^-16 p_max^2 by at most 0.36 of themselves adds an error of sqrt(sum (0.36 p_i)^2) <
/// 2^-9.4 p_max: below what bf16 leaves in one weight of the largest's size.
class WeightRounding
{
public:
    __device__ explicit WeightRounding(const RowStats &row) : m_limit(octaveOf(0x1p-16F / row.sum)) {}

    __device__ __forceinline__ float operator()(float weight) const
    {
        // Up from 4 / e times a power of two on: that keeps the sum of weights whose exponents are spread evenly over
        // an octave. Rounded to nearest they would lose 2 % of it.
        constexpr auto kUp = static_cast<std::uint32_t>((2.0 - 4.0 / 2.718281828459045) * 0x1p23);
        const float power = __uint_as_float((__float_as_uint(weight) + kUp) & kExponent);
        return weight < m_limit ? power : weight;
    }

private:
    static constexpr std::uint32_t kExponent = 0x7F800000U;

    /// The power of two not above a number. An octave keeps its sum only as a whole.
    __device__ static float octaveOf(float value) { return __uint_as_float(__float_as_uint(value) & kExponent); }

    float m_limit;
};

/// Stores a lane's eight weights.
__device__ __forceinline__ void storeWeights(Bf16 *to, const WeightRounding &rounding, float (&weights)[8])
{
#pragma unroll
    for (float &weight : weights)
        weight = rounding(weight);
    *reinterpret_cast<uint4 *>(to) =
        make_uint4(ptx::packBf16(weights[0], weights[1]), ptx::packBf16(weights[2], weights[3]),
                   ptx::packBf16(weights[4], weights[5]), ptx::packBf16(weights[6], weights[7]));
}

/// exp(x - maximum) where there is nothing but a soft-cap.
class SoftcappedWeights
{
public:
    __device__ SoftcappedWeights(const Softcap &cap, float maximum) : m_cap(cap), m_distanceOf(cap, maximum) {}

    /// Replaces eight raw logits.
    __device__ __forceinline__ void operator()(float (&values)[8]) const
    {
#pragma unroll
        for (float &value : values)
            value = ptx::exp2Approximate(m_distanceOf(m_cap.reciprocal(value)));
    }

private:
    Softcap m_cap;
    SoftcappedDistance m_distanceOf;
};

// Weights of the dense rows as the operand of the product, without gaps. Grid: blocks that share a row, rows of a
// canvas, canvases.
template <LogitType kType>
__global__ __launch_bounds__(kSampleThreads, 6) void weightsKernel(const SelfConditionArgs args,
                                                                   const Workspace workspace)
{
    ptx::beginDependent();
    const CanvasLogits &canvas = args.canvas;
    const std::int64_t row = blockIdx.z * canvas.rows + blockIdx.y;
    if (blockIdx.x == 0 && blockIdx.y == 0)
        storeCounts(args, workspace, blockIdx.z);
    if (!(workspace.denseScale[row] > 0.0F))
        return;
    Bf16 *const weightsOfRow = workspace.weights + denseRowsBefore(workspace.denseScale, row) * canvas.vocabSize;
    const SampleSettings settings = canvas.settings[blockIdx.z];
    const SampleWorkspace sample = sampleWorkspace(canvas);
    const RowStats stats = sample.rows[row];
    const WeightRounding rounding(stats);
    const SoftcappedWeights weigh(LogitProcessing(canvas, settings).cap, stats.maximum);
    const bool softcapped = canvas.softcap > 0.0F && settings.biasCount == 0;
    constexpr int kAtOnce = 2; // blocks of a warp under way
    const auto stride = static_cast<int>(gridDim.x) * kSampleWarps;
    const auto blocks = static_cast<int>(sample.blockCount);
    const auto wholeBlocks = static_cast<int>(canvas.vocabSize / kLogitBlock);
    for (int first = static_cast<int>(blockIdx.x) * kSampleWarps + static_cast<int>(threadIdx.x) / 32; first < blocks;
         first += kAtOnce * stride) {
        const auto idAt = [&](int i) {
            return static_cast<std::int64_t>(first + i * stride) * kLogitBlock + LogitVector::idOffset(0);
        };
        float weights[8];
        if (softcapped && first + (kAtOnce - 1) * stride < wholeBlocks) {
            PackedLogits<kType> raw[kAtOnce];
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i)
                raw[i] = PackedLogits<kType>::read(canvas, row * canvas.vocabSize + idAt(i));
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                raw[i].unpack(weights);
                weigh(weights);
                storeWeights(weightsOfRow + idAt(i), rounding, weights);
            }
            continue;
        }
#pragma unroll 1
        for (int i = 0; i < kAtOnce && first + i * stride < blocks; ++i) {
            const LogitVector vector = processedBlock(canvas, settings, row, first + i * stride);
#pragma unroll
            for (int element = 0; element < 8; ++element)
                weights[element] = __expf(fmaxf(vector.values[element] - stats.maximum, -100.0F));
            if (idAt(i) < canvas.vocabSize)
                storeWeights(weightsOfRow + idAt(i), rounding, weights);
        }
    }
}

// A block a row: a dense row's parts, added in order, over the row's sum.
__global__ __launch_bounds__(kSampleThreads) void scatterKernel(const SelfConditionArgs args, const Workspace workspace,
                                                                int parts)
{
    ptx::beginDependent();
    const std::int64_t row = blockIdx.x;
    const float scale = workspace.denseScale[row];
    if (!(scale > 0.0F))
        return;
    const std::int64_t index = denseRowsBefore(workspace.denseScale, row);
    const std::int64_t stride = (workspace.counts->few > 0 ? kFewRows : args.canvas.allRows()) * args.hidden;
    for (std::int64_t column = threadIdx.x; column < args.hidden; column += kSampleThreads) {
        float sum = workspace.products[index * args.hidden + column];
        for (int part = 1; part < parts; ++part)
            sum += workspace.products[part * stride + index * args.hidden + column];
        args.out[row * args.hidden + column] = sum * scale;
    }
}

bool isAllowed(const SelfConditionArgs &args)
{
    return isAllowed(args.canvas) && args.hidden > 0 && args.hidden % 8 == 0 && isVectorAligned(args.table) &&
           isVectorAligned(args.out) && isVectorAligned(args.workspace);
}

} // namespace

std::int64_t selfConditionWorkspace(std::int64_t rows, std::int64_t vocabSize, std::int64_t hidden)
{
    return WorkspaceSizes(rows, vocabSize, hidden).total();
}

cudaError_t selfConditionRows(const SelfConditionArgs &args, cudaStream_t stream)
{
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    if (args.canvas.allRows() == 0)
        return cudaSuccess;
    const Workspace workspace = workspaceOf(args);
    const auto rows = static_cast<unsigned>(args.canvas.rows);
    const auto canvases = static_cast<unsigned>(args.canvas.canvases);
    const cudaError_t status = launchDependent(gatherKernel, {.grid = dim3(rows, canvases), .threads = kSampleThreads},
                                               stream, args, workspace);
    if (status != cudaSuccess)
        return status;
    // Eight blocks a row: enough to fill a device with 132 multiprocessors from 17 rows on.
    constexpr unsigned kBlocksOfRow = 8;
    const auto weights =
        args.canvas.type == LogitType::Fp32 ? weightsKernel<LogitType::Fp32> : weightsKernel<LogitType::Fp16>;
    return launchDependent(weights, {.grid = dim3(kBlocksOfRow, rows, canvases), .threads = kSampleThreads}, stream,
                           args, workspace);
}

cudaError_t selfConditionProduct(const SelfConditionArgs &args, cudaStream_t stream)
{
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    const std::int64_t allRows = args.canvas.allRows();
    if (allRows == 0)
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
    cudaError_t status = multiply(allRows, &workspace.counts->many);
    if (status == cudaSuccess && kFewRows < allRows)
        status = multiply(kFewRows, &workspace.counts->few);
    if (status != cudaSuccess)
        return status;
    return launchDependent(scatterKernel, {.grid = dim3(static_cast<unsigned>(allRows)), .threads = kSampleThreads},
                           stream, args, workspace, parts);
}

cudaError_t selfCondition(const SelfConditionArgs &args, cudaStream_t stream)
{
    const cudaError_t status = selfConditionRows(args, stream);
    return status == cudaSuccess ? selfConditionProduct(args, stream) : status;
}

} // namespace palimpsest::kernels
