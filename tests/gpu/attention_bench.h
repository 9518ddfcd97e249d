// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "gpu_check.h"
#include "kernels/attention_canvas.h"
#include "kernels/attention_causal.h"
#include "kernels/attention_variants.h"
#include "kernels/qkv_norm_rope.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace palimpsest::gpu_check {

inline constexpr float kEpsilon = 1e-6F;

/// Sizes of a layer's attention.
struct AttentionShape
{
    std::int64_t heads;
    std::int64_t kvHeads;
    std::int64_t headDim;
    std::int64_t pairs;
    bool hasValues;
};

/// Another one in each run of the program.
inline std::mt19937 &randomness()
{
    static std::mt19937 generator(gpu_check::testSeed());
    return generator;
}

inline std::size_t size(std::int64_t count)
{
    return static_cast<std::size_t>(count);
}

/// What the kernels work on, for some sequences whose pages lie in random order in one pool.
class AttentionBench
{
public:
    AttentionBench(const AttentionShape &shape, std::vector<kernels::SequenceView> sequences, std::int64_t rowStride)
        : m_shape(shape),
          m_rowStride(rowStride),
          m_views(std::move(sequences)),
          m_pagesEach((longest() + kernels::kPagePositions - 1) / kernels::kPagePositions),
          m_tables(makeTables()),
          m_deviceTables(m_tables),
          m_frequencies(makeFrequencies()),
          m_queryWeight(randomFloats(size(shape.headDim), randomness())),
          m_keyWeight(randomFloats(size(shape.headDim), randomness(), 0.2F)),
          m_deviceFrequencies(m_frequencies),
          m_deviceQueryWeight(m_queryWeight),
          m_deviceKeyWeight(m_keyWeight),
          cacheKeys(size(poolElements(sequencesCount() * m_pagesEach))),
          cacheValues(cacheKeys.count()),
          scratchKeys(size(poolElements(sequencesCount() * kernels::scratchPages(rowStride)))),
          scratchValues(scratchKeys.count()),
          queries(size(rows() * shape.heads * shape.headDim)),
          out(queries.count())
    {
        // What an earlier use may have left in slots that hold nothing now: finite, and visible if it counted.
        for (const DeviceArray<kernels::Bf16> *pool : {&cacheKeys, &cacheValues, &scratchKeys, &scratchValues})
            ok(cudaMemset(pool->data(), 0x42, pool->bytes()), "pool");
    }

    [[nodiscard]] std::int64_t sequencesCount() const { return static_cast<std::int64_t>(m_views.size()); }
    [[nodiscard]] std::int64_t rows() const { return sequencesCount() * m_rowStride; }
    [[nodiscard]] std::int64_t width() const
    {
        return (m_shape.heads + (m_shape.hasValues ? 2 : 1) * m_shape.kvHeads) * m_shape.headDim;
    }
    [[nodiscard]] std::vector<kernels::SequenceView> &views() { return m_views; }

    /// Norms, rotates and stores rows of qkv [rows, width]; `views` say where.
    void store(const std::vector<kernels::Bf16> &qkv, const std::vector<kernels::SequenceView> &views,
               std::int64_t rowStride, kernels::KvTarget target)
    {
        const auto deviceViews = onDevice(views);
        const DeviceArray<kernels::Bf16> deviceQkv(qkv);
        const auto count = static_cast<std::int64_t>(views.size());
        const DeviceArray<float2> angles(size(count * rowStride * std::max<std::int64_t>(1, m_shape.pairs)));
        ok(kernels::ropeAngles({.sequences = count,
                                .rowStride = rowStride,
                                .views = deviceViews->data(),
                                .frequencies = m_deviceFrequencies.data(),
                                .pairs = m_shape.pairs,
                                .angles = angles.data()},
                               nullptr),
           "ropeAngles");
        ok(kernels::qkvNormRope({.sequences = count,
                                 .rowStride = rowStride,
                                 .views = deviceViews->data(),
                                 .heads = m_shape.heads,
                                 .kvHeads = m_shape.kvHeads,
                                 .headDim = m_shape.headDim,
                                 .pairs = m_shape.pairs,
                                 .epsilon = kEpsilon,
                                 .qkv = deviceQkv.data(),
                                 .hasValues = m_shape.hasValues,
                                 .queryWeight = m_deviceQueryWeight.data(),
                                 .keyWeight = m_deviceKeyWeight.data(),
                                 .angles = angles.data(),
                                 .queries = queries.data(),
                                 .target = target,
                                 .pool = target == kernels::KvTarget::Cache ? cache() : scratch()},
                                nullptr),
           "qkvNormRope");
        ok(cudaDeviceSynchronize(), "qkvNormRope");
    }

    kernels::AttentionVariant variant = kernels::AttentionVariant::Best;

    void attendCanvas(const std::vector<kernels::SequenceView> &views)
    {
        const auto deviceViews = onDevice(views);
        kernels::CanvasAttentionArgs args{.sequences = static_cast<std::int64_t>(views.size()),
                                          .rowStride = m_rowStride,
                                          .views = deviceViews->data(),
                                          .mostCached = longest(),
                                          .heads = m_shape.heads,
                                          .kvHeads = m_shape.kvHeads,
                                          .headDim = m_shape.headDim,
                                          .queries = queries.data(),
                                          .cache = cache(),
                                          .scratch = scratch(),
                                          .out = out.data()};
        const DeviceArray<unsigned char> workspace(
            std::max<std::size_t>(16, size(kernels::canvasAttentionWorkspace(args))));
        args.workspace = workspace.data();
        ok(kernels::canvasAttention(args, variant, nullptr), "canvasAttention");
        (void)workspace.host("canvasAttention's workspace");
    }

    void attendCausal(const std::vector<kernels::SequenceView> &views, std::int64_t rowStride, std::int64_t window)
    {
        const auto deviceViews = onDevice(views);
        ok(kernels::causalAttention({.sequences = static_cast<std::int64_t>(views.size()),
                                     .rowStride = rowStride,
                                     .views = deviceViews->data(),
                                     .window = window,
                                     .heads = m_shape.heads,
                                     .kvHeads = m_shape.kvHeads,
                                     .headDim = m_shape.headDim,
                                     .queries = queries.data(),
                                     .cache = cache(),
                                     .out = out.data()},
                                    variant, nullptr),
           "causalAttention");
        ok(cudaDeviceSynchronize(), "causalAttention");
    }

    [[nodiscard]] kernels::KvPool cache() const { return {cacheKeys.data(), cacheValues.data()}; }
    [[nodiscard]] kernels::KvPool scratch() const { return {scratchKeys.data(), scratchValues.data()}; }

    /// Element 0 of a position of a kv head in the cache.
    [[nodiscard]] std::int64_t cachePlace(std::int64_t sequence, std::int64_t position, std::int64_t kvHead) const
    {
        const std::int64_t page = m_tables[size(sequence * m_pagesEach + position / kernels::kPagePositions)];
        return ((page * m_shape.kvHeads + kvHead) * kernels::kPagePositions + position % kernels::kPagePositions) *
               m_shape.headDim;
    }
    [[nodiscard]] std::int64_t scratchPlace(std::int64_t sequence, std::int64_t offset, std::int64_t kvHead) const
    {
        const std::int64_t page = sequence * kernels::scratchPages(m_rowStride) + offset / kernels::kPagePositions;
        return ((page * m_shape.kvHeads + kvHead) * kernels::kPagePositions + offset % kernels::kPagePositions) *
               m_shape.headDim;
    }

    /// A head after norm and, with `position` >= 0, rotation.
    [[nodiscard]] std::vector<double> prepared(const kernels::Bf16 *head, const std::vector<float> *weight,
                                               std::int64_t position) const
    {
        std::vector<double> x(size(m_shape.headDim));
        double sum = 0.0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = static_cast<double>(fromBf16(head[i]));
            sum += x[i] * x[i];
        }
        const double inverse = 1.0 / std::sqrt(sum / static_cast<double>(x.size()) + static_cast<double>(kEpsilon));
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] *= inverse * (weight != nullptr ? static_cast<double>((*weight)[i]) : 1.0);
        const std::size_t half = x.size() / 2;
        for (std::size_t i = 0; position >= 0 && i < size(m_shape.pairs); ++i) {
            const auto angle = static_cast<double>(static_cast<float>(position) * m_frequencies[i]);
            const double first = x[i];
            const double second = x[i + half];
            x[i] = first * std::cos(angle) - second * std::sin(angle);
            x[i + half] = second * std::cos(angle) + first * std::sin(angle);
        }
        return x;
    }

private:
    [[nodiscard]] std::int64_t longest() const
    {
        std::int64_t most = 1;
        for (const kernels::SequenceView &view : m_views)
            most = std::max<std::int64_t>(most, view.length + view.rows);
        return most;
    }
    [[nodiscard]] std::int64_t poolElements(std::int64_t pages) const
    {
        return pages * kernels::pageElements(m_shape.kvHeads, m_shape.headDim);
    }
    [[nodiscard]] std::vector<std::int32_t> makeTables() const
    {
        std::vector<std::int32_t> pages(size(sequencesCount() * m_pagesEach));
        std::iota(pages.begin(), pages.end(), 0);
        std::shuffle(pages.begin(), pages.end(), randomness());
        return pages;
    }
    [[nodiscard]] std::vector<float> makeFrequencies() const
    {
        std::vector<float> frequencies(size(std::max<std::int64_t>(1, m_shape.pairs)));
        for (std::size_t i = 0; i < frequencies.size(); ++i)
            frequencies[i] = static_cast<float>(
                std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(m_shape.headDim)));
        return frequencies;
    }
    [[nodiscard]] std::unique_ptr<DeviceArray<kernels::SequenceView>>
    onDevice(std::vector<kernels::SequenceView> views) const
    {
        for (std::size_t i = 0; i < views.size(); ++i)
            if (views[i].pageTable == nullptr)
                views[i].pageTable = m_deviceTables.data() + i * size(m_pagesEach);
        return std::make_unique<DeviceArray<kernels::SequenceView>>(views);
    }

    AttentionShape m_shape;
    std::int64_t m_rowStride;
    std::vector<kernels::SequenceView> m_views;
    std::int64_t m_pagesEach;
    std::vector<std::int32_t> m_tables;
    DeviceArray<std::int32_t> m_deviceTables;

public:
    std::vector<float> m_frequencies;
    std::vector<float> m_queryWeight;
    std::vector<float> m_keyWeight;

private:
    DeviceArray<float> m_deviceFrequencies;
    DeviceArray<float> m_deviceQueryWeight;
    DeviceArray<float> m_deviceKeyWeight;

public:
    DeviceArray<kernels::Bf16> cacheKeys;
    DeviceArray<kernels::Bf16> cacheValues;
    DeviceArray<kernels::Bf16> scratchKeys;
    DeviceArray<kernels::Bf16> scratchValues;
    DeviceArray<kernels::Bf16> queries;
    DeviceArray<kernels::Bf16> out;
};

} // namespace palimpsest::gpu_check
