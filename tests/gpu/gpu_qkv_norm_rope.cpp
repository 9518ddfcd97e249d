// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "kernels/qkv_norm_rope.h"

#include "gpu_check.h"

#include <algorithm>
#include <cmath>

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::Bf16;
using kernels::kPagePositions;
using kernels::KvTarget;
using kernels::SequenceView;

namespace {

constexpr double kBf16Bound = 3e-3;  // one rounding to bf16, rms
constexpr double kFloatBound = 2e-6; // sums of up to 512 terms in fp32, and the rounded angles' cosines
constexpr double kAngleBound = 3e-7; // 2 ulp of the cosine, and of what is left of the angle's rounding
constexpr float kEpsilon = 0.1F;     // large enough that leaving it out would show
constexpr std::int64_t kPages = 80;

struct Shape
{
    std::int64_t rowStride;
    std::vector<std::int32_t> rows;   ///< of each sequence
    std::vector<std::int32_t> length; ///< cached before them
    std::int64_t heads;
    std::int64_t kvHeads;
    std::int64_t headDim;
    std::int64_t pairs;
    bool hasValues;
    KvTarget target;

    [[nodiscard]] std::int64_t sequences() const { return static_cast<std::int64_t>(rows.size()); }
    [[nodiscard]] std::int64_t allRows() const { return sequences() * rowStride; }
    [[nodiscard]] std::int64_t width() const { return (heads + (hasValues ? 2 : 1) * kvHeads) * headDim; }
    [[nodiscard]] std::string name() const
    {
        return "qkvNormRope " + std::to_string(sequences()) + " x " + std::to_string(rowStride) + " rows, " +
               std::to_string(heads) + " + " + std::to_string(kvHeads) + " heads of " + std::to_string(headDim) + ", " +
               std::to_string(pairs) + " pairs" + (hasValues ? "" : ", values are the keys") +
               (target == KvTarget::Cache ? ", to the cache" : "");
    }
};

/// What one launch reads, and where its sequences' pages lie: scattered, so that a wrong page shows.
class Inputs
{
public:
    explicit Inputs(const Shape &shape)
        : qkv(widened(roundedToBf16(
              randomFloats(static_cast<std::size_t>(shape.allRows() * shape.width()), testRandom(), 3.0F)))),
          queryWeight(randomFloats(static_cast<std::size_t>(shape.headDim), testRandom())),
          keyWeight(randomFloats(static_cast<std::size_t>(shape.headDim), testRandom())),
          frequencies(static_cast<std::size_t>(shape.pairs))
    {
        for (std::size_t i = 0; i < frequencies.size(); ++i)
            frequencies[i] = static_cast<float>(
                std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(shape.headDim)));
        std::vector<std::int32_t> pages(static_cast<std::size_t>(kPages));
        for (std::size_t i = 0; i < pages.size(); ++i)
            pages[i] = static_cast<std::int32_t>(i);
        std::shuffle(pages.begin(), pages.end(), testRandom());
        std::size_t next = 0;
        for (std::size_t s = 0; s < shape.rows.size(); ++s) {
            firstPage.push_back(table.size());
            const std::int64_t end = shape.length[s] + shape.rows[s];
            for (std::int64_t position = 0; position < end; position += kPagePositions)
                table.push_back(pages.at(next++));
        }
        table.push_back(0); // never empty
    }

    std::vector<float> qkv;
    std::vector<float> queryWeight;
    std::vector<float> keyWeight;
    std::vector<float> frequencies;
    std::vector<std::int32_t> table;
    std::vector<std::size_t> firstPage; ///< of each sequence, in the table
};

template <typename Element>
struct Outputs
{
    std::vector<Element> queries;
    std::vector<Element> keys;
    std::vector<Element> values;
    std::vector<float> angles;
};

std::int64_t pagesOf(const Shape &shape)
{
    return shape.target == KvTarget::Cache ? kPages : shape.sequences() * kernels::scratchPages(shape.rowStride);
}

/// Both launches, everything written to poisoned memory.
template <typename Element>
Outputs<Element> run(const Shape &shape, const Inputs &inputs)
{
    constexpr bool kWide = sizeof(Element) == 4;
    const std::string what = shape.name();
    const DeviceArray<std::int32_t> table(inputs.table);
    std::vector<SequenceView> views;
    for (std::size_t s = 0; s < shape.rows.size(); ++s)
        views.push_back(
            {.pageTable = table.data() + inputs.firstPage[s], .length = shape.length[s], .rows = shape.rows[s]});
    const DeviceArray<SequenceView> deviceViews(views);
    const DeviceArray<float> frequencies(inputs.frequencies);
    const DeviceArray<float2> angles(static_cast<std::size_t>(shape.allRows() * shape.pairs));
    const DeviceArray<float> queryWeight(inputs.queryWeight);
    const DeviceArray<float> keyWeight(inputs.keyWeight);
    const DeviceArray<float> qkvFloat(inputs.qkv);
    const DeviceArray<Bf16> qkv(roundedToBf16(inputs.qkv));
    const DeviceArray<Element> queries(static_cast<std::size_t>(shape.allRows() * shape.heads * shape.headDim));
    const auto pool = static_cast<std::size_t>(pagesOf(shape) * kernels::pageElements(shape.kvHeads, shape.headDim));
    const DeviceArray<Element> keys(pool);
    const DeviceArray<Element> values(pool);
    ok(kernels::ropeAngles({.sequences = shape.sequences(),
                            .rowStride = shape.rowStride,
                            .views = deviceViews.data(),
                            .frequencies = frequencies.data(),
                            .pairs = shape.pairs,
                            .angles = angles.data()},
                           nullptr),
       what);
    kernels::QkvNormRopeArgs args{.sequences = shape.sequences(),
                                  .rowStride = shape.rowStride,
                                  .views = deviceViews.data(),
                                  .heads = shape.heads,
                                  .kvHeads = shape.kvHeads,
                                  .headDim = shape.headDim,
                                  .pairs = shape.pairs,
                                  .epsilon = kEpsilon,
                                  .hasValues = shape.hasValues,
                                  .queryWeight = queryWeight.data(),
                                  .keyWeight = keyWeight.data(),
                                  .angles = angles.data(),
                                  .target = shape.target};
    if constexpr (kWide) {
        args.qkvFloat = qkvFloat.data();
        args.queriesFloat = queries.data();
        args.poolFloat = {keys.data(), values.data()};
    } else {
        args.qkv = qkv.data();
        args.queries = queries.data();
        args.pool = {keys.data(), values.data()};
    }
    ok(kernels::qkvNormRope(args, nullptr), what);
    std::vector<float> flat;
    for (const float2 &angle : angles.host(what))
        flat.insert(flat.end(), {angle.x, angle.y});
    return {queries.host(what), keys.host(what), values.host(what), flat};
}

/// The norm and rotation of one head in double.
std::vector<double> reference(const Shape &shape, const Inputs &inputs, const float *head, const float *weight,
                              double position)
{
    const auto size = static_cast<std::size_t>(shape.headDim);
    double squares = 0.0;
    for (std::size_t i = 0; i < size; ++i)
        squares += static_cast<double>(head[i]) * static_cast<double>(head[i]);
    const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(size) + static_cast<double>(kEpsilon));
    std::vector<double> out(size);
    for (std::size_t i = 0; i < size; ++i)
        out[i] = static_cast<double>(head[i]) * inverse * (weight != nullptr ? static_cast<double>(weight[i]) : 1.0);
    for (std::size_t i = 0; weight != nullptr && i < inputs.frequencies.size(); ++i) {
        // The angle is rounded to fp32 once, as the header says.
        const auto angle = static_cast<double>(static_cast<float>(position) * inputs.frequencies[i]);
        const double low = out[i];
        const double high = out[i + size / 2];
        out[i] = low * std::cos(angle) - high * std::sin(angle);
        out[i + size / 2] = high * std::cos(angle) + low * std::sin(angle);
    }
    return out;
}

float wide(float value)
{
    return value;
}
float wide(Bf16 value)
{
    return fromBf16(value);
}

/// Collects what was found of one kind of head, and what was wanted.
struct Pairs
{
    std::vector<float> found;
    std::vector<double> wanted;

    template <typename Element>
    void add(const std::vector<Element> &from, std::int64_t place, const std::vector<double> &head)
    {
        for (std::size_t i = 0; i < head.size(); ++i)
            found.push_back(wide(from[static_cast<std::size_t>(place) + i]));
        wanted.insert(wanted.end(), head.begin(), head.end());
    }
};

/// How many elements no launch wrote: they are poison still.
template <typename Element>
std::int64_t untouched(const std::vector<Element> &values)
{
    return std::count_if(values.begin(), values.end(), [](Element value) { return std::isnan(wide(value)); });
}

template <typename Element>
void matchesTheReference(const Shape &shape)
{
    const Inputs inputs(shape);
    const auto found = run<Element>(shape, inputs);
    const std::string what = shape.name();
    Pairs queries;
    Pairs keys;
    Pairs values;
    std::int64_t written = 0;
    for (std::int64_t s = 0; s < shape.sequences(); ++s)
        for (std::int64_t offset = 0; offset < shape.rows[static_cast<std::size_t>(s)]; ++offset, ++written) {
            const std::int64_t row = s * shape.rowStride + offset;
            const std::int64_t position = shape.length[static_cast<std::size_t>(s)] + offset;
            const bool cached = shape.target == KvTarget::Cache;
            const std::int64_t inPages = cached ? position : offset;
            const std::int64_t page = cached ? inputs.table[inputs.firstPage[static_cast<std::size_t>(s)] +
                                                            static_cast<std::size_t>(position / kPagePositions)]
                                             : s * kernels::scratchPages(shape.rowStride) + offset / kPagePositions;
            const float *line = inputs.qkv.data() + row * shape.width();
            for (std::int64_t h = 0; h < shape.heads; ++h)
                queries.add(found.queries, (row * shape.heads + h) * shape.headDim,
                            reference(shape, inputs, line + h * shape.headDim, inputs.queryWeight.data(),
                                      static_cast<double>(position)));
            for (std::int64_t h = 0; h < shape.kvHeads; ++h) {
                const std::int64_t place =
                    ((page * shape.kvHeads + h) * kPagePositions + inPages % kPagePositions) * shape.headDim;
                const float *key = line + (shape.heads + h) * shape.headDim;
                keys.add(found.keys, place,
                         reference(shape, inputs, key, inputs.keyWeight.data(), static_cast<double>(position)));
                const float *value = shape.hasValues ? key + shape.kvHeads * shape.headDim : key;
                values.add(found.values, place, reference(shape, inputs, value, nullptr, 0.0));
            }
        }
    const double bound = sizeof(Element) == 4 ? kFloatBound : kBf16Bound;
    requireClose(queries.found, queries.wanted, bound, what + ", queries");
    requireClose(keys.found, keys.wanted, bound, what + ", keys");
    requireClose(values.found, values.wanted, bound, what + ", values");
    const auto left = [&](const std::vector<Element> &all, std::int64_t headsOfRow) {
        return static_cast<std::int64_t>(all.size()) - written * headsOfRow * shape.headDim;
    };
    require(untouched(found.queries) == left(found.queries, shape.heads), what + ": queries of other rows");
    require(untouched(found.keys) == left(found.keys, shape.kvHeads), what + ": keys of other rows");
    require(untouched(found.values) == left(found.values, shape.kvHeads), what + ": values of other rows");
}

/// A row's bits are the same among so many that a block takes two and among few, and so alone.
void batchDoesNotMatter(std::int64_t headDim)
{
    constexpr std::int64_t kRows = 33; // of the sequence that comes alone: one row a block
    Shape many{.rowStride = 257,
               .rows = {257, 256, 255, kRows},
               .length = {0, 70, 3, 512},
               .heads = 16,
               .kvHeads = 8,
               .headDim = headDim,
               .pairs = headDim / 2,
               .hasValues = true,
               .target = KvTarget::Scratch};
    const Inputs inputs(many);
    const auto wanted = run<Bf16>(many, inputs);
    Shape one = many;
    one.rowStride = kRows;
    one.rows = {kRows};
    one.length = {512};
    Inputs alone = inputs;
    const auto slice = [](const auto &all, std::int64_t first, std::int64_t count) {
        return std::vector(all.begin() + first, all.begin() + first + count);
    };
    alone.qkv = slice(inputs.qkv, 3 * many.rowStride * many.width(), kRows * many.width());
    alone.firstPage = {0};
    const auto found = run<Bf16>(one, alone);
    const std::int64_t ofRow = many.heads * headDim;
    const std::int64_t page = kernels::pageElements(many.kvHeads, headDim);
    const std::int64_t firstPage = 3 * kernels::scratchPages(many.rowStride);
    const std::string what = " of heads of " + std::to_string(headDim) + ", alone and among others";
    requireSameBits(found.queries, slice(wanted.queries, 3 * many.rowStride * ofRow, kRows * ofRow), "queries" + what);
    requireSameBits(found.keys, slice(wanted.keys, firstPage * page, page), "keys" + what);
    requireSameBits(found.values, slice(wanted.values, firstPage * page, page), "values" + what);
}

void refusals()
{
    const DeviceArray<Bf16> memory(4096);
    const DeviceArray<float> weight(512);
    const DeviceArray<SequenceView> view(std::vector<SequenceView>{{.pageTable = nullptr, .length = 0, .rows = 1}});
    const DeviceArray<float2> angles(16);
    const kernels::QkvNormRopeArgs good{.sequences = 1,
                                        .rowStride = 1,
                                        .views = view.data(),
                                        .heads = 1,
                                        .kvHeads = 1,
                                        .headDim = 16,
                                        .pairs = 8,
                                        .qkv = memory.data(),
                                        .queryWeight = weight.data(),
                                        .keyWeight = weight.data(),
                                        .angles = angles.data(),
                                        .queries = memory.data() + 64,
                                        .pool = {memory.data() + 1024, memory.data() + 2048}};
    const auto refused = [&](const std::string &what, auto change) {
        kernels::QkvNormRopeArgs args = good;
        change(args);
        require(kernels::qkvNormRope(args, nullptr) == cudaErrorInvalidValue, what + " are refused");
    };
    ok(kernels::qkvNormRope(good, nullptr), "what the refusals differ from");
    using Args = kernels::QkvNormRopeArgs;
    refused("more rows than a grid has", [](Args &args) { args.sequences = args.rowStride = 1 << 20; });
    refused("no heads", [](Args &args) { args.heads = 0; });
    refused("heads of 24", [](Args &args) { args.headDim = 24; });
    refused("heads of 528", [](Args &args) { args.headDim = 528; });
    refused("more pairs than a head has", [](Args &args) { args.pairs = 9; });
    refused("pairs without angles", [](Args &args) { args.angles = nullptr; });
    refused("rows of no width", [](Args &args) { args.qkv = nullptr; });
    refused("queries that are not aligned", [](Args &args) { args.queries += 4; });
    refused("heads without a weight", [](Args &args) { args.keyWeight = nullptr; });
    kernels::QkvNormRopeArgs none = good;
    none.rowStride = 0;
    ok(kernels::qkvNormRope(none, nullptr), "no rows are nothing to do");
    require(kernels::ropeAngles({.sequences = 1, .rowStride = 1, .views = view.data(), .pairs = 8}, nullptr) ==
                cudaErrorInvalidValue,
            "angles without frequencies are refused");
}

void anglesMatch()
{
    const Shape shape{.rowStride = 40,
                      .rows = {33, 40},
                      .length = {100000, 0},
                      .heads = 1,
                      .kvHeads = 1,
                      .headDim = 64,
                      .pairs = 32,
                      .hasValues = true,
                      .target = KvTarget::Scratch};
    Inputs inputs(Shape{.rowStride = 40,
                        .rows = {33, 40},
                        .length = {0, 0},
                        .heads = 1,
                        .kvHeads = 1,
                        .headDim = 64,
                        .pairs = 32,
                        .hasValues = true,
                        .target = KvTarget::Scratch});
    const auto found = run<Bf16>(shape, inputs).angles;
    for (std::size_t s = 0; s < 2; ++s)
        for (std::int64_t offset = 0; offset < shape.rows[s]; ++offset)
            for (std::int64_t i = 0; i < shape.pairs; ++i) {
                const auto angle = static_cast<double>(static_cast<float>(shape.length[s] + offset) *
                                                       inputs.frequencies[static_cast<std::size_t>(i)]);
                const auto at = static_cast<std::size_t>(
                    ((static_cast<std::int64_t>(s) * shape.rowStride + offset) * shape.pairs + i) * 2);
                require(std::abs(static_cast<double>(found[at]) - std::cos(angle)) <= kAngleBound &&
                            std::abs(static_cast<double>(found[at + 1]) - std::sin(angle)) <= kAngleBound,
                        "the angle of position " + std::to_string(shape.length[s] + offset));
            }
}

} // namespace

int main()
{
    requireDevice();
    refusals();
    // One row, 17, rows that end in the middle of a block; heads that share a warp and that fill one; few pairs and
    // odd.
    const Shape shapes[] = {
        {1, {1}, {0}, 1, 1, 16, 8, true, KvTarget::Scratch},
        {17, {17, 5}, {63, 130}, 3, 1, 48, 24, true, KvTarget::Cache},
        {64, {64, 1, 64}, {7, 0, 100}, 4, 2, 128, 13, false, KvTarget::Scratch},
        {33, {33, 33}, {1, 255}, 16, 8, 256, 128, true, KvTarget::Cache},
        {65, {65}, {511}, 16, 2, 512, 64, false, KvTarget::Cache},
        {9, {0, 9}, {0, 4}, 5, 3, 272, 0, true, KvTarget::Scratch},
        {701, {701, 333}, {12, 64}, 16, 8, 256, 128, true, KvTarget::Cache}, // a block takes two rows
        {351, {351, 350, 351}, {0, 1, 2}, 16, 2, 512, 250, false, KvTarget::Scratch},
    };
    for (const Shape &shape : shapes) {
        matchesTheReference<Bf16>(shape);
        matchesTheReference<float>(shape);
    }
    for (const std::int64_t headDim : {256, 512})
        batchDoesNotMatter(headDim);
    anglesMatch();
    return finish("qkv_norm_rope");
}
