// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "attention_bench.h"

#include <cmath>
#include <string>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::AttentionVariant;
using kernels::Bf16;
using kernels::KvTarget;
using kernels::SequenceView;

namespace {

// Probabilities and results are rounded to bf16, 2^-9 each at most; queries, keys and values are given as bf16.
constexpr double kBound = 4e-3;

std::vector<Bf16> randomBf16(std::int64_t count)
{
    return roundedToBf16(randomFloats(size(count), randomness()));
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
void fillPrefix(AttentionBench &bench, const AttentionShape &shape)
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
                const auto key = roundedToBf16(randomFloats(size(shape.headDim), randomness(), 0.2F));
                const auto value = randomBf16(shape.headDim);
                std::copy(key.begin(), key.end(), keys.begin() + place);
                std::copy(value.begin(), value.end(), values.begin() + place);
            }
        ok(cudaMemcpy(bench.cacheKeys.data(), keys.data(), keys.size() * 2, cudaMemcpyHostToDevice), "keys");
        ok(cudaMemcpy(bench.cacheValues.data(), values.data(), values.size() * 2, cudaMemcpyHostToDevice), "values");
    }
}

void compareHeads(const AttentionBench &bench, const AttentionShape &shape, const std::vector<Bf16> &qkv,
                  const std::string &what)
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
    auto &views = const_cast<AttentionBench &>(bench).views();
    const std::int64_t stride = bench.rows() / bench.sequencesCount();
    for (std::int64_t s = 0; s < bench.sequencesCount(); ++s)
        for (std::int64_t offset = 0; offset < views[size(s)].rows;
             offset += 1 + static_cast<int>(randomness()() % 7)) {
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

void canvas(AttentionVariant variant, const AttentionShape &shape, const std::vector<SequenceView> &sequences,
            std::int64_t rowStride)
{
    if (!inShard())
        return;
    const std::string what = name(variant) + " canvas, " + std::to_string(shape.heads) + "/" +
                             std::to_string(shape.kvHeads) + " heads of " + std::to_string(shape.headDim) + ", " +
                             std::to_string(sequences[0].length) + " cached";
    AttentionBench bench(shape, sequences, rowStride);
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
            const std::int64_t offset =
                sample == 0 ? view.rows - 1 : static_cast<std::int64_t>(randomness()()) % view.rows;
            const std::int64_t head = static_cast<std::int64_t>(randomness()()) % shape.heads;
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

void causal(AttentionVariant variant, const AttentionShape &shape, std::int64_t length, std::int64_t window,
            const std::vector<std::int64_t> &chunks)
{
    if (!inShard())
        return;
    const std::string what = name(variant) + " causal, " + std::to_string(shape.heads) + "/" +
                             std::to_string(shape.kvHeads) + " heads of " + std::to_string(shape.headDim) + ", " +
                             std::to_string(length) + " rows, window " + std::to_string(window);
    AttentionBench bench(shape, {{.rows = static_cast<std::int32_t>(length)}}, length);
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
                    sample < 2 ? sample * (length - 1) : static_cast<std::int64_t>(randomness()()) % length;
                const std::int64_t head = static_cast<std::int64_t>(randomness()()) % shape.heads;
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
    const AttentionShape sliding{16, 8, 256, 128, true};
    const AttentionShape full{16, 2, 512, 64, false};
    for (const AttentionVariant variant : {AttentionVariant::Portable, AttentionVariant::Best}) {
        canvas(variant, sliding, {{.length = 512, .rows = 256}, {.length = 70, .rows = 256}}, 256);
        canvas(variant, full, {{.length = 512, .rows = 256}, {.length = 1300, .rows = 200}}, 256);
        canvas(variant, full, {{.length = 512, .rows = 256}, {.length = 300, .rows = 250}}, 256);
        canvas(variant, sliding, {{.length = 1500, .rows = 256, .firstVisible = 477}}, 256);
        canvas(variant, {4, 2, 32, 16, true},
               {{.length = 0, .rows = 16}, {.length = 63, .rows = 5}, {.length = 64, .rows = 1}}, 16);
        canvas(variant, {4, 1, 64, 8, false}, {{.length = 33, .rows = 100, .firstVisible = 32}}, 130);
        canvas(variant, {2, 2, 128, 0, true}, {{.length = 1, .rows = 65}}, 65);
        canvas(variant, {3, 1, 48, 24, true}, {{.length = 200, .rows = 17, .firstVisible = 150}}, 64);
        canvas(variant, {2, 1, 272, 30, true}, {{.length = 5000, .rows = 64}}, 64);
        canvas(variant, {2, 1, 128, 64, true}, {{.length = 2000, .rows = 64}}, 64); // cut into parts
        canvas(variant, {2, 1, 256, 64, true}, {{.length = 2000, .rows = 64}}, 64);
        canvas(variant, {4, 2, 160, 40, true}, {{.length = 90, .rows = 70}, {.length = 0, .rows = 3}}, 80);
        canvas(variant, {2, 2, 256, 128, true}, {{.length = 100, .rows = 64}}, 64); // no heads to share pages with
        canvas(variant, {3, 3, 512, 64, false}, {{.length = 64, .rows = 100}}, 100);
        causal(variant, sliding, 300, 100, {300, 64, 77});
        causal(variant, sliding, 1030, 300, {1030, 1000, 64}); // many blocks: two tiles of queries share keys
        canvas(variant, sliding, {{.length = 300, .rows = 200}, {.length = 5, .rows = 65}, {.length = 64, .rows = 1}},
               256);
        causal(variant, full, 200, 0, {200, 128, 33});
        causal(variant, full, 300, 0, {300, 64}); // blocks with all columns, then with half of them
        causal(variant, {4, 2, 32, 16, true}, 150, 16, {150, 1, 16, 17});
        causal(variant, {4, 1, 128, 8, false}, 65, 0, {65, 13});
        causal(variant, {2, 1, 64, 32, true}, 1, 8, {1});
    }
    return finish("attention");
}
