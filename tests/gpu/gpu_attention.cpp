// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_check.h"
#include "kernels/attention_canvas.h"
#include "kernels/attention_causal.h"
#include "kernels/attention_variants.h"
#include "kernels/qkv_norm_rope.h"

#include <numeric>

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::AttentionVariant;
using kernels::Bf16;
using kernels::kPagePositions;
using kernels::KvPool;
using kernels::KvTarget;
using kernels::SequenceView;

namespace {

constexpr float kEpsilon = 1e-6F;
// Probabilities and results are rounded to bf16, 2^-9 each at most; queries, keys and values are given as bf16.
constexpr double kBound = 4e-3;

struct Shape
{
    std::int64_t heads;
    std::int64_t kvHeads;
    std::int64_t headDim;
    std::int64_t pairs;
    bool hasValues;
};

std::mt19937 &random()
{
    static std::mt19937 generator(std::random_device{}());
    return generator;
}

std::size_t size(std::int64_t count)
{
    return static_cast<std::size_t>(count);
}

/// What the kernels work on, for some sequences whose pages lie in random order in one pool.
class Bench
{
public:
    Bench(const Shape &shape, std::vector<SequenceView> sequences, std::int64_t rowStride)
        : m_shape(shape),
          m_rowStride(rowStride),
          m_views(std::move(sequences)),
          m_pagesEach((longest() + kPagePositions - 1) / kPagePositions),
          m_tables(makeTables()),
          m_deviceTables(m_tables),
          m_frequencies(makeFrequencies()),
          m_queryWeight(randomFloats(size(shape.headDim), random())),
          m_keyWeight(randomFloats(size(shape.headDim), random(), 0.2F)),
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
        for (const DeviceArray<Bf16> *pool : {&cacheKeys, &cacheValues, &scratchKeys, &scratchValues})
            ok(cudaMemset(pool->data(), 0x42, pool->bytes()), "pool");
    }

    [[nodiscard]] std::int64_t sequencesCount() const { return static_cast<std::int64_t>(m_views.size()); }
    [[nodiscard]] std::int64_t rows() const { return sequencesCount() * m_rowStride; }
    [[nodiscard]] std::int64_t width() const
    {
        return (m_shape.heads + (m_shape.hasValues ? 2 : 1) * m_shape.kvHeads) * m_shape.headDim;
    }
    [[nodiscard]] std::vector<SequenceView> &views() { return m_views; }

    /// Norms, rotates and stores rows of qkv [rows, width]; `views` say where.
    void store(const std::vector<Bf16> &qkv, const std::vector<SequenceView> &views, std::int64_t rowStride,
               KvTarget target)
    {
        const auto deviceViews = onDevice(views);
        const DeviceArray<Bf16> deviceQkv(qkv);
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
                                 .pool = target == KvTarget::Cache ? cache() : scratch()},
                                nullptr),
           "qkvNormRope");
        ok(cudaDeviceSynchronize(), "qkvNormRope");
    }

    AttentionVariant variant = AttentionVariant::Best;

    void attendCanvas(const std::vector<SequenceView> &views)
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

    void attendCausal(const std::vector<SequenceView> &views, std::int64_t rowStride, std::int64_t window)
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

    [[nodiscard]] KvPool cache() const { return {cacheKeys.data(), cacheValues.data()}; }
    [[nodiscard]] KvPool scratch() const { return {scratchKeys.data(), scratchValues.data()}; }

    /// Element 0 of a position of a kv head in the cache.
    [[nodiscard]] std::int64_t cachePlace(std::int64_t sequence, std::int64_t position, std::int64_t kvHead) const
    {
        const std::int64_t page = m_tables[size(sequence * m_pagesEach + position / kPagePositions)];
        return ((page * m_shape.kvHeads + kvHead) * kPagePositions + position % kPagePositions) * m_shape.headDim;
    }
    [[nodiscard]] std::int64_t scratchPlace(std::int64_t sequence, std::int64_t offset, std::int64_t kvHead) const
    {
        const std::int64_t page = sequence * kernels::scratchPages(m_rowStride) + offset / kPagePositions;
        return ((page * m_shape.kvHeads + kvHead) * kPagePositions + offset % kPagePositions) * m_shape.headDim;
    }

    /// A head after norm and, with `position` >= 0, rotation.
    [[nodiscard]] std::vector<double> prepared(const Bf16 *head, const std::vector<float> *weight,
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
        for (const SequenceView &view : m_views)
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
        std::shuffle(pages.begin(), pages.end(), random());
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
    [[nodiscard]] std::unique_ptr<DeviceArray<SequenceView>> onDevice(std::vector<SequenceView> views) const
    {
        for (std::size_t i = 0; i < views.size(); ++i)
            if (views[i].pageTable == nullptr)
                views[i].pageTable = m_deviceTables.data() + i * size(m_pagesEach);
        return std::make_unique<DeviceArray<SequenceView>>(views);
    }

    Shape m_shape;
    std::int64_t m_rowStride;
    std::vector<SequenceView> m_views;
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
    DeviceArray<Bf16> cacheKeys;
    DeviceArray<Bf16> cacheValues;
    DeviceArray<Bf16> scratchKeys;
    DeviceArray<Bf16> scratchValues;
    DeviceArray<Bf16> queries;
    DeviceArray<Bf16> out;
};

std::vector<Bf16> randomBf16(std::int64_t count)
{
    return roundedToBf16(randomFloats(size(count), random()));
}

/// Attention of one query in double, over the keys and values that `at` gives for positions [begin, end).
template <typename At>
std::vector<double> attended(const Bf16 *query, std::int64_t headDim, std::int64_t begin, std::int64_t end, At at)
{
    std::vector<double> scores;
    for (std::int64_t position = begin; position < end; ++position) {
        const Bf16 *key = at(position).first;
        double score = 0.0;
        for (std::int64_t i = 0; i < headDim; ++i)
            score += static_cast<double>(fromBf16(query[i])) * static_cast<double>(fromBf16(key[i]));
        scores.push_back(score);
    }
    const double largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    std::vector<double> result(size(headDim));
    for (std::int64_t position = begin; position < end; ++position) {
        const double weight = std::exp(scores[size(position - begin)] - largest);
        sum += weight;
        const Bf16 *value = at(position).second;
        for (std::int64_t i = 0; i < headDim; ++i)
            result[size(i)] += weight * static_cast<double>(fromBf16(value[i]));
    }
    for (double &value : result)
        value /= sum;
    return result;
}

std::string name(AttentionVariant variant)
{
    return variant == AttentionVariant::Best ? "best" : "portable";
}

/// Random keys and values for every cached position.
void fillPrefix(Bench &bench, const Shape &shape)
{
    for (std::size_t s = 0; s < bench.views().size(); ++s) {
        const std::int64_t length = bench.views()[s].length;
        if (length == 0)
            continue;
        std::vector<Bf16> keys = bench.cacheKeys.host();
        std::vector<Bf16> values = bench.cacheValues.host();
        for (std::int64_t position = 0; position < length; ++position)
            for (std::int64_t kvHead = 0; kvHead < shape.kvHeads; ++kvHead) {
                const std::int64_t place = bench.cachePlace(static_cast<std::int64_t>(s), position, kvHead);
                const auto key = roundedToBf16(randomFloats(size(shape.headDim), random(), 0.2F));
                const auto value = randomBf16(shape.headDim);
                std::copy(key.begin(), key.end(), keys.begin() + place);
                std::copy(value.begin(), value.end(), values.begin() + place);
            }
        ok(cudaMemcpy(bench.cacheKeys.data(), keys.data(), keys.size() * 2, cudaMemcpyHostToDevice), "keys");
        ok(cudaMemcpy(bench.cacheValues.data(), values.data(), values.size() * 2, cudaMemcpyHostToDevice), "values");
    }
}

void compareHeads(const Bench &bench, const Shape &shape, const std::vector<Bf16> &qkv, const std::string &what)
{
    const auto queries = bench.queries.host(what);
    const auto keys = bench.scratchKeys.host(what);
    const auto values = bench.scratchValues.host(what);
    std::vector<float> found;
    std::vector<double> wanted;
    const auto take = [&](const Bf16 *head, const std::vector<double> &reference) {
        for (std::size_t i = 0; i < reference.size(); ++i) {
            found.push_back(fromBf16(head[i]));
            wanted.push_back(reference[i]);
        }
    };
    auto &views = const_cast<Bench &>(bench).views();
    const std::int64_t stride = bench.rows() / bench.sequencesCount();
    for (std::int64_t s = 0; s < bench.sequencesCount(); ++s)
        for (std::int64_t offset = 0; offset < views[size(s)].rows; offset += 1 + static_cast<int>(random()() % 7)) {
            const std::int64_t row = s * stride + offset;
            const std::int64_t position = views[size(s)].length + offset;
            const Bf16 *in = qkv.data() + row * bench.width();
            for (std::int64_t head = 0; head < shape.heads; ++head)
                take(queries.data() + (row * shape.heads + head) * shape.headDim,
                     bench.prepared(in + head * shape.headDim, &bench.m_queryWeight, position));
            for (std::int64_t head = 0; head < shape.kvHeads; ++head) {
                const Bf16 *key = in + (shape.heads + head) * shape.headDim;
                const Bf16 *value = shape.hasValues ? key + shape.kvHeads * shape.headDim : key;
                take(keys.data() + bench.scratchPlace(s, offset, head),
                     bench.prepared(key, &bench.m_keyWeight, position));
                take(values.data() + bench.scratchPlace(s, offset, head), bench.prepared(value, nullptr, -1));
            }
        }
    requireClose(found, wanted, kBound, what);
}

void canvas(AttentionVariant variant, const Shape &shape, const std::vector<SequenceView> &sequences,
            std::int64_t rowStride)
{
    const std::string what = name(variant) + " canvas, " + std::to_string(shape.heads) + "/" +
                             std::to_string(shape.kvHeads) + " heads of " + std::to_string(shape.headDim) + ", " +
                             std::to_string(sequences[0].length) + " cached";
    Bench bench(shape, sequences, rowStride);
    bench.variant = variant;
    fillPrefix(bench, shape);
    const auto qkv = randomBf16(bench.rows() * bench.width());
    bench.store(qkv, sequences, rowStride, KvTarget::Scratch);
    compareHeads(bench, shape, qkv, what + ", heads");
    bench.attendCanvas(sequences);
    const auto found = bench.out.host(what);

    const auto queries = bench.queries.host();
    const auto cacheKeys = bench.cacheKeys.host();
    const auto cacheValues = bench.cacheValues.host();
    const auto scratchKeys = bench.scratchKeys.host();
    const auto scratchValues = bench.scratchValues.host();
    std::vector<float> some;
    std::vector<double> wanted;
    for (std::int64_t s = 0; s < bench.sequencesCount(); ++s) {
        const SequenceView &view = sequences[size(s)];
        for (int sample = 0; sample < 24; ++sample) {
            const std::int64_t offset = sample == 0 ? view.rows - 1 : static_cast<std::int64_t>(random()()) % view.rows;
            const std::int64_t head = static_cast<std::int64_t>(random()()) % shape.heads;
            const std::int64_t kvHead = head / (shape.heads / shape.kvHeads);
            const std::int64_t place = ((s * rowStride + offset) * shape.heads + head) * shape.headDim;
            const auto result = attended(queries.data() + place, shape.headDim, view.firstVisible,
                                         view.length + view.rows, [&](std::int64_t position) {
                                             if (position < view.length) {
                                                 const auto at = bench.cachePlace(s, position, kvHead);
                                                 return std::pair(cacheKeys.data() + at, cacheValues.data() + at);
                                             }
                                             const auto at = bench.scratchPlace(s, position - view.length, kvHead);
                                             return std::pair(scratchKeys.data() + at, scratchValues.data() + at);
                                         });
            for (std::int64_t i = 0; i < shape.headDim; ++i) {
                some.push_back(fromBf16(found[size(place + i)]));
                wanted.push_back(result[size(i)]);
            }
        }
        for (std::int64_t offset = 0; offset < rowStride; ++offset) {
            const Bf16 first = found[size((s * rowStride + offset) * shape.heads * shape.headDim)];
            require((first != 0xFFFF) == (offset < view.rows), what + ": rows behind the sequence's own");
        }
    }
    requireClose(some, wanted, kBound, what);

    // The first sequence alone has the same bits.
    bench.out.poison();
    bench.attendCanvas({sequences[0]});
    const auto alone = bench.out.host(what);
    require(std::memcmp(alone.data(), found.data(), size(rowStride * shape.heads * shape.headDim) * 2) == 0,
            what + ": the bits depend on the batch");
}

void causal(AttentionVariant variant, const Shape &shape, std::int64_t length, std::int64_t window,
            const std::vector<std::int64_t> &chunks)
{
    const std::string what = name(variant) + " causal, " + std::to_string(shape.heads) + "/" +
                             std::to_string(shape.kvHeads) + " heads of " + std::to_string(shape.headDim) + ", " +
                             std::to_string(length) + " rows, window " + std::to_string(window);
    Bench bench(shape, {{.rows = static_cast<std::int32_t>(length)}}, length);
    bench.variant = variant;
    const auto qkv = randomBf16(length * bench.width());
    std::vector<Bf16> whole;
    for (const std::int64_t chunk : chunks) { // the first is the whole
        std::vector<Bf16> result;
        for (std::int64_t start = 0; start < length; start += chunk) {
            const std::int64_t rows = std::min(chunk, length - start);
            const std::vector<SequenceView> views{
                {.length = static_cast<std::int32_t>(start), .rows = static_cast<std::int32_t>(rows)}};
            const std::vector<Bf16> part(qkv.begin() + start * bench.width(),
                                         qkv.begin() + (start + rows) * bench.width());
            bench.store(part, views, rows, KvTarget::Cache);
            bench.attendCausal(views, rows, window);
            const auto out = bench.out.host(what);
            result.insert(result.end(), out.begin(), out.begin() + rows * shape.heads * shape.headDim);
            bench.out.poison();
        }
        if (whole.empty()) {
            whole = result;
            const auto queries = bench.queries.host();
            const auto keys = bench.cacheKeys.host();
            const auto values = bench.cacheValues.host();
            std::vector<float> some;
            std::vector<double> wanted;
            for (int sample = 0; sample < 40; ++sample) {
                const std::int64_t row =
                    sample < 2 ? sample * (length - 1) : static_cast<std::int64_t>(random()()) % length;
                const std::int64_t head = static_cast<std::int64_t>(random()()) % shape.heads;
                const std::int64_t kvHead = head / (shape.heads / shape.kvHeads);
                const std::int64_t place = (row * shape.heads + head) * shape.headDim;
                const std::int64_t begin = window > 0 ? std::max<std::int64_t>(0, row - window + 1) : 0;
                const auto reference =
                    attended(queries.data() + place, shape.headDim, begin, row + 1, [&](std::int64_t position) {
                        const auto at = bench.cachePlace(0, position, kvHead);
                        return std::pair(keys.data() + at, values.data() + at);
                    });
                for (std::int64_t i = 0; i < shape.headDim; ++i) {
                    some.push_back(fromBf16(result[size(place + i)]));
                    wanted.push_back(reference[size(i)]);
                }
            }
            requireClose(some, wanted, kBound, what);
        } else {
            requireSameBits(result, whole, what + ", chunks of " + std::to_string(chunk));
        }
    }
}

} // namespace

int main()
{
    requireDevice();
    const Shape sliding{16, 8, 256, 128, true};
    const Shape full{16, 2, 512, 64, false};
    for (const AttentionVariant variant : {AttentionVariant::Portable, AttentionVariant::Best}) {
        canvas(variant, sliding, {{.length = 512, .rows = 256}, {.length = 70, .rows = 256}}, 256);
        canvas(variant, full, {{.length = 512, .rows = 256}, {.length = 1300, .rows = 200}}, 256);
        canvas(variant, sliding, {{.length = 1500, .rows = 256, .firstVisible = 477}}, 256);
        canvas(variant, {4, 2, 32, 16, true},
               {{.length = 0, .rows = 16}, {.length = 63, .rows = 5}, {.length = 64, .rows = 1}}, 16);
        canvas(variant, {4, 1, 64, 8, false}, {{.length = 33, .rows = 100, .firstVisible = 32}}, 130);
        canvas(variant, {2, 2, 128, 0, true}, {{.length = 1, .rows = 65}}, 65);
        canvas(variant, {3, 1, 48, 24, true}, {{.length = 200, .rows = 17, .firstVisible = 150}}, 64);
        canvas(variant, {2, 1, 272, 30, true}, {{.length = 5000, .rows = 64}}, 64);
        causal(variant, sliding, 300, 100, {300, 64, 77});
        causal(variant, sliding, 1030, 300, {1030, 1000, 64}); // many blocks: pairs of tiles of queries share keys
        canvas(variant, sliding, {{.length = 300, .rows = 200}, {.length = 5, .rows = 65}, {.length = 64, .rows = 1}},
               256);
        causal(variant, full, 200, 0, {200, 128, 33});
        causal(variant, {4, 2, 32, 16, true}, 150, 16, {150, 1, 16, 17});
        causal(variant, {4, 1, 128, 8, false}, 65, 0, {65, 13});
        causal(variant, {2, 1, 64, 32, true}, 1, 8, {1});
    }
    return finish("attention");
}
