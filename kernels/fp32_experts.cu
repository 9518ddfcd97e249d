// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/fp32_experts.h"

#include "kernels/gelu.cuh"
#include "kernels/launch.h"
#include "kernels/ptx.cuh"
#include "kernels/vector_aligned.h"
#include "kernels/w4_layout.h"

#include <cuda_fp16.h>

namespace palimpsest::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kPositions = 32; // of one expert at a time
constexpr int kEach = kPositions / (kThreads / kW4BlockRows);
constexpr int kRowPitch = kW4BlockRows + 1;

/// 32 rows of weights and a group of columns; rows as the block has them: tile * 16 + row of the tile.
template <int kGroup>
struct Shared
{
    float weights[kGroup][kRowPitch];
    float inputs[kPositions][kGroup];
    float products[kPositions][kRowPitch]; ///< GateUp: gates and ups meet here
};

/// Widens one block of the layout (w4_layout.h).
template <int kGroup>
__device__ void unpackBlock(const std::uint8_t *block, float (&weights)[kGroup][kRowPitch])
{
    const auto *parameters = reinterpret_cast<const std::uint32_t *>(block + kGroup * 16);
    for (int at = static_cast<int>(threadIdx.x); at < kGroup; at += kThreads) { // 16 bytes each
        const uint4 packed = reinterpret_cast<const uint4 *>(block)[at];
        const std::uint32_t words[4] = {packed.x, packed.y, packed.z, packed.w};
        const int lane = at % 32;
#pragma unroll
        for (int word = 0; word < 4; ++word) {
            const int tile = word & 1;
            const int firstColumn = at / 32 * 32 + (word >> 1) * 16 + (lane & 3) * 2;
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                const std::uint32_t parameter = parameters[(lane >> 2) * 4 + tile * 2 + (r & 1)];
                const float scale = __half2float(__ushort_as_half(static_cast<unsigned short>(parameter & 0xFFFFU)));
                const float minusZero = 64.0F * ptx::highBf16(parameter);
                const int row = tile * 16 + (lane >> 2) + (r & 1) * 8;
                const int column = firstColumn + (r >> 1) * 8;
                const std::uint32_t even = words[word] >> (4 * r) & 15U;
                const std::uint32_t odd = words[word] >> (16 + 4 * r) & 15U;
                weights[column][row] = (static_cast<float>(even) + minusZero) * scale;
                weights[column + 1][row] = (static_cast<float>(odd) + minusZero) * scale;
            }
        }
    }
}

/// Row of the block that lies at tile * 16 + row, W4RowOrder::Plain.
__device__ int plainRow(int row)
{
    return 4 * (row & 7) + 2 * (row >> 4) + ((row >> 3) & 1);
}

/// A block of threads computes 32 rows of one expert's matrix for all positions of that expert.
template <int kGroup, Fp32ExpertProduct kProduct>
__global__ __launch_bounds__(kThreads) void fp32ExpertsKernel(const Fp32ExpertsArgs args, std::int64_t rowBlocks,
                                                              std::int64_t columns, std::int64_t outputs)
{
    ptx::beginDependent();
    extern __shared__ __align__(16) unsigned char memory[];
    auto &shared = *reinterpret_cast<Shared<kGroup> *>(memory);
    const std::int64_t rowBlock = blockIdx.x;
    const std::int64_t expert = blockIdx.y;
    const auto row = static_cast<int>(threadIdx.x) % kW4BlockRows;
    const auto firstOwn = static_cast<int>(threadIdx.x) / kW4BlockRows; // positions firstOwn, firstOwn + 8, ...
    constexpr int kStep = kThreads / kW4BlockRows;
    const std::int64_t groups = columns / kGroup;
    const std::uint8_t *matrix = args.weights + expert * rowBlocks * groups * w4BlockBytes(kGroup);
    const std::int32_t end = args.expertOffsets[expert + 1];
    for (std::int32_t first = args.expertOffsets[expert]; first < end; first += kPositions) {
        const int count = min(end - first, kPositions);
        float sum[kEach] = {};
        for (std::int64_t group = 0; group < groups; ++group) {
            __syncthreads();
            unpackBlock<kGroup>(matrix + (group * rowBlocks + rowBlock) * w4BlockBytes(kGroup), shared.weights);
            for (int i = static_cast<int>(threadIdx.x); i < count * kGroup; i += kThreads) {
                const std::int32_t position = first + i / kGroup;
                const std::int64_t source = kProduct == Fp32ExpertProduct::GateUp
                                                ? args.slots[position] / args.slotsPerToken
                                                : static_cast<std::int64_t>(position);
                shared.inputs[i / kGroup][i % kGroup] = args.input[source * columns + group * kGroup + i % kGroup];
            }
            __syncthreads();
            for (int k = 0; k < kGroup; ++k) {
                const float weight = shared.weights[k][row];
#pragma unroll
                for (int i = 0; i < kEach;
                     ++i) // rows behind the last one are computed from what lies there, not stored
                    sum[i] = fmaf(weight, shared.inputs[firstOwn + i * kStep][k], sum[i]);
            }
        }
        if constexpr (kProduct == Fp32ExpertProduct::Down) {
            const std::int64_t output = rowBlock * kW4BlockRows + plainRow(row);
#pragma unroll
            for (int i = 0; i < kEach; ++i)
                if (firstOwn + i * kStep < count && output < outputs)
                    args.out[args.slots[first + firstOwn + i * kStep] * outputs + output] = sum[i];
        } else {
#pragma unroll
            for (int i = 0; i < kEach; ++i)
                shared.products[firstOwn + i * kStep][row] = sum[i];
            __syncthreads();
            for (int i = static_cast<int>(threadIdx.x); i < count * 16; i += kThreads) {
                const int local = i % 16; // gate row 16 rowBlock + local = + 2 g + tile, its up row eight rows on
                const int place = local % 2 * 16 + local / 2;
                args.out[(first + i / 16) * outputs + rowBlock * 16 + local] =
                    preciseGeluTanh(shared.products[i / 16][place]) * shared.products[i / 16][place + 8];
            }
        }
    }
}

template <int kGroup, Fp32ExpertProduct kProduct>
cudaError_t launch(const Fp32ExpertsArgs &args, cudaStream_t stream)
{
    constexpr bool kIsDown = kProduct == Fp32ExpertProduct::Down;
    const std::int64_t rowBlocks = w4RowBlocks(kIsDown ? args.hidden : 2 * args.inner);
    const std::int64_t columns = kIsDown ? args.inner : args.hidden;
    const std::int64_t outputs = kIsDown ? args.hidden : args.inner;
    const auto kernel = fp32ExpertsKernel<kGroup, kProduct>;
    constexpr int kBytes = sizeof(Shared<kGroup>);
    const cudaError_t set = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    if (set != cudaSuccess)
        return set;
    const dim3 grid(static_cast<unsigned>(rowBlocks), static_cast<unsigned>(args.experts));
    return launchDependent(kernel, {.grid = grid, .threads = kThreads, .sharedBytes = kBytes}, stream, args, rowBlocks,
                           columns, outputs);
}

} // namespace

cudaError_t fp32Experts(const Fp32ExpertsArgs &args, cudaStream_t stream)
{
    if (args.tokens < 0 || args.slotsPerToken < 1 || args.experts < 1 || args.experts > 65535 || args.hidden < 1 ||
        args.hidden % 128 != 0 || args.inner < 1 || args.inner % 64 != 0 ||
        args.tokens > INT32_MAX / args.slotsPerToken || args.hidden > (1 << 20) || args.inner > (1 << 20))
        return cudaErrorInvalidValue;
    if (args.tokens == 0)
        return cudaSuccess;
    if (args.input == nullptr || !isVectorAligned(args.weights) || args.expertOffsets == nullptr ||
        args.slots == nullptr || args.out == nullptr)
        return cudaErrorInvalidValue;
    return args.product == Fp32ExpertProduct::GateUp ? launch<128, Fp32ExpertProduct::GateUp>(args, stream)
                                                     : launch<64, Fp32ExpertProduct::Down>(args, stream);
}

} // namespace palimpsest::kernels
