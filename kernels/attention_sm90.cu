// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/attention_parts.cuh"
#include "kernels/attention_variants.h"
#include "kernels/bulk_copy.cuh"
#include "kernels/chip.h"
#include "kernels/launch.h"
#include "kernels/ptx.cuh"
#include "kernels/ptx_wgmma.cuh"
#include "kernels/reduce.cuh"
#include "kernels/tensor_map.h"

namespace palimpsest::kernels {

namespace {

// A block takes 64 queries of one head. One producer warp fetches pages of keys and values in boxes of 64 rows x 64
// columns; a warpgroup computes scores (64 x 64, wgmma from shared memory), turns them into probabilities in its
// registers and multiplies them with the values (wgmma, probabilities from registers). Two warpgroups share the
// output's columns where one could not hold them (512); each computes all scores, which costs less than passing them
// on. Or, where there are blocks enough, two take 64 queries each and share what is fetched: one's softmax runs beside
// the other's products.
constexpr int kTileQueries = 64;
constexpr int kBoxBytes = 64 * 128;

/// kD: head size rounded up to 64, 128, 256 or 512; what lies behind the head size reads as zero.
template <int kHeadDim, int kTilesOfQueries = 1>
struct HopperShape
{
    static constexpr int kD = kHeadDim;
    static constexpr int kTiles = kTilesOfQueries; ///< of 64 queries, a warpgroup each
    static constexpr int kQueries = kTiles * kTileQueries;
    static constexpr int kColumnGroups = kD > 256 ? 2 : 1;
    static constexpr int kGroups = kTiles * kColumnGroups;
    static constexpr int kColumns = kD / kColumnGroups; ///< of the output, for a warpgroup
    static constexpr int kBoxes = kD / 64;
    static constexpr int kTileBytes = kBoxes * kBoxBytes;
    static constexpr int kStages = kD > 256 ? 1 : 2; // pages under way: 192 KiB or 160 KiB at the largest sizes
    // One producer warp; beside two warpgroups a whole one, which hands its registers to them.
    static constexpr int kThreads = kGroups * 128 + (kGroups == 2 ? 128 : 32);
    static constexpr int kBarriers = 1 + 4 * kStages;
    static constexpr int kSharedBytes = 1024 + (kTiles + 2 * kStages) * kTileBytes + kBarriers * 8;
    static_assert(kGroups <= 2);
    static_assert(kColumns % 64 == 0 && kColumns <= 256, "whole boxes, one wgmma wide");
};

/// Tensor maps: [rows of 64 positions, headDim] of each pool, and of the queries.
struct AttentionMaps
{
    CUtensorMap queries;
    CUtensorMap cacheKeys;
    CUtensorMap cacheValues;
    CUtensorMap scratchKeys;
    CUtensorMap scratchValues;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Where one page lies, and which of its slots count.
struct PageSpan
{
    bool cached;
    int mapRow;   ///< first row of its keys in the pool's map
    int first;    ///< position of slot 0
    int validEnd; ///< slots at or behind it hold nothing
};

/// Positions [begin, end) that a query sees.
struct Visible
{
    int begin;
    int end;
};

template <typename Shape>
struct Shared
{
    std::uint32_t base;

    __device__ std::uint32_t queries(int tile) const
    {
        return base + static_cast<std::uint32_t>(tile) * Shape::kTileBytes;
    }
    __device__ std::uint32_t keys(int stage) const
    {
        return base + static_cast<std::uint32_t>(Shape::kTiles + stage) * Shape::kTileBytes;
    }
    __device__ std::uint32_t values(int stage) const { return keys(Shape::kStages + stage); }
    __device__ std::uint32_t barrier(int index) const
    {
        return keys(2 * Shape::kStages) + static_cast<std::uint32_t>(index) * 8U;
    }
    __device__ std::uint32_t queriesFull() const { return barrier(0); }
    __device__ std::uint32_t keysFull(int stage) const { return barrier(1 + stage); }
    __device__ std::uint32_t keysEmpty(int stage) const { return barrier(1 + Shape::kStages + stage); }
    __device__ std::uint32_t valuesFull(int stage) const { return barrier(1 + 2 * Shape::kStages + stage); }
    __device__ std::uint32_t valuesEmpty(int stage) const { return barrier(1 + 3 * Shape::kStages + stage); }

    __device__ void init() const
    {
        ptx::barrierInit(queriesFull(), Shape::kTiles);
        for (int stage = 0; stage < Shape::kStages; ++stage) {
            ptx::barrierInit(keysFull(stage), 1);
            ptx::barrierInit(valuesFull(stage), 1);
            ptx::barrierInit(keysEmpty(stage), Shape::kGroups);
            ptx::barrierInit(valuesEmpty(stage), Shape::kGroups);
        }
        ptx::barrierInitFence();
    }
};

template <typename Shape>
__device__ void fetchTile(std::uint32_t target, const CUtensorMap &map, std::uint32_t barrier, int firstColumn, int row)
{
    ptx::barrierExpect(barrier, Shape::kTileBytes);
    for (int box = 0; box < Shape::kBoxes; ++box)
        ptx::copyBox2(target + static_cast<std::uint32_t>(box) * kBoxBytes, &map, barrier, firstColumn + box * 64, row);
}

template <typename Shape, typename PageAt>
__device__ void produceTiles(const AttentionMaps &maps, Shared<Shape> shared, int queryColumn, int queryRow, int pages,
                             PageAt pageAt)
{
    for (int tile = 0; tile < Shape::kTiles; ++tile)
        fetchTile<Shape>(shared.queries(tile), maps.queries, shared.queriesFull(), queryColumn,
                         queryRow + tile * kTileQueries);
    int stage = 0;
    std::uint32_t parity = 1;
    for (int i = 0; i < pages; ++i) {
        const PageSpan page = pageAt(i);
        ptx::barrierWait(shared.keysEmpty(stage), parity);
        fetchTile<Shape>(shared.keys(stage), page.cached ? maps.cacheKeys : maps.scratchKeys, shared.keysFull(stage), 0,
                         page.mapRow);
        ptx::barrierWait(shared.valuesEmpty(stage), parity);
        fetchTile<Shape>(shared.values(stage), page.cached ? maps.cacheValues : maps.scratchValues,
                         shared.valuesFull(stage), 0, page.mapRow);
        if (++stage == Shape::kStages) {
            stage = 0;
            parity ^= 1U;
        }
    }
}

/// A warpgroup's part of the output and the softmax of its rows lane / 4 and lane / 4 + 8 of each warp's 16; its tile
/// of queries or its half of the columns.
template <typename Shape>
struct QueryTile
{
    float output[Shape::kColumns / 2];
    float maximum[2];
    float sum[2];

    __device__ static int group() { return static_cast<int>(threadIdx.x) / 128; }
    __device__ static int queryTile() { return Shape::kTiles > 1 ? group() : 0; }
    __device__ static int columnGroup() { return Shape::kTiles > 1 ? 0 : group(); }
    __device__ static int rowOf(int i)
    {
        return queryTile() * kTileQueries + static_cast<int>(threadIdx.x) % 128 / 32 * 16 +
               static_cast<int>(threadIdx.x) % 32 / 4 + i * 8;
    }

    /// Scores to probabilities, packed as wgmma's left operand; rescales what was summed before. A row that sees
    /// nothing of the page keeps its state exactly: factor 1, probabilities 0.
    __device__ void weigh(float (&scores)[32], const PageSpan &page, const Visible (&visible)[2],
                          std::uint32_t (&probabilities)[4][4])
    {
        constexpr float kLog2E = 1.44269504F;
        const int slot = static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int begin = visible[i].begin - page.first;
            const int end = min(visible[i].end, page.validEnd) - page.first;
            float largest = maximum[i];
#pragma unroll
            for (int j = 0; j < 8; ++j) {
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    const int key = j * 8 + slot + c;
                    float &score = scores[j * 4 + i * 2 + c];
                    if (key < begin || key >= end)
                        score = -INFINITY;
                    largest = fmaxf(largest, score);
                }
            }
            largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, 1));
            largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, 2));
            const float reference = largest == -INFINITY ? 0.0F : largest * kLog2E;
            // Not contracted: an unchanged maximum must give exactly 1.
            const float factor = exp2f(__fmul_rn(maximum[i], kLog2E) - reference);
            maximum[i] = largest;
            float added = 0.0F;
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                const float first = exp2f(fmaf(scores[j * 4 + i * 2], kLog2E, -reference));
                const float second = exp2f(fmaf(scores[j * 4 + i * 2 + 1], kLog2E, -reference));
                added += first + second;
                probabilities[j / 2][j % 2 * 2 + i] = ptx::packBf16(first, second);
            }
            sum[i] = sum[i] * factor + added;
#pragma unroll
            for (int j = 0; j < Shape::kColumns / 8; ++j) {
                output[j * 4 + i * 2] *= factor;
                output[j * 4 + i * 2 + 1] *= factor;
            }
        }
    }

    template <typename PageAt>
    __device__ void consume(Shared<Shape> shared, int pages, const Visible (&visible)[2], PageAt pageAt)
    {
        const bool releases = threadIdx.x % 128 == 0;
        const std::uint32_t queries = shared.queries(queryTile());
#pragma unroll
        for (float &value : output)
            value = 0.0F;
        for (int i = 0; i < 2; ++i) {
            maximum[i] = -INFINITY;
            sum[i] = 0.0F;
        }
        int stage = 0;
        std::uint32_t parity = 0;
        ptx::barrierWait(shared.queriesFull(), 0);
        for (int i = 0; i < pages; ++i) {
            float scores[32];
#pragma unroll
            for (float &score : scores)
                score = 0.0F;
            ptx::barrierWait(shared.keysFull(stage), parity);
            ptx::wgmmaFence();
#pragma unroll
            for (std::uint32_t k = 0; k < Shape::kD / 16; ++k) {
                const std::uint32_t place = k / 4 * kBoxBytes + k % 4 * 32;
                ptx::wgmma64x64x16(scores, ptx::swizzledMatrix(queries + place),
                                   ptx::swizzledMatrix(shared.keys(stage) + place));
            }
            ptx::wgmmaCommit();
            ptx::wgmmaWait<0>();
            if (releases)
                ptx::barrierArrive(shared.keysEmpty(stage));
            std::uint32_t probabilities[4][4];
            weigh(scores, pageAt(i), visible, probabilities);
            ptx::barrierWait(shared.valuesFull(stage), parity);
            ptx::wgmmaFence();
            const std::uint32_t values =
                shared.values(stage) + static_cast<std::uint32_t>(columnGroup() * Shape::kColumns / 64) * kBoxBytes;
#pragma unroll
            for (std::uint32_t k = 0; k < 4; ++k)
                ptx::wgmmaColumns(output, probabilities[k], ptx::swizzledColumns(values + k * 16 * 128));
            ptx::wgmmaCommit();
            ptx::wgmmaWait<0>();
            if (releases)
                ptx::barrierArrive(shared.valuesEmpty(stage));
            if (++stage == Shape::kStages) {
                stage = 0;
                parity ^= 1U;
            }
        }
        for (float &value : sum) {
            value += __shfl_xor_sync(kWholeWarp, value, 1);
            value += __shfl_xor_sync(kWholeWarp, value, 2);
        }
    }

    /// Calls body(i, column, two neighbouring values) for this thread's part of the output.
    template <typename Body>
    __device__ void forEachPair(int headDim, Body body) const
    {
        const int first = columnGroup() * Shape::kColumns + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int j = 0; j < Shape::kColumns / 8; ++j)
                if (first + j * 8 < headDim)
                    body(i, first + j * 8, output[j * 4 + i * 2], output[j * 4 + i * 2 + 1]);
        }
    }

    __device__ void store(Bf16 *out, std::int64_t stride, int rows, int headDim) const
    {
        const float inverse[2] = {1.0F / sum[0], 1.0F / sum[1]};
        forEachPair(headDim, [&](int i, int column, float first, float second) {
            if (rowOf(i) < rows)
                *reinterpret_cast<std::uint32_t *>(out + rowOf(i) * stride + column) =
                    ptx::packBf16(first * inverse[i], second * inverse[i]);
        });
    }
};

/// Aligns the block's shared memory and prepares its barriers.
template <typename Shape>
__device__ Shared<Shape> prepareShared()
{
    extern __shared__ std::uint8_t memory[];
    const Shared<Shape> shared{(ptx::sharedAddress(memory) + 1023U) & ~1023U};
    if (threadIdx.x == 0)
        shared.init();
    __syncthreads();
    return shared;
}

#endif

template <typename Shape>
__global__ __launch_bounds__(Shape::kThreads, 1) void canvasHopperKernel(const __grid_constant__ AttentionMaps maps,
                                                                         const CanvasAttentionArgs args,
                                                                         const AttentionWorkspace workspace)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    ptx::letNextStart();
    const Shared<Shape> shared = prepareShared<Shape>();
    ptx::waitForPrevious();
    const auto sequence = static_cast<std::int64_t>(blockIdx.z);
    const SequenceView view = args.views[sequence];
    const AttentionParts parts(view);
    const int part = static_cast<int>(blockIdx.y);
    const auto head = static_cast<std::int64_t>(blockIdx.x) % args.heads;
    const int firstRow = static_cast<int>(static_cast<std::int64_t>(blockIdx.x) / args.heads) * Shape::kQueries;
    if (part >= parts.count || firstRow >= view.rows)
        return;
    const auto headDim = static_cast<int>(args.headDim);
    const std::int64_t row = sequence * args.rowStride + firstRow;
    const auto kvHead = static_cast<int>(head / (args.heads / args.kvHeads));
    const int pages = min(parts.partPages, parts.pages - part * parts.partPages);
    const auto pageAt = [&](int i) {
        const int index = part * parts.partPages + i;
        const bool cached = index < parts.cachedPages;
        const int inScratch = index - parts.cachedPages;
        const int page = cached ? view.pageTable[parts.firstPage + index]
                                : static_cast<int>(sequence * scratchPages(args.rowStride)) + inScratch;
        return PageSpan{cached, (page * static_cast<int>(args.kvHeads) + kvHead) * kPage,
                        cached ? (parts.firstPage + index) * kPage : view.length + inScratch * kPage,
                        cached ? view.length : view.length + view.rows};
    };
    if (threadIdx.x >= Shape::kGroups * 128) {
        if constexpr (Shape::kGroups == 2)
            ptx::lowerRegisters<24>();
        if (threadIdx.x == Shape::kGroups * 128)
            produceTiles<Shape>(maps, shared, static_cast<int>(head) * headDim, static_cast<int>(row), pages, pageAt);
    } else {
        if constexpr (Shape::kGroups == 2)
            ptx::raiseRegisters<240>();
        const Visible everything{view.firstVisible, view.length + view.rows};
        const Visible visible[2] = {everything, everything};
        QueryTile<Shape> tile;
        tile.consume(shared, pages, visible, pageAt);
        if (parts.count == 1) {
            tile.store(args.out + (row * args.heads + head) * headDim, args.heads * headDim, view.rows - firstRow,
                       headDim);
            return;
        }
        tile.forEachPair(headDim, [&](int i, int column, float first, float second) {
            if (firstRow + tile.rowOf(i) >= view.rows)
                return;
            const std::int64_t index = ((row + tile.rowOf(i)) * args.heads + head) * workspace.parts + part;
            *reinterpret_cast<float2 *>(workspace.outputs + index * headDim + column) = make_float2(first, second);
            if (column == 0)
                workspace.stats[index] = {tile.maximum[i], tile.sum[i]};
        });
    }
#endif
}

template <typename Shape>
__global__ __launch_bounds__(Shape::kThreads, 1) void causalHopperKernel(const __grid_constant__ AttentionMaps maps,
                                                                         const CausalAttentionArgs args)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    ptx::letNextStart();
    const Shared<Shape> shared = prepareShared<Shape>();
    ptx::waitForPrevious();
    const auto sequence = static_cast<std::int64_t>(blockIdx.y);
    const SequenceView view = args.views[sequence];
    const auto head = static_cast<std::int64_t>(blockIdx.x) % args.heads;
    const int firstRow = static_cast<int>(static_cast<std::int64_t>(blockIdx.x) / args.heads) * Shape::kQueries;
    if (firstRow >= view.rows)
        return;
    const auto headDim = static_cast<int>(args.headDim);
    const std::int64_t row = sequence * args.rowStride + firstRow;
    const auto kvHead = static_cast<int>(head / (args.heads / args.kvHeads));
    const int window = args.window > 0 ? static_cast<int>(args.window) : view.length + view.rows;
    const auto visibleTo = [&](int tileRow) {
        const int position = view.length + firstRow + tileRow;
        return Visible{max(0, position - window + 1), position + 1};
    };
    const int firstPage = visibleTo(0).begin / kPage;
    const int lastRow = min(Shape::kQueries, view.rows - firstRow) - 1;
    const int pages = pagesFor(visibleTo(lastRow).end) - firstPage;
    const auto pageAt = [&](int i) {
        const int page = view.pageTable[firstPage + i];
        return PageSpan{true, (page * static_cast<int>(args.kvHeads) + kvHead) * kPage, (firstPage + i) * kPage,
                        view.length + view.rows};
    };
    if (threadIdx.x >= Shape::kGroups * 128) {
        if constexpr (Shape::kGroups == 2)
            ptx::lowerRegisters<24>();
        if (threadIdx.x == Shape::kGroups * 128)
            produceTiles<Shape>(maps, shared, static_cast<int>(head) * headDim, static_cast<int>(row), pages, pageAt);
    } else {
        if constexpr (Shape::kGroups == 2)
            ptx::raiseRegisters<240>();
        const Visible visible[2] = {visibleTo(QueryTile<Shape>::rowOf(0)), visibleTo(QueryTile<Shape>::rowOf(1))};
        QueryTile<Shape> tile;
        tile.consume(shared, pages, visible, pageAt);
        tile.store(args.out + (row * args.heads + head) * headDim, args.heads * headDim, view.rows - firstRow, headDim);
    }
#endif
}

/// A pool's map; its number of pages is not known here, and no page outside it is asked for.
bool describePool(CUtensorMap &map, const Bf16 *pool, std::int64_t headDim)
{
    constexpr cuuint64_t kEnough = 0x7FFFFFFF;
    return describe<2>(map, pool, {static_cast<cuuint64_t>(headDim), kEnough}, {headDim}, {64, 64});
}

template <typename Args>
bool describeQueries(CUtensorMap &map, const Args &args)
{
    const std::int64_t width = args.heads * args.headDim;
    return describe<2>(map, args.queries,
                       {static_cast<cuuint64_t>(width), static_cast<cuuint64_t>(args.sequences * args.rowStride)},
                       {width}, {64, kTileQueries});
}

/// `blocks`: how many there would be of 64 queries.
template <typename Body>
cudaError_t withHopperShape(std::int64_t headDim, std::int64_t blocks, Body body)
{
    constexpr std::int64_t kEnoughForPairs = 250; // close to two rounds of an H200
    if (headDim <= 64)
        return body.template operator()<HopperShape<64>>();
    if (headDim <= 128)
        return body.template operator()<HopperShape<128>>();
    if (headDim <= 256)
        return blocks >= kEnoughForPairs ? body.template operator()<HopperShape<256, 2>>()
                                         : body.template operator()<HopperShape<256>>();
    return body.template operator()<HopperShape<512>>();
}

std::int64_t queryTiles(std::int64_t rows)
{
    return (rows + kTileQueries - 1) / kTileQueries;
}

} // namespace

bool hasHopperAttention()
{
    ChipChoices chip;
    return currentChip(chip) == cudaSuccess && chip.wgmma;
}

cudaError_t canvasAttentionHopper(const CanvasAttentionArgs &args, cudaStream_t stream)
{
    AttentionMaps maps;
    bool described = describeQueries(maps.queries, args) &&
                     describePool(maps.scratchKeys, args.scratch.keys, args.headDim) &&
                     describePool(maps.scratchValues, args.scratch.values, args.headDim);
    const bool hasCache = args.mostCached > 0;
    described = described &&
                describePool(maps.cacheKeys, hasCache ? args.cache.keys : args.scratch.keys, args.headDim) &&
                describePool(maps.cacheValues, hasCache ? args.cache.values : args.scratch.values, args.headDim);
    if (!described)
        return cudaErrorInvalidValue;
    const AttentionWorkspace workspace = workspaceOf(args);
    const std::int64_t blocks = queryTiles(args.rowStride) * args.heads * workspace.parts * args.sequences;
    return withHopperShape(args.headDim, blocks, [&]<typename Shape>() {
        const auto kernel = canvasHopperKernel<Shape>;
        const cudaError_t set =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kSharedBytes);
        if (set != cudaSuccess)
            return set;
        const std::int64_t tiles = (args.rowStride + Shape::kQueries - 1) / Shape::kQueries;
        const dim3 grid(static_cast<unsigned>(tiles * args.heads), static_cast<unsigned>(workspace.parts),
                        static_cast<unsigned>(args.sequences));
        return launchDependent(kernel, {.grid = grid, .threads = Shape::kThreads, .sharedBytes = Shape::kSharedBytes},
                               stream, maps, args, workspace);
    });
}

cudaError_t causalAttentionHopper(const CausalAttentionArgs &args, cudaStream_t stream)
{
    AttentionMaps maps{};
    if (!describeQueries(maps.queries, args) || !describePool(maps.cacheKeys, args.cache.keys, args.headDim) ||
        !describePool(maps.cacheValues, args.cache.values, args.headDim))
        return cudaErrorInvalidValue;
    const std::int64_t blocks = queryTiles(args.rowStride) * args.heads * args.sequences;
    return withHopperShape(args.headDim, blocks, [&]<typename Shape>() {
        const auto kernel = causalHopperKernel<Shape>;
        const cudaError_t set =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kSharedBytes);
        if (set != cudaSuccess)
            return set;
        const std::int64_t tiles = (args.rowStride + Shape::kQueries - 1) / Shape::kQueries;
        const dim3 grid(static_cast<unsigned>(tiles * args.heads), static_cast<unsigned>(args.sequences));
        return launchDependent(kernel, {.grid = grid, .threads = Shape::kThreads, .sharedBytes = Shape::kSharedBytes},
                               stream, maps, args);
    });
}

} // namespace palimpsest::kernels
