// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/attention_rows_sm90.cuh"

#include <cstdint>

/// Attention of heads up to 512 columns on compute capability 9.0. No warpgroup can hold the output of 64 queries, so
/// the work is split by kind, and scores are computed once:
///
///     scores     one warpgroup: queries x keys, softmax; weights and factors go to shared memory, two pages ahead
///     values     two warpgroups: weights x values, half of the columns each
namespace palimpsest::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Where the warpgroups meet: [kWeightStages] weights of a page and the factors before them, then what is left of the
/// softmax behind the last page.
template <typename Shape>
struct WeightStage : SlotPlace<Shape::kWeightStages>
{
    using SlotPlace<Shape::kWeightStages>::slot;

    __device__ std::uint32_t weights(const Shared<Shape> &shared) const
    {
        return shared.weights() + static_cast<std::uint32_t>(slot) * Shape::kWeightTileBytes;
    }
    __device__ std::uint32_t factors(const Shared<Shape> &shared) const { return rows(shared, slot); }
    __device__ std::uint32_t full(const Shared<Shape> &shared) const
    {
        return shared.barrier(1 + 2 * Shape::kSlots + slot);
    }
    __device__ std::uint32_t empty(const Shared<Shape> &shared) const
    {
        return shared.barrier(1 + 2 * Shape::kSlots + Shape::kWeightStages + slot);
    }

    __device__ static std::uint32_t maxima(const Shared<Shape> &shared) { return rows(shared, Shape::kWeightStages); }
    __device__ static std::uint32_t sums(const Shared<Shape> &shared) { return rows(shared, Shape::kWeightStages + 1); }
    /// A barrier of scores and values: the last results are in shared memory.
    __device__ static void meet() { ptx::namedBarrier(1, 3 * 128); }

private:
    __device__ static std::uint32_t rows(const Shared<Shape> &shared, int index)
    {
        return shared.weights() + Shape::kWeightStages * Shape::kWeightTileBytes +
               static_cast<std::uint32_t>(index) * Shape::kRowBytes;
    }
};

/// The warpgroup that computes scores and weights. The next page's scores could run beside the softmax of one, but
/// there is no room for its keys: waiting for them took longer (a page in 2.5 us; beside 1024 + 1024 cycles of
/// products).
template <typename Shape>
class WideScores
{
public:
    __device__ explicit WideScores(const Shared<Shape> &shared)
        : m_shared(shared), m_queries(matrixWord(shared.queries(0)))
    {
    }

    template <typename PageAt>
    __device__ void produce(int pages, const Visible (&visible)[2], PageAt pageAt)
    {
        float scores[32];
        ptx::barrierWait(m_shared.queriesFull(), 0);
        for (int page = 0; page < pages; ++page) {
            multiply(scores);
            if (page > 0)
                m_keys.advance(kQuarters); // over the values
            publish(scores, pageAt(page), visible);
        }
        m_softmax.finish();
        if (threadIdx.x % 4 == 0)
            for (int i = 0; i < 2; ++i) {
                const auto place = static_cast<std::uint32_t>(RowSoftmax::row(i)) * 4U;
                ptx::storeShared(WeightStage<Shape>::maxima(m_shared) + place, m_softmax.maximum[i]);
                ptx::storeShared(WeightStage<Shape>::sums(m_shared) + place, m_softmax.sum[i]);
            }
        WeightStage<Shape>::meet();
    }

private:
    static constexpr int kQuarters = 4; ///< slots of a page of keys, or of values

    /// Scores of a page; two quarters of it are under way together.
    __device__ void multiply(float (&scores)[32])
    {
#pragma unroll
        for (float &score : scores)
            score = 0.0F;
        SlotPlace<Shape::kSlots> place = m_keys;
#pragma unroll
        for (std::uint32_t quarter = 0; quarter < kQuarters; ++quarter) {
            const std::uint32_t keys = matrixWord(m_shared.slot(place.slot));
            ptx::barrierWait(m_shared.full(place.slot), place.parity);
            place.advance();
            ptx::wgmmaFence();
#pragma unroll
            for (std::uint32_t k = 0; k < 8; ++k) {
                const std::uint32_t step = (k / 4 * kBoxBytes + k % 4 * 32) / 16;
                ptx::wgmma64x64x16(scores, matrixAt(m_queries + quarter * Shape::kSlotBytes / 16 + step),
                                   matrixAt(keys + step));
            }
            ptx::wgmmaCommit();
            if (quarter > 0) {
                ptx::wgmmaWait<1>();
                release();
            }
        }
        ptx::wgmmaWait<0>();
        ptx::settle(scores);
        release();
    }

    __device__ void release()
    {
        m_shared.release(m_keys.slot);
        m_keys.advance();
    }

    /// Weights to shared memory, as wgmma reads its left operand.
    __device__ void publish(float (&scores)[32], const PageSpan &page, const Visible (&visible)[2])
    {
        float factor[2];
        std::uint32_t weights[4][4];
        m_softmax.weigh(scores, page, visible, factor);
        packWeights(weights, scores);
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int row = RowSoftmax::warpRow() + lane % 16;
        ptx::barrierWait(m_stage.empty(m_shared), m_stage.parity ^ 1U);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            ptx::storeMatrix4(m_stage.weights(m_shared) +
                                  static_cast<std::uint32_t>(row * 8 + ((k * 2 + lane / 16) ^ (row & 7))) * 16U,
                              weights[k]);
        if (lane % 4 == 0)
            for (int i = 0; i < 2; ++i)
                ptx::storeShared(m_stage.factors(m_shared) + static_cast<std::uint32_t>(RowSoftmax::row(i)) * 4U,
                                 factor[i]);
        ptx::proxyFence();
        ptx::barrierArrive(m_stage.full(m_shared));
        m_stage.advance();
    }

    Shared<Shape> m_shared;
    std::uint32_t m_queries;
    SlotPlace<Shape::kSlots> m_keys;
    WeightStage<Shape> m_stage;
    RowSoftmax m_softmax;
};

/// A warpgroup that multiplies weights with its half of the values' columns.
template <typename Shape>
struct WideValues
{
    OutputTile<Shape::kColumns> output;
    RowSoftmax softmax; ///< behind consume()

    __device__ WideValues(const Shared<Shape> &shared, int columnBlock)
        : output(0, (columnBlock * 2 + group()) * Shape::kColumns,
                 shared.queries(0) + static_cast<std::uint32_t>(group()) * kTileQueries * Shape::kColumns * 2),
          m_shared(shared)
    {
    }

    __device__ static int group() { return static_cast<int>(threadIdx.x) / 128; }

    __device__ void consume(int pages)
    {
        m_values.advance(pages > 1 ? 2 * kQuarters : kQuarters);
        m_values.advance(ptx::uniform(group()));
        for (int page = 0; page < pages; ++page) {
            ptx::barrierWait(m_stage.full(m_shared), m_stage.parity);
            const float factor[2] = {atRow(m_stage.factors(m_shared), 0), atRow(m_stage.factors(m_shared), 1)};
            output.rescale(factor);
            const std::uint32_t weights = matrixWord(m_stage.weights(m_shared));
            const SlotPlace<Shape::kSlots> first = m_values;
            begin(weights);
            m_values.advance(2);
            begin(weights + 2 * 32 / 16);
            ptx::wgmmaWait<1>();
            m_shared.release(first.slot);
            ptx::wgmmaWait<0>();
            ptx::settle(output.sums);
            m_shared.release(m_values.slot);
            ptx::barrierArrive(m_stage.empty(m_shared)); // every thread has read its factors
            m_stage.advance();
            m_values.advance(page + 2 < pages ? kQuarters + 2 : 2); // over the keys; no more come before the last
        }
        WeightStage<Shape>::meet();
        for (int i = 0; i < 2; ++i) {
            softmax.maximum[i] = atRow(WeightStage<Shape>::maxima(m_shared), i);
            softmax.sum[i] = atRow(WeightStage<Shape>::sums(m_shared), i);
        }
    }

private:
    static constexpr int kQuarters = 4;
    static constexpr std::uint32_t kHalfBytes = 2 * Shape::kValueRows * 128; ///< 128 columns

    __device__ static float atRow(std::uint32_t rows, int i)
    {
        return ptx::loadShared(rows + static_cast<std::uint32_t>(RowSoftmax::row(i)) * 4U);
    }

    /// 32 positions.
    __device__ void begin(std::uint32_t weights)
    {
        const std::uint64_t values = ptx::swizzledColumns<Shape::kValueRows>(m_shared.slot(m_values.slot));
        const std::uint32_t word = ptx::uniform(static_cast<std::uint32_t>(values));
        const std::uint64_t high = values >> 32U << 32U;
        ptx::barrierWait(m_shared.full(m_values.slot), m_values.parity);
        ptx::wgmmaFence();
#pragma unroll
        for (std::uint32_t k = 0; k < 2; ++k) {
            // In 128 columns: an instruction for 256 needs more registers than a thread starts with.
#pragma unroll
            for (std::uint32_t half = 0; half < Shape::kColumns / 128; ++half)
                ptx::wgmma64x128x16<0, 1>(reinterpret_cast<float(&)[64]>(output.sums[half * 64]),
                                          matrixAt(weights + k * 32 / 16),
                                          high | (word + half * kHalfBytes / 16 + k * 16 * 128 / 16));
        }
        ptx::wgmmaCommit();
    }

    Shared<Shape> m_shared;
    SlotPlace<Shape::kSlots> m_values;
    WeightStage<Shape> m_stage;
};

/// A block's work, see attend().
template <typename Shape, typename PageAt, typename VisibleTo, typename Fetch, typename Finish>
__device__ __forceinline__ void attendWide(const Shared<Shape> &shared, int columnBlock, int pages, PageAt pageAt,
                                           VisibleTo visibleTo, Fetch fetch, Finish finish)
{
    if (threadIdx.x >= 3 * 128) {
        ptx::lowerRegisters<40>();
        if (threadIdx.x == 3 * 128)
            fetch();
        __syncwarp();
    } else if (threadIdx.x >= 2 * 128) {
        ptx::raiseRegisters<136>();
        WideScores<Shape> scores(shared);
        const Visible visible[2] = {visibleTo(RowSoftmax::row(0)), visibleTo(RowSoftmax::row(1))};
        scores.produce(pages, visible, pageAt);
    } else {
        ptx::raiseRegisters<168>();
        WideValues<Shape> values(shared, columnBlock);
        values.consume(pages);
        finish(values.output, values.softmax);
    }
}

#endif

} // namespace palimpsest::kernels
