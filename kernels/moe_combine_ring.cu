// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/moe_combine_ring.h"

// The end of a layer with what it reads fetched by the copy engine (compute capability 9.0 and up). A block takes
// several tokens, and while one is summed and normalised the next ones' rows are under way:
//
//     a token: [four slots and their weights] ... [four slots and their weights] [row of the dense branch, row of x]
//
// Each pair of brackets is a chunk, all of one size; a ring of them and two blocks fill a multiprocessor's shared
// memory. Sums are those of the other form (moe_combine.cu), in the same order.

#include "kernels/bulk_copy.cuh"
#include "kernels/chip.h"
#include "kernels/moe_combine_token.cuh"
#include "kernels/ring_place.cuh"

#include <algorithm>
#include <cstdint>

namespace palimpsest::kernels::combine {

namespace {

// Chosen for 8 slots of 2816 columns on an H200: a token is three chunks, and five fit.
constexpr int kRingVectors = 3; ///< of a thread: rows of up to 3072
constexpr int kRingBlocks = 2;  ///< of a multiprocessor: while one's threads meet, the other's work
constexpr int kSlotsOfChunk = 4;
constexpr int kMostChunks = 8;
constexpr int kAlignment = 128; ///< of chunks

/// Of a chunk, without the slots' weights: four rows of bf16 or two of fp32.
__host__ __device__ constexpr int rowBytesOfChunk(int hidden)
{
    return kSlotsOfChunk * hidden * 2;
}

__host__ __device__ constexpr int chunkBytes(int hidden)
{
    return (rowBytesOfChunk(hidden) + kSlotsOfChunk * 4 + kAlignment - 1) / kAlignment * kAlignment;
}

__host__ __device__ constexpr int chunksOfToken(int slotsPerToken)
{
    return slotsPerToken / kSlotsOfChunk + 1;
}

/// Beside the ring.
struct RingState
{
    std::uint64_t full[kMostChunks];
    Scratch scratch;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// One thread.
__device__ void initBarriers(RingState &state, int chunks)
{
    for (int chunk = 0; chunk < chunks; ++chunk)
        ptx::barrierInit(ptx::sharedAddress(&state.full[chunk]), 1);
    ptx::barrierInitFence();
}

/// Asks the copy engine for the chunks of a block's tokens, in their order; one thread.
class ChunkFeeder
{
public:
    __device__ ChunkFeeder(const MoeCombineArgs &args, const std::uint8_t *ring, const std::uint64_t *full, int chunks)
        : m_args(args),
          m_hidden(static_cast<int>(args.hidden)),
          m_ring(ptx::sharedAddress(ring)),
          m_full(ptx::sharedAddress(full)),
          m_chunks(chunks),
          m_ofToken(chunksOfToken(static_cast<int>(args.slotsPerToken))),
          m_token(blockIdx.x)
    {
    }

    /// As many chunks more, as long as there are tokens.
    __device__ void fetch(int count)
    {
        for (; count > 0 && m_token < m_args.tokens; --count) {
            const std::uint32_t target = m_ring + static_cast<std::uint32_t>(m_place.stage * chunkBytes(m_hidden));
            const std::uint32_t full = m_full + static_cast<std::uint32_t>(m_place.stage) * 8U;
            const bool isLast = m_next + 1 == m_ofToken;
            if (isLast)
                fetchRows(target, full);
            else
                fetchSlots(target, full);
            m_place.advance(m_chunks);
            m_next = isLast ? 0 : m_next + 1;
            m_token += isLast ? gridDim.x : 0;
        }
    }

private:
    __device__ void fetchSlots(std::uint32_t target, std::uint32_t full) const
    {
        constexpr std::uint32_t kWeightBytes = kSlotsOfChunk * 4;
        const std::int64_t slot = m_token * m_args.slotsPerToken + m_next * kSlotsOfChunk;
        const auto rows = static_cast<std::uint32_t>(rowBytesOfChunk(m_hidden));
        ptx::barrierExpect(full, rows + kWeightBytes);
        ptx::copyBulk(target, m_args.slotsBf16 + slot * m_hidden, rows, full, ptx::evictFirstPolicy());
        ptx::copyBulk(target + rows, m_args.slotWeights + slot, kWeightBytes, full, ptx::evictNormalPolicy());
    }

    __device__ void fetchRows(std::uint32_t target, std::uint32_t full) const
    {
        const auto row = static_cast<std::uint32_t>(m_hidden) * 4U;
        const std::int64_t first = m_token * m_hidden;
        ptx::barrierExpect(full, 2 * row);
        ptx::copyBulk(target, m_args.dense + first, row, full, ptx::evictFirstPolicy());
        ptx::copyBulk(target + row, m_args.x + first, row, full, ptx::evictNormalPolicy());
    }

    const MoeCombineArgs &m_args;
    int m_hidden;
    std::uint32_t m_ring; ///< shared addresses
    std::uint32_t m_full;
    int m_chunks;
    int m_ofToken;
    std::int64_t m_token;
    int m_next = 0; ///< chunk of the token
    RingPlace m_place;
};

/// A norm's weight in registers, for all of a block's tokens.
class HeldWeight
{
public:
    __device__ HeldWeight(const float *weight, std::int64_t hidden) : m_values(hidden), m_isOne(weight == nullptr)
    {
        if (!m_isOne)
            m_values.forEach([&](float4 &v, int index) { v = loadVector(weight, index); });
    }

    /// v * inverse * weight.
    __device__ __forceinline__ float4 normalise(const float4 &v, float inverse, int index) const
    {
        const float4 unit = scaled(v, inverse);
        return m_isOne ? unit
                       : multiplied(unit, m_values.values[(index - static_cast<int>(threadIdx.x)) / kRowThreads]);
    }

private:
    RowVectors<kRingVectors> m_values;
    bool m_isOne;
};

struct HeldWeights
{
    HeldWeight dense;
    HeldWeight experts;
    HeldWeight sum;
    HeldWeight following;

    __device__ explicit HeldWeights(const MoeCombineArgs &args)
        : dense(args.denseWeight, args.hidden),
          experts(args.expertWeight, args.hidden),
          sum(args.sumWeight, args.hidden),
          following(args.norms[0].weight, args.hidden)
    {
    }

    __device__ const HeldWeight &next() const { return following; }
    __device__ void await() const {}
};

struct HeldRow
{
    RowVectors<kRingVectors> row;

    __device__ explicit HeldRow(std::int64_t hidden) : row(hidden) {}
    __device__ __forceinline__ float4 at(int, int place) const { return row.values[place]; }
};

/// Takes the chunks as they come; all threads of the block, each what it holds of the rows.
class ChunkReader
{
public:
    __device__ ChunkReader(const std::uint8_t *ring, const RingState &state, int chunks, int hidden)
        : m_ring(ring), m_full(ptx::sharedAddress(state.full)), m_chunks(chunks), m_hidden(hidden)
    {
    }

    /// Adds the next chunk's slots, weighted, in their order.
    __device__ __forceinline__ void addSlots(RowVectors<kRingVectors> &row)
    {
        const std::uint8_t *chunk = next();
        const float4 weights = *reinterpret_cast<const float4 *>(chunk + rowBytesOfChunk(m_hidden));
        const float factors[kSlotsOfChunk] = {weights.x, weights.y, weights.z, weights.w};
#pragma unroll
        for (int slot = 0; slot < kSlotsOfChunk; ++slot) {
            const auto *values = reinterpret_cast<const uint2 *>(chunk + slot * m_hidden * 2);
            row.forEach([&](float4 &v, int index) { v = addScaled(v, widened(values[index]), factors[slot]); });
        }
    }

    /// The next chunk's two rows.
    __device__ __forceinline__ void readRows(RowVectors<kRingVectors> &dense, RowVectors<kRingVectors> &residual)
    {
        const auto *rows = reinterpret_cast<const float *>(next());
        dense.forEach([&](float4 &v, int index) { v = loadVector(rows, index); });
        residual.forEach([&](float4 &v, int index) { v = loadVector(rows + m_hidden, index); });
    }

private:
    __device__ __forceinline__ const std::uint8_t *next()
    {
        ptx::barrierWait(m_full + static_cast<std::uint32_t>(m_place.stage) * 8U, m_place.parity);
        const std::uint8_t *chunk = m_ring + m_place.stage * chunkBytes(m_hidden);
        m_place.advance(m_chunks);
        return chunk;
    }

    const std::uint8_t *m_ring;
    std::uint32_t m_full; ///< shared address
    int m_chunks;
    int m_hidden;
    RingPlace m_place;
};

#endif

__global__ void __launch_bounds__(kRowThreads, kRingBlocks)
    ringKernel(const __grid_constant__ MoeCombineArgs args, const int chunks)
{
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(kAlignment) std::uint8_t ring[];
    __shared__ RingState state;
    const bool isFeeding = threadIdx.x == 0;
    if (isFeeding)
        initBarriers(state, chunks);
    __syncthreads();
    ptx::letNextStart();
    const HeldWeights weights(args);
    ptx::waitForPrevious();
    ChunkFeeder feeder(args, ring, state.full, chunks);
    if (isFeeding)
        feeder.fetch(chunks);
    ChunkReader reader(ring, state, chunks, static_cast<int>(args.hidden));
    const int ofToken = chunksOfToken(static_cast<int>(args.slotsPerToken));
    for (std::int64_t token = blockIdx.x; token < args.tokens; token += gridDim.x) {
        Branches<kRingVectors> branches(args.hidden);
        HeldRow residual(args.hidden);
        branches.experts.forEach([](float4 &v, int) { v = make_float4(0.0F, 0.0F, 0.0F, 0.0F); });
        for (int chunk = 0; chunk + 1 < ofToken; ++chunk)
            reader.addSlots(branches.experts);
        reader.readRows(branches.dense, residual.row);
        branches.denseInverse = branches.dense.inverseRms(args.epsilon, state.scratch[0]);
        if (isFeeding) // all threads have read the token's chunks: they met in the reduction
            feeder.fetch(ofToken);
        finishToken({args, token * args.hidden, state.scratch}, branches, residual, weights);
    }
#endif
}

} // namespace

cudaError_t chunksOfRing(int &chunks, const MoeCombineArgs &args)
{
    constexpr int kSystemBytes = 1024; // of each block
    constexpr int kStateBytes = (static_cast<int>(sizeof(RingState)) + kAlignment - 1) / kAlignment * kAlignment;
    chunks = 0;
    ChipChoices chip;
    int sharedBytes = 0;
    cudaError_t status = currentChip(chip);
    if (status == cudaSuccess)
        status = currentSharedBytes(sharedBytes);
    if (status != cudaSuccess || !chip.combineRing || args.slotsBf16 == nullptr || args.denseParts != 1 ||
        args.slotsPerToken % kSlotsOfChunk != 0 || args.hidden > kRingVectors * 4 * kRowThreads)
        return status;
    const int ofBlock = (sharedBytes + kSystemBytes) / kRingBlocks - kSystemBytes;
    const int most = (ofBlock - kStateBytes) / chunkBytes(static_cast<int>(args.hidden));
    const int least = chunksOfToken(static_cast<int>(args.slotsPerToken));
    chunks = std::min(most, kMostChunks);
    chunks = chunks < least ? 0 : chunks;
    return cudaSuccess;
}

cudaError_t launchRing(const MoeCombineArgs &args, int chunks, cudaStream_t stream)
{
    const int bytes = chunks * chunkBytes(static_cast<int>(args.hidden));
    int multiprocessors = 0;
    cudaError_t status = cudaFuncSetAttribute(ringKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status == cudaSuccess)
        status = currentMultiprocessors(multiprocessors);
    if (status != cudaSuccess)
        return status;
    const auto blocks = std::min<std::int64_t>(args.tokens, std::int64_t{multiprocessors} * kRingBlocks);
    return launchDependent(ringKernel,
                           {.grid = dim3(static_cast<unsigned>(blocks)),
                            .threads = kRowThreads,
                            .sharedBytes = static_cast<std::size_t>(bytes)},
                           stream, args, chunks);
}

} // namespace palimpsest::kernels::combine
