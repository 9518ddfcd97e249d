// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/dense_gemm.h"

#include "kernels/chip.h"
#include "kernels/dense_gemm_variants.h"
#include "kernels/gelu.cuh"
#include "kernels/ptx.cuh"
#include "kernels/vector_aligned.h"

#include <cstdint>

namespace palimpsest::kernels {

namespace {

// A block computes 128 rows x 64 outputs with four warps, each 32 rows x 64 outputs. Three stages of 32 inputs: 36 KiB,
// so that several blocks share a multiprocessor on every chip. Correct everywhere rather than fast somewhere.
constexpr int kTileRows = 128;
constexpr int kTileOutputs = 64;
constexpr int kTileInputs = 32;
constexpr int kStages = 3;
constexpr int kThreads = 128;
// Rows of both tiles are padded by 16 bytes: eight consecutive ones then lie in different banks.
constexpr int kPitch = kTileInputs + 8;
constexpr int kOutputPitch = kTileOutputs + 8; // of an InputMajor weight's tile [kTileInputs][kTileOutputs]

struct Stage
{
    Bf16 x[kTileRows * kPitch];
    union {
        Bf16 outputMajor[kTileOutputs * kPitch];
        Bf16 inputMajor[kTileInputs * kOutputPitch];
    } weight;
};

struct Range
{
    std::int64_t begin;
    std::int64_t end;
};

/// Inputs of one part: whole tiles, spread evenly.
__device__ Range inputsOfPart(std::int64_t inputs, int part, int parts)
{
    const std::int64_t tiles = (inputs + kTileInputs - 1) / kTileInputs;
    const std::int64_t begin = tiles * part / parts * kTileInputs;
    const std::int64_t end = tiles * (part + 1) / parts * kTileInputs;
    return {begin, end < inputs ? end : inputs};
}

/// The weight's row behind column `local` of this block's tile. A gated tile holds 32 gate columns, then their 32 up
/// ones.
template <GemmEpilogue kEpilogue>
__device__ std::int64_t outputOfColumn(std::int64_t outputs, int local)
{
    if constexpr (kEpilogue == GemmEpilogue::GatedGelu) {
        constexpr int kHalf = kTileOutputs / 2;
        const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kHalf + local % kHalf;
        if (column >= outputs / 2)
            return outputs;
        return column + (local >= kHalf ? outputs / 2 : 0);
    }
    return static_cast<std::int64_t>(blockIdx.x) * kTileOutputs + local;
}

template <WeightLayout kLayout, GemmEpilogue kEpilogue>
__device__ void loadStage(Stage &stage, const DenseGemmArgs &args, std::int64_t rows, std::int64_t firstRow,
                          std::int64_t firstInput, std::int64_t endInput)
{
    constexpr int kChunks = kTileInputs / 8;
    for (int i = static_cast<int>(threadIdx.x); i < kTileRows * kChunks; i += kThreads) {
        const std::int64_t row = firstRow + i / kChunks;
        const std::int64_t input = firstInput + i % kChunks * 8;
        const bool valid = row < rows && input < endInput;
        ptx::copyAsync16(ptx::sharedAddress(stage.x + i / kChunks * kPitch + i % kChunks * 8),
                         valid ? args.x + row * args.inputs + input : args.x, valid);
    }
    if constexpr (kLayout == WeightLayout::OutputMajor) {
        for (int i = static_cast<int>(threadIdx.x); i < kTileOutputs * kChunks; i += kThreads) {
            const std::int64_t output = outputOfColumn<kEpilogue>(args.outputs, i / kChunks);
            const std::int64_t input = firstInput + i % kChunks * 8;
            const bool valid = output < args.outputs && input < endInput;
            ptx::copyAsync16(ptx::sharedAddress(stage.weight.outputMajor + i / kChunks * kPitch + i % kChunks * 8),
                             valid ? args.weight + output * args.inputs + input : args.weight, valid);
        }
    } else {
        constexpr int kOutputChunks = kTileOutputs / 8;
        for (int i = static_cast<int>(threadIdx.x); i < kTileInputs * kOutputChunks; i += kThreads) {
            const std::int64_t output = outputOfColumn<kEpilogue>(args.outputs, i % kOutputChunks * 8);
            const std::int64_t input = firstInput + i / kOutputChunks;
            const bool valid = output < args.outputs && input < endInput;
            ptx::copyAsync16(
                ptx::sharedAddress(stage.weight.inputMajor + i / kOutputChunks * kOutputPitch + i % kOutputChunks * 8),
                valid ? args.weight + input * args.outputs + output : args.weight, valid);
        }
    }
}

// Accumulators of a warp: [row tile of 16][column tile of 8].
using Sums = float[2][kTileOutputs / 8][4];

template <WeightLayout kLayout>
__device__ void multiplyStage(const Stage &stage, Sums &sums)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warpRow = static_cast<int>(threadIdx.x) / 32 * 32;
#pragma unroll
    for (int k = 0; k < kTileInputs; k += 16) {
        std::uint32_t a[2][4];
#pragma unroll
        for (int tile = 0; tile < 2; ++tile)
            ptx::loadMatrix4(
                a[tile], ptx::sharedAddress(stage.x + (warpRow + tile * 16 + lane % 16) * kPitch + k + lane / 16 * 8));
#pragma unroll
        for (int column = 0; column < kTileOutputs; column += 16) {
            std::uint32_t b[4]; // inputs 0-7 and 8-15 of columns 0-7, then of columns 8-15
            if constexpr (kLayout == WeightLayout::OutputMajor)
                ptx::loadMatrix4(b, ptx::sharedAddress(stage.weight.outputMajor +
                                                       (column + lane / 16 * 8 + lane % 8) * kPitch + k +
                                                       lane / 8 % 2 * 8));
            else
                ptx::loadMatrix4Transposed(b, ptx::sharedAddress(stage.weight.inputMajor +
                                                                 (k + lane / 8 % 2 * 8 + lane % 8) * kOutputPitch +
                                                                 column + lane / 16 * 8));
#pragma unroll
            for (int tile = 0; tile < 2; ++tile) {
                ptx::mma16816(sums[tile][column / 8], a[tile], b[0], b[1]);
                ptx::mma16816(sums[tile][column / 8 + 1], a[tile], b[2], b[3]);
            }
        }
    }
}

template <GemmEpilogue kEpilogue>
__device__ void storeSums(const DenseGemmArgs &args, std::int64_t rows, std::int64_t firstRow, int part,
                          const Sums &sums)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warpRow = static_cast<int>(threadIdx.x) / 32 * 32;
    constexpr int kStored = kEpilogue == GemmEpilogue::GatedGelu ? kTileOutputs / 2 : kTileOutputs;
    const std::int64_t width = kEpilogue == GemmEpilogue::GatedGelu ? args.outputs / 2 : args.outputs;
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const std::int64_t row = firstRow + warpRow + tile * 16 + lane / 4 + half * 8;
            if (row >= rows)
                continue;
#pragma unroll
            for (int column = 0; column < kStored; column += 8) {
                const std::int64_t output = static_cast<std::int64_t>(blockIdx.x) * kStored + column + lane % 4 * 2;
                if (output >= width)
                    continue;
                const float first = sums[tile][column / 8][half * 2];
                const float second = sums[tile][column / 8][half * 2 + 1];
                if constexpr (kEpilogue == GemmEpilogue::Float) {
                    float *out = static_cast<float *>(args.out) + (part * args.rows + row) * width + output;
                    *reinterpret_cast<float2 *>(out) = make_float2(first, second);
                } else {
                    std::uint32_t pair = 0;
                    if constexpr (kEpilogue == GemmEpilogue::GatedGelu) {
                        const auto &up = sums[tile][(column + kStored) / 8];
                        pair = ptx::packBf16(geluTanh(first) * up[half * 2], geluTanh(second) * up[half * 2 + 1]);
                    } else {
                        pair = kEpilogue == GemmEpilogue::Fp16 ? ptx::packFp16(first, second)
                                                               : ptx::packBf16(first, second);
                    }
                    *reinterpret_cast<std::uint32_t *>(static_cast<Bf16 *>(args.out) + row * width + output) = pair;
                }
            }
        }
    }
}

__device__ void add(Sums &sums, const Sums &more)
{
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
        for (int column = 0; column < kTileOutputs / 8; ++column) {
#pragma unroll
            for (int i = 0; i < 4; ++i)
                sums[tile][column][i] += more[tile][column][i];
        }
    }
}

template <WeightLayout kLayout, GemmEpilogue kEpilogue, bool kAddParts>
__global__ __launch_bounds__(kThreads) void portableKernel(const DenseGemmArgs args)
{
    __shared__ __align__(16) Stage stages[kStages];
    const std::int64_t rows = args.activeRows == nullptr ? args.rows : min(args.rows, std::int64_t{*args.activeRows});
    const std::int64_t firstRow = static_cast<std::int64_t>(blockIdx.y) * kTileRows;
    if (firstRow >= rows)
        return;
    const auto sumPart = [&](int part, Sums &sums) {
        const Range range = inputsOfPart(args.inputs, part, args.parts);
        const auto load = [&](std::int64_t input, int stage) {
            if (input < range.end)
                loadStage<kLayout, kEpilogue>(stages[stage], args, rows, firstRow, input, range.end);
            ptx::copyAsyncCommit(); // also where nothing is left, so that the groups can be counted
        };
        for (int stage = 0; stage < kStages - 1; ++stage)
            load(range.begin + stage * kTileInputs, stage);
        int stage = 0;
        for (std::int64_t input = range.begin; input < range.end; input += kTileInputs) {
            ptx::copyAsyncWait<kStages - 2>();
            __syncthreads(); // the stage has arrived for all, and the one before it is free
            load(input + (kStages - 1) * kTileInputs, (stage + kStages - 1) % kStages);
            multiplyStage<kLayout>(stages[stage], sums);
            stage = (stage + 1) % kStages;
        }
    };
    const int part = static_cast<int>(blockIdx.z);
    Sums sums{};
    sumPart(part, sums);
    if constexpr (kAddParts) {
        for (int other = 1; other < args.parts; ++other) {
            __syncthreads(); // the stages may still be read
            Sums more{};
            sumPart(other, more);
            add(sums, more);
        }
    }
    storeSums<kEpilogue>(args, rows, firstRow, part, sums);
}

template <WeightLayout kLayout, GemmEpilogue kEpilogue, bool kAddParts = false>
cudaError_t launchPortable(const DenseGemmArgs &args, cudaStream_t stream)
{
    const std::int64_t stored = kEpilogue == GemmEpilogue::GatedGelu ? args.outputs / 2 : args.outputs;
    const int tile = kEpilogue == GemmEpilogue::GatedGelu ? kTileOutputs / 2 : kTileOutputs;
    const dim3 grid(static_cast<unsigned>((stored + tile - 1) / tile),
                    static_cast<unsigned>((args.rows + kTileRows - 1) / kTileRows),
                    static_cast<unsigned>(kAddParts ? 1 : args.parts));
    portableKernel<kLayout, kEpilogue, kAddParts><<<grid, kThreads, 0, stream>>>(args);
    return cudaGetLastError();
}

bool isHopper()
{
    ChipChoices chip;
    return currentChip(chip) == cudaSuccess && chip.wgmma;
}

bool isAllowed(const DenseGemmArgs &args)
{
    const bool gated = args.epilogue == GemmEpilogue::GatedGelu;
    if (args.rows < 0 || args.rows > 65535 * kTileRows || args.outputs <= 0 || args.inputs <= 0 ||
        args.outputs % (gated ? 16 : 8) != 0 || args.inputs % 8 != 0)
        return false;
    if (!isVectorAligned(args.x) || !isVectorAligned(args.weight) || !isVectorAligned(args.out))
        return false;
    if (args.layout != WeightLayout::OutputMajor && (gated || args.epilogue == GemmEpilogue::Fp16))
        return false;
    if (args.epilogue != GemmEpilogue::Float && (args.addParts || args.activeRows != nullptr))
        return false;
    return args.parts == 1 || (args.epilogue == GemmEpilogue::Float &&
                               args.parts == denseGemmParts(args.outputs, args.inputs, args.layout));
}

} // namespace

cudaError_t denseGemmPortable(const DenseGemmArgs &args, cudaStream_t stream)
{
    if (args.addParts)
        return args.layout == WeightLayout::InputMajor
                   ? launchPortable<WeightLayout::InputMajor, GemmEpilogue::Float, true>(args, stream)
                   : launchPortable<WeightLayout::OutputMajor, GemmEpilogue::Float, true>(args, stream);
    if (args.layout == WeightLayout::InputMajor)
        return args.epilogue == GemmEpilogue::Float
                   ? launchPortable<WeightLayout::InputMajor, GemmEpilogue::Float>(args, stream)
                   : launchPortable<WeightLayout::InputMajor, GemmEpilogue::HalfWidth>(args, stream);
    switch (args.epilogue) {
    case GemmEpilogue::Float:
        return launchPortable<WeightLayout::OutputMajor, GemmEpilogue::Float>(args, stream);
    case GemmEpilogue::HalfWidth:
        return launchPortable<WeightLayout::OutputMajor, GemmEpilogue::HalfWidth>(args, stream);
    case GemmEpilogue::Fp16:
        return launchPortable<WeightLayout::OutputMajor, GemmEpilogue::Fp16>(args, stream);
    case GemmEpilogue::GatedGelu:
        return launchPortable<WeightLayout::OutputMajor, GemmEpilogue::GatedGelu>(args, stream);
    }
    return cudaErrorInvalidValue;
}

int denseGemmParts(std::int64_t outputs, std::int64_t inputs, WeightLayout)
{
    // What fills the 132 multiprocessors of an H200 at 256 rows: tall blocks of 128 outputs for the very long sums, of
    // which six parts are enough; else short ones of 64, each part at least 1280 inputs long. More parts make the
    // product itself faster, and cost more to write and to add (NOTES.md).
    constexpr std::int64_t kMultiprocessors = 132;
    constexpr std::int64_t kLong = 32768;
    constexpr std::int64_t kMostParts = 6;
    constexpr std::int64_t kLeastInputs = 1280;
    const std::int64_t blocks = inputs >= kLong ? (outputs + 127) / 128 : (outputs + 63) / 64;
    std::int64_t parts = kMultiprocessors / blocks;
    parts = parts < inputs / kLeastInputs ? parts : inputs / kLeastInputs;
    parts = parts < kMostParts ? parts : kMostParts;
    return parts < 1 ? 1 : static_cast<int>(parts);
}

bool denseGemmAddsParts(std::int64_t rows, std::int64_t outputs, int parts)
{
    return parts > 1 && isHopper() && hopperGemmAddsParts(rows, outputs);
}

cudaError_t denseGemm(const DenseGemmArgs &args, GemmVariant variant, cudaStream_t stream)
{
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    if (args.rows == 0)
        return cudaSuccess;
    if (variant == GemmVariant::Best && isHopper())
        return denseGemmHopper(args, hopperGemmConfig(args.rows, args.outputs, args.parts, args.besideNext), stream);
    return denseGemmPortable(args, stream);
}

cudaError_t denseGemm(const DenseGemmArgs &args, cudaStream_t stream)
{
    return denseGemm(args, GemmVariant::Best, stream);
}

} // namespace palimpsest::kernels
