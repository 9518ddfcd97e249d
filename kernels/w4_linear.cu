// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/w4_linear.h"

#include "kernels/chip.h"
#include "kernels/launch.h"
#include "kernels/ptx.cuh"
#include "kernels/vector_aligned.h"

namespace palimpsest::kernels {

namespace {

constexpr std::int64_t kMost = INT32_MAX / 4;
constexpr int kThreads = 256;

/// A part of the inputs is a run of groups, which lie together in memory: a matrix of its own. So parts are experts to
/// the product (w4_product.h), every one of which has all rows: x as [rows * parts, inputs / parts] has part p of row r
/// as row r * parts + p.
struct Parts
{
    std::int32_t *offsets; ///< [parts + 1]
    std::int32_t *slots;   ///< [parts, rows]
    float *sums;           ///< [parts, rows, outputs]
    std::int64_t bytes;
};

Parts layOut(void *workspace, std::int64_t rows, std::int64_t outputs, int parts)
{
    const auto base = reinterpret_cast<std::uintptr_t>(workspace);
    std::int64_t end = 0;
    const auto place = [&](std::int64_t bytes) {
        const std::uintptr_t at = base + static_cast<std::uintptr_t>(end);
        end += (bytes + 255) / 256 * 256;
        return at;
    };
    Parts made{};
    made.offsets = reinterpret_cast<std::int32_t *>(place((parts + 1) * std::int64_t{4}));
    made.slots = reinterpret_cast<std::int32_t *>(place(parts * rows * 4));
    made.sums = reinterpret_cast<float *>(place(parts * rows * outputs * 4));
    made.bytes = end;
    return made;
}

__global__ __launch_bounds__(kThreads) void listKernel(const Parts parts, std::int32_t rows, std::int32_t count)
{
    ptx::beginDependent();
    const std::int32_t position = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x);
    if (position <= count)
        parts.offsets[position] = position * rows;
    if (position < rows * count)
        parts.slots[position] = position % rows * count + position / rows;
}

__global__ __launch_bounds__(kThreads) void addKernel(const W4LinearArgs args, const float *sums, int parts)
{
    ptx::beginDependent();
    const std::int64_t elements = args.rows * args.outputs;
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * 4;
    if (first >= elements)
        return;
    const auto store = [&](std::int64_t at, float value) {
        if (args.outFloat != nullptr)
            args.outFloat[at] = value;
        else
            args.outBf16[at] = ptx::toBf16(value);
    };
    if (elements % 4 != 0) { // the parts are not aligned
        for (std::int64_t at = first; at < min(first + 4, elements); ++at) {
            float sum = sums[at];
            for (int part = 1; part < parts; ++part)
                sum += sums[part * elements + at];
            store(at, sum);
        }
        return;
    }
    float4 sum = *reinterpret_cast<const float4 *>(sums + first);
#pragma unroll 4
    for (int part = 1; part < parts; ++part) {
        const float4 value = *reinterpret_cast<const float4 *>(sums + part * elements + first);
        sum = make_float4(sum.x + value.x, sum.y + value.y, sum.z + value.z, sum.w + value.w);
    }
    if (args.outFloat != nullptr)
        *reinterpret_cast<float4 *>(args.outFloat + first) = sum;
    else
        *reinterpret_cast<uint2 *>(args.outBf16 + first) =
            make_uint2(ptx::packBf16(sum.x, sum.y), ptx::packBf16(sum.z, sum.w));
}

bool isAllowed(const W4LinearArgs &args)
{
    return (args.groupSize == 64 || args.groupSize == 128) && args.inputs > 0 && args.inputs % args.groupSize == 0 &&
           args.inputs <= kMost && args.outputs >= 0 && args.outputs <= kMost && args.rows >= 0 &&
           args.rows <= INT32_MAX && (args.outBf16 != nullptr) != (args.outFloat != nullptr);
}

w4::Problem wholeProblem(const W4LinearArgs &args)
{
    w4::Problem problem;
    problem.weights = args.weights;
    problem.input = args.x;
    problem.out = args.outBf16 != nullptr ? static_cast<void *>(args.outBf16) : args.outFloat;
    problem.outputs = args.outputs;
    problem.positions = static_cast<std::int32_t>(args.rows);
    problem.columns = static_cast<std::int32_t>(args.inputs);
    problem.rowBlocks = static_cast<std::int32_t>(w4RowBlocks(args.outputs));
    return problem;
}

/// Warpgroup products from two dozen rows on, and in parts from 16 on: on an H200 32 rows of 100 MiB and more took 51
/// to 56 us against 68 to 87; 16 rows in parts 45 and 50 us against 50 and 55, in one piece 48 against 42. The
/// variants' bits are the same.
cudaError_t settleVariant(W4LinearArgs &args, int parts)
{
    const std::int64_t manyRows = parts > 1 ? 16 : 24;
    ChipChoices chip;
    const cudaError_t status = currentChip(chip);
    if (status == cudaSuccess && args.variant == W4Variant::Automatic && chip.wgmma && args.rows >= manyRows)
        args.variant = W4Variant::Warpgroup;
    return status;
}

cudaError_t inParts(const W4LinearArgs &args, int count, cudaStream_t stream)
{
    const void *const out = args.outFloat != nullptr ? static_cast<const void *>(args.outFloat) : args.outBf16;
    if (args.rows > INT32_MAX / count || !isVectorAligned(args.workspace) || !isVectorAligned(out))
        return cudaErrorInvalidValue;
    const Parts parts = layOut(args.workspace, args.rows, args.outputs, count);
    const auto blocksFor = [](std::int64_t items) {
        return dim3(static_cast<unsigned>((items + kThreads - 1) / kThreads));
    };
    const auto rows = static_cast<std::int32_t>(args.rows);
    cudaError_t status = launchDependent(listKernel, {.grid = blocksFor(args.rows * count + 1), .threads = kThreads},
                                         stream, parts, rows, static_cast<std::int32_t>(count));
    if (status != cudaSuccess)
        return status;
    w4::Problem problem = wholeProblem(args);
    problem.columns /= count;
    problem.matrixBytes = w4MatrixBytes(args.outputs, problem.columns, args.groupSize);
    problem.expertOffsets = parts.offsets;
    problem.slots = parts.slots;
    problem.experts = count;
    problem.positions *= count;
    problem.gatherInput = 1;
    problem.out = parts.sums;
    status = w4::launchProduct(args.groupSize == 64 ? w4::Product::Plain64Float : w4::Product::Plain128Float, problem,
                               args.variant, stream);
    if (status != cudaSuccess)
        return status;
    return launchDependent(addKernel, {.grid = blocksFor((args.rows * args.outputs + 3) / 4), .threads = kThreads},
                           stream, args, static_cast<const float *>(parts.sums), count);
}

} // namespace

int w4LinearParts(std::int64_t outputs, std::int64_t inputs, std::int64_t groupSize) noexcept
{
    // A multiprocessor keeps up with memory from about six and a half multiplying warps on, 32 rows each: on an H200
    // 896 row blocks reached the copy's rate in one piece, 512 four fifths of it, 256 less than half. A part is at
    // least 512 inputs long, or its sums cost more than they save.
    constexpr std::int64_t kRowBlocksWanted = 132 * 13 / 2;
    constexpr std::int64_t kLeastInputs = 512;
    constexpr std::int64_t kMostParts = 12;
    const std::int64_t rowBlocks = w4RowBlocks(outputs);
    std::int64_t chosen = 1;
    for (std::int64_t parts = 2; parts <= kMostParts && groupSize > 0 && rowBlocks * chosen < kRowBlocksWanted; ++parts)
        if (inputs % (groupSize * parts) == 0 && inputs / parts >= kLeastInputs)
            chosen = parts;
    return static_cast<int>(chosen);
}

std::int64_t w4LinearWorkspaceBytes(std::int64_t rows, std::int64_t outputs, std::int64_t inputs,
                                    std::int64_t groupSize) noexcept
{
    const int parts = w4LinearParts(outputs, inputs, groupSize);
    return parts == 1 ? 0 : layOut(nullptr, rows, outputs, parts).bytes;
}

cudaError_t w4Linear(const W4LinearArgs &given, cudaStream_t stream)
{
    if (!isAllowed(given))
        return cudaErrorInvalidValue;
    if (given.rows == 0 || given.outputs == 0)
        return cudaSuccess;
    W4LinearArgs args = given;
    const int parts = args.workspace != nullptr ? w4LinearParts(args.outputs, args.inputs, args.groupSize) : 1;
    if (const cudaError_t status = settleVariant(args, parts); status != cudaSuccess)
        return status;
    if (parts > 1)
        return inParts(args, parts, stream);
    const bool bf16 = args.outBf16 != nullptr;
    using w4::Product;
    const Product product = args.groupSize == 64 ? (bf16 ? Product::Plain64Bf16 : Product::Plain64Float)
                                                 : (bf16 ? Product::Plain128Bf16 : Product::Plain128Float);
    return w4::launchProduct(product, wholeProblem(args), args.variant, stream);
}

} // namespace palimpsest::kernels
