// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

// The product of 4-bit weights and bf16 tokens behind moeGateUp(), moeDown() and w4Linear().
//
// Weights are the wide operand: a warp owns one block of 32 rows (two tiles of 16) and multiplies it by up to 64
// tokens, so that each nibble crosses memory once and is unpacked once. A thread block of W warps owns W neighbouring
// row blocks and walks over the groups of columns:
//
//     global --(copy engine or cp.async)--> stage: W weight blocks, tokens [<= 64][group] --> registers --> mma
//
// Work items (expert, row tile, token tile) are dealt to a persistent grid in a fixed order; loads run ahead across
// items, so the memory system stays busy during epilogues.
//
// Exactness: (q - zero) / 64 is exact in bf16; its products with bf16 tokens are summed
// in fp32 over a group, and only this sum is multiplied by the group's scale. The order of summation of an output
// depends on `columns` and the group size alone: not on the tokens beside it, the tile sizes or the grid.

#include "kernels/gelu.cuh"
#include "kernels/ptx.cuh"
#include "kernels/w4_product.h"
#include "kernels/w4_schedule.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace palimpsest::kernels::w4 {

constexpr int kTokenPad =
    16; // bytes behind a token's row in a stage: the 8 rows of an ldmatrix fall into different banks

template <int kGroup>
constexpr int kBlockBytes = static_cast<int>(w4BlockBytes(kGroup));

/// A stage is 128 columns: one group or two. Shorter ones cost more in barriers than they save in memory.
constexpr int kStageColumns = 128;
constexpr int kPitch = kStageColumns * 2 + kTokenPad;
constexpr int kPieces = kStageColumns * 2 / 16; // copies of 16 bytes that a token's part of a stage is

template <int kGroup>
constexpr int kStageGroups = kStageColumns / kGroup;

/// Weights [kStageGroups][warps] blocks, then tokens [kTileTokens][kPitch bytes].
template <int kGroup>
__host__ __device__ constexpr int stageWeightBytes(int warps)
{
    return kStageGroups<kGroup> * warps * kBlockBytes<kGroup>;
}

template <int kGroup>
__host__ __device__ constexpr int stageBytes(int warps)
{
    return stageWeightBytes<kGroup>(warps) + kTileTokens * kPitch;
}

__device__ inline int stagesOf(const Problem &problem)
{
    return (problem.columns + kStageColumns - 1) / kStageColumns;
}

template <int kGroup>
__device__ const std::uint8_t *weightsAt(const Problem &problem, const Item &item, int group)
{
    return problem.weights + item.expert * problem.matrixBytes +
           (static_cast<std::int64_t>(group) * problem.rowBlocks + item.firstBlock) * kBlockBytes<kGroup>;
}

__device__ inline std::int32_t inputRow(const Problem &problem, int position)
{
    return problem.gatherInput != 0 ? problem.slots[position] / problem.slotsPerToken : position;
}

__device__ inline __nv_bfloat162 bf16Pair(std::uint32_t bits)
{
    __nv_bfloat162 pair;
    memcpy(&pair, &bits, sizeof pair);
    return pair;
}

/// The A fragment of one tile and 16 columns: (q - zero) / 64 in bf16, exact.
///
/// As bf16, the bits of a byte i are i * 2^-133, subnormal or not. So a nibble needs no exponent put in front, and the
/// upper one of a byte no shift: it is masked and scaled by the multiplication that comes with subtracting the zero
/// point. Integer instructions are what this loop is short of: they issue at half the rate of the others.
__device__ inline void unpack(std::uint32_t (&a)[4], std::uint32_t word, const __nv_bfloat162 (&zeros)[2])
{
    constexpr std::uint32_t kLowNibble = 0x7F007F00U;  // twice 2^127: 2^-133 becomes 1 / 64
    constexpr std::uint32_t kHighNibble = 0x7D007D00U; // twice 2^123
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        const std::uint32_t byte = r < 2 ? word : word >> 8;
        const std::uint32_t nibbles = byte & (r % 2 == 0 ? 0x000F000FU : 0x00F000F0U);
        const __nv_bfloat162 pair =
            __hfma2(bf16Pair(nibbles), bf16Pair(r % 2 == 0 ? kLowNibble : kHighNibble), zeros[r & 1]);
        memcpy(&a[r], &pair, sizeof pair);
    }
}

__device__ inline float scaleOf(std::uint32_t parameter)
{
    constexpr float kUnpackedOver = 64.0F; // unpack() gives 64ths
    return kUnpackedOver * __half2float(__ushort_as_half(static_cast<unsigned short>(parameter & 0xFFFFU)));
}

/// -zero / 64, twice.
__device__ inline __nv_bfloat162 zeroOf(std::uint32_t parameter)
{
    return bf16Pair(__byte_perm(parameter, 0, 0x3232));
}

/// total[tile][n][c] += scale * (one group of columns): c as in the C fragment of mma.m16n8k16, rows are weights' rows.
template <int kGroup, int kTiles>
__device__ void multiplyGroup(float (&total)[2][kTiles][4], const std::uint8_t *block, std::uint32_t tokens, int lane)
{
    const uint4 packed = reinterpret_cast<const uint4 *>(block + kGroup * 16)[lane >> 2];
    const std::uint32_t parameters[2][2] = {{packed.x, packed.y}, {packed.z, packed.w}};
    const __nv_bfloat162 zeros[2][2] = {{zeroOf(packed.x), zeroOf(packed.y)}, {zeroOf(packed.z), zeroOf(packed.w)}};
    float sum[2][kTiles][4] = {};
    const std::uint32_t address = tokens + (lane & 7) * kPitch + (lane >> 3) * 16;
#pragma unroll
    for (int k = 0; k < kGroup / 32; ++k) {
        const uint4 nibbles = reinterpret_cast<const uint4 *>(block)[k * 32 + lane];
        std::uint32_t a[2][2][4]; // [16 columns][tile]
        unpack(a[0][0], nibbles.x, zeros[0]);
        unpack(a[0][1], nibbles.y, zeros[1]);
        unpack(a[1][0], nibbles.z, zeros[0]);
        unpack(a[1][1], nibbles.w, zeros[1]);
#pragma unroll
        for (int n = 0; n < kTiles; ++n) {
            std::uint32_t b[4]; // 32 columns of 8 tokens
            ptx::loadMatrix4(b, address + n * 8 * kPitch + k * 64);
            ptx::mma16816(sum[0][n], a[0][0], b[0], b[1]);
            ptx::mma16816(sum[1][n], a[0][1], b[0], b[1]);
            ptx::mma16816(sum[0][n], a[1][0], b[2], b[3]);
            ptx::mma16816(sum[1][n], a[1][1], b[2], b[3]);
        }
    }
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
        const float scales[2] = {scaleOf(parameters[tile][0]), scaleOf(parameters[tile][1])};
#pragma unroll
        for (int n = 0; n < kTiles; ++n) {
#pragma unroll
            for (int c = 0; c < 4; ++c)
                total[tile][n][c] = fmaf(sum[tile][n][c], scales[c >> 1], total[tile][n][c]);
        }
    }
}

// An epilogue stores what a lane has of an item's sums; `Places` is what it has to look up for that, early if it can.

/// gelu(gate) * up as bf16; W4RowOrder::GateUp. `out` is [positions, outputs], outputs = half of the weights' rows.
struct GateUpEpilogue
{
    template <int kTiles>
    struct Places
    {
        __device__ Places(const Problem &, const Item &, int) {}
    };

    template <int kTiles>
    __device__ static void store(const Problem &problem, const Item &item, int block, const Places<kTiles> &,
                                 const float (&total)[2][kTiles][4], int lane)
    {
        const int column = block * 16 + (lane >> 2) * 2;
        auto *out = static_cast<Bf16 *>(problem.out);
#pragma unroll
        for (int n = 0; n < kTiles; ++n) {
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                const int token = n * 8 + (lane & 3) * 2 + c;
                if (token >= item.tokens)
                    continue;
                *reinterpret_cast<std::uint32_t *>(out + (item.firstPosition + token) * problem.outputs + column) =
                    ptx::packBf16(geluTanh(total[0][n][c]) * total[0][n][c + 2],
                                  geluTanh(total[1][n][c]) * total[1][n][c + 2]);
            }
        }
    }
};

template <typename Out>
__device__ Out converted(float value)
{
    if constexpr (sizeof(Out) == sizeof(float))
        return value;
    else
        return ptx::toBf16(value);
}

/// The product itself, as fp32 or bf16; W4RowOrder::Plain.
template <typename Out>
struct PlainEpilogue
{
    /// The output's rows.
    template <int kTiles>
    struct Places
    {
        std::int32_t rows[kTiles][2];

        __device__ Places(const Problem &problem, const Item &item, int lane)
        {
#pragma unroll
            for (int n = 0; n < kTiles; ++n) {
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    const int token = n * 8 + (lane & 3) * 2 + c;
                    const int position = item.firstPosition + min(token, item.tokens - 1);
                    rows[n][c] = problem.scatterOutput != 0 ? problem.slots[position] : position;
                }
            }
        }
    };

    template <int kTiles>
    __device__ static void store(const Problem &problem, const Item &item, int block, const Places<kTiles> &places,
                                 const float (&total)[2][kTiles][4], int lane)
    {
        struct alignas(4 * sizeof(Out)) Four
        {
            Out value[4];
        };
        const std::int64_t column = block * kW4BlockRows + (lane >> 2) * 4;
        const bool whole = problem.outputs % 4 == 0 && column + 4 <= problem.outputs;
#pragma unroll
        for (int n = 0; n < kTiles; ++n) {
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                if (n * 8 + (lane & 3) * 2 + c >= item.tokens)
                    continue;
                Out *out = static_cast<Out *>(problem.out) +
                           static_cast<std::int64_t>(places.rows[n][c]) * problem.outputs + column;
                const Four four = {{converted<Out>(total[0][n][c]), converted<Out>(total[0][n][c + 2]),
                                    converted<Out>(total[1][n][c]), converted<Out>(total[1][n][c + 2])}};
                if (whole) {
                    *reinterpret_cast<Four *>(out) = four;
                } else {
                    for (int i = 0; i < 4; ++i)
                        if (column + i < problem.outputs)
                            out[i] = four.value[i];
                }
            }
        }
    }
};

/// One item's products; `feed` hands out the stages in order.
template <int kGroup, int kTiles, typename Epilogue, typename Feed>
__device__ void consumeItem(const Problem &problem, const Item &item, Feed &feed, int warp, int lane)
{
    using Places = typename Epilogue::template Places<kTiles>;
    // With few tokens there are registers for what the epilogue looks up: its latency passes behind the products.
    constexpr bool kEarly = kTiles <= 4;
    const int groups = problem.columns / kGroup;
    const bool busy = warp < item.blocks;
    float total[2][kTiles][4] = {};
    const auto multiply = [&] {
        for (int first = 0; first < groups; first += kStageGroups<kGroup>) {
            const std::uint8_t *stage = feed.acquire();
            const std::uint8_t *block = stage + warp * kBlockBytes<kGroup>;
            const std::uint32_t tokens = ptx::sharedAddress(stage + stageWeightBytes<kGroup>(problem.warps));
            if (busy) {
                multiplyGroup<kGroup, kTiles>(total, block, tokens, lane);
                if (kStageGroups<kGroup> == 2 && first + 1 < groups)
                    multiplyGroup<kGroup, kTiles>(total, block + problem.warps * kBlockBytes<kGroup>,
                                                  tokens + kGroup * 2, lane);
            }
            feed.release();
        }
    };
    if constexpr (kEarly) {
        const Places places(problem, item, lane);
        multiply();
        if (busy)
            Epilogue::store(problem, item, item.firstBlock + warp, places, total, lane);
    } else {
        multiply();
        if (busy)
            Epilogue::store(problem, item, item.firstBlock + warp, Places(problem, item, lane), total, lane);
    }
}

/// The smallest instantiated number of token tiles that holds the item: fewer tiles, fewer wasted products.
template <int kGroup, typename Epilogue, typename Feed>
__device__ void consume(const Problem &problem, const Item &item, Feed &feed, int warp, int lane)
{
    switch ((item.tokens + 7) / 8) {
    case 1:
        return consumeItem<kGroup, 1, Epilogue>(problem, item, feed, warp, lane);
    case 2:
        return consumeItem<kGroup, 2, Epilogue>(problem, item, feed, warp, lane);
    case 3:
        return consumeItem<kGroup, 3, Epilogue>(problem, item, feed, warp, lane);
    case 4:
        return consumeItem<kGroup, 4, Epilogue>(problem, item, feed, warp, lane);
    case 5:
    case 6:
        return consumeItem<kGroup, 6, Epilogue>(problem, item, feed, warp, lane);
    default:
        return consumeItem<kGroup, 8, Epilogue>(problem, item, feed, warp, lane);
    }
}

/// Calls launch.operator()<group size, epilogue>() for a product.
template <typename Launch>
cudaError_t launchFor(Product product, Launch launch)
{
    switch (product) {
    case Product::GateUp128:
        return launch.template operator()<128, GateUpEpilogue>();
    case Product::Plain64Bf16:
        return launch.template operator()<64, PlainEpilogue<Bf16>>();
    case Product::Plain64Float:
        return launch.template operator()<64, PlainEpilogue<float>>();
    case Product::Plain128Bf16:
        return launch.template operator()<128, PlainEpilogue<Bf16>>();
    case Product::Plain128Float:
        return launch.template operator()<128, PlainEpilogue<float>>();
    }
    return cudaErrorInvalidValue;
}

} // namespace palimpsest::kernels::w4
