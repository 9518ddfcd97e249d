// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/fp32_gemm.h"

#include "kernels/gelu.cuh"
#include "kernels/launch.h"
#include "kernels/ptx.cuh"

namespace palimpsest::kernels {

namespace {

// 64 x 64 outputs a block, 4 x 4 a thread, 32 inputs at a time.
constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kThreads = 256;
constexpr int kEach = kTile * kDepth / kThreads; // elements of each operand that a thread fetches
constexpr int kPitch = kTile + 4; // float4 reads stay aligned, columns written side by side fall into different banks

/// The weight's row that is column `column` of the tile: gated, a tile is 32 columns of the gate and the same of up.
template <bool kGated>
__device__ std::int64_t weightRow(const Fp32GemmArgs &args, int column)
{
    const std::int64_t tile = blockIdx.x;
    if constexpr (!kGated)
        return tile * kTile + column;
    const std::int64_t inner = args.outputs / 2;
    const std::int64_t place = tile * (kTile / 2) + column % (kTile / 2);
    if (place >= inner)
        return args.outputs; // nobody's
    return column < kTile / 2 ? place : inner + place;
}

/// Where element `at` of the weight's tile goes: neighbouring threads read neighbouring elements in either layout.
struct Place
{
    int column;
    int k;
};

template <WeightLayout kLayout>
__device__ Place placeOf(int at)
{
    return kLayout == WeightLayout::OutputMajor ? Place{at / kDepth, at % kDepth} : Place{at % kTile, at / kTile};
}

/// A thread's rows are 4 ty + i, its columns 2 tx, 2 tx + 1, 32 + 2 tx, 33 + 2 tx.
template <WeightLayout kLayout, bool kGated>
__global__ __launch_bounds__(kThreads) void fp32GemmKernel(const Fp32GemmArgs args)
{
    ptx::beginDependent();
    __shared__ __align__(16) float x[kDepth][kPitch];
    __shared__ __align__(16) float weight[kDepth][kPitch];
    const int thread = static_cast<int>(threadIdx.x);
    const int tx = thread % 16;
    const int ty = thread / 16;
    const std::int64_t firstRow = static_cast<std::int64_t>(blockIdx.y) * kTile;
    float sum[4][4] = {};
    float nextX[kEach];
    float nextWeight[kEach];
    const auto fetch = [&](std::int64_t first) {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int at = thread + i * kThreads;
            const std::int64_t row = firstRow + at / kDepth;
            const std::int64_t k = first + at % kDepth;
            nextX[i] = row < args.rows && k < args.inputs ? args.x[row * args.inputs + k] : 0.0F;
        }
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const Place place = placeOf<kLayout>(thread + i * kThreads);
            const std::int64_t output = weightRow<kGated>(args, place.column);
            const std::int64_t input = first + place.k;
            const bool inside = output < args.outputs && input < args.inputs;
            const std::int64_t source =
                kLayout == WeightLayout::OutputMajor ? output * args.inputs + input : input * args.outputs + output;
            nextWeight[i] = inside ? ptx::fromBf16(args.weight[source]) : 0.0F;
        }
    };
    fetch(0);
    for (std::int64_t first = 0; first < args.inputs; first += kDepth) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int at = thread + i * kThreads;
            x[at % kDepth][at / kDepth] = nextX[i];
            const Place place = placeOf<kLayout>(at);
            weight[place.k][place.column] = nextWeight[i];
        }
        __syncthreads();
        if (first + kDepth < args.inputs)
            fetch(first + kDepth); // under way while this tile is multiplied
#pragma unroll
        for (int k = 0; k < kDepth; ++k) {
            const float4 rows = *reinterpret_cast<const float4 *>(&x[k][4 * ty]);
            const float2 low = *reinterpret_cast<const float2 *>(&weight[k][2 * tx]);
            const float2 high = *reinterpret_cast<const float2 *>(&weight[k][kTile / 2 + 2 * tx]);
            const float ofRow[4] = {rows.x, rows.y, rows.z, rows.w};
            const float ofColumn[4] = {low.x, low.y, high.x, high.y};
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    sum[i][j] = fmaf(ofRow[i], ofColumn[j], sum[i][j]);
        }
    }
    const std::int64_t outputs = kGated ? args.outputs / 2 : args.outputs;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const std::int64_t row = firstRow + 4 * ty + i;
        if (row >= args.rows)
            continue;
#pragma unroll
        for (int j = 0; j < (kGated ? 2 : 4); ++j) {
            const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * (kGated ? kTile / 2 : kTile) +
                                        j / 2 * (kTile / 2) + 2 * tx + j % 2;
            if (column < outputs)
                args.out[row * outputs + column] = kGated ? preciseGeluTanh(sum[i][j]) * sum[i][j + 2] : sum[i][j];
        }
    }
}

template <WeightLayout kLayout, bool kGated>
cudaError_t launch(const Fp32GemmArgs &args, cudaStream_t stream)
{
    const std::int64_t outputs = kGated ? args.outputs / 2 : args.outputs;
    const int tile = kGated ? kTile / 2 : kTile;
    const dim3 grid(static_cast<unsigned>((outputs + tile - 1) / tile),
                    static_cast<unsigned>((args.rows + kTile - 1) / kTile));
    return launchDependent(fp32GemmKernel<kLayout, kGated>, {.grid = grid, .threads = kThreads}, stream, args);
}

} // namespace

cudaError_t fp32Gemm(const Fp32GemmArgs &args, cudaStream_t stream)
{
    if (args.rows < 0 || args.rows > 65535 * kTile || args.outputs <= 0 || args.outputs > INT32_MAX ||
        args.inputs <= 0 || args.x == nullptr || args.weight == nullptr || args.out == nullptr ||
        (args.gated && (args.layout != WeightLayout::OutputMajor || args.outputs % 2 != 0)))
        return cudaErrorInvalidValue;
    if (args.rows == 0)
        return cudaSuccess;
    if (args.layout == WeightLayout::InputMajor)
        return launch<WeightLayout::InputMajor, false>(args, stream);
    return args.gated ? launch<WeightLayout::OutputMajor, true>(args, stream)
                      : launch<WeightLayout::OutputMajor, false>(args, stream);
}

} // namespace palimpsest::kernels
