// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "kernels/chip.h"
#include "kernels/moe_w4_gemm.h"

#include "gpu_check.h"
#include "w4_random.h"

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::W4Variant;

namespace {

// A bf16 store is off by at most 2^-8 = 3.9e-3 of the value. The fp32 sums round once for 16 columns and once for a
// group, a few hundred times 2^-24.
constexpr double kFloatBound = 1e-5;
constexpr double kBf16Bound = 4e-3;

bool hasWarpgroups()
{
    kernels::ChipChoices chip;
    ok(kernels::currentChip(chip), "currentChip");
    return chip.wgmma;
}

enum class Spread { Even, OneExpert, FewExperts, Skewed };

struct Shape
{
    std::int64_t tokens;
    std::int64_t slotsPerToken;
    std::int64_t experts;
    std::int64_t hidden;
    std::int64_t inner;
    Spread spread;
};

std::string nameOf(const Shape &shape)
{
    return "tokens " + std::to_string(shape.tokens) + " x " + std::to_string(shape.slotsPerToken) + ", experts " +
           std::to_string(shape.experts) + ", " + std::to_string(shape.hidden) + " -> " + std::to_string(shape.inner) +
           ", spread " + std::to_string(static_cast<int>(shape.spread));
}

/// What moeRoute() would give, with a distribution of choice.
struct Routing
{
    std::vector<std::int32_t> experts; // by slot
    std::vector<std::int32_t> offsets;
    std::vector<std::int32_t> slots; // by position

    Routing(std::vector<std::int32_t> chosen, std::int64_t expertCount) : experts(std::move(chosen))
    {
        sort(expertCount);
    }

    explicit Routing(const Shape &shape)
    {
        const auto count = static_cast<std::size_t>(shape.tokens * shape.slotsPerToken);
        const auto expertCount = static_cast<std::uint32_t>(shape.experts);
        for (std::size_t slot = 0; slot < count; ++slot) {
            std::uint32_t expert = testRandom()() % expertCount;
            if (shape.spread == Spread::OneExpert)
                expert = expertCount / 2;
            else if (shape.spread == Spread::FewExperts)
                expert = expert % 2 == 0 ? 0 : expertCount - 1;
            else if (shape.spread == Spread::Skewed)
                expert = expert * (testRandom()() % expertCount) / expertCount;
            experts.push_back(static_cast<std::int32_t>(expert));
        }
        sort(shape.experts);
    }

    void sort(std::int64_t expertCount)
    {
        for (std::int32_t expert = 0; expert < expertCount; ++expert) {
            offsets.push_back(static_cast<std::int32_t>(slots.size()));
            for (std::size_t slot = 0; slot < experts.size(); ++slot)
                if (experts[slot] == expert)
                    slots.push_back(static_cast<std::int32_t>(slot));
        }
        offsets.push_back(static_cast<std::int32_t>(slots.size()));
    }
};

double geluTanh(double x)
{
    return 0.5 * x * (1.0 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

/// All outputs of small products, a thousand of large ones.
std::size_t strideOf(std::size_t outputs, std::int64_t columns)
{
    const std::size_t most = 20'000'000 / static_cast<std::size_t>(columns);
    return outputs <= most ? 1 : outputs / most | 1U; // odd: walks through all columns
}

class Experts
{
public:
    explicit Experts(const Shape &shape) : Experts(shape, Routing(shape)) {}

    Experts(const Shape &shape, Routing routing)
        : m_shape(shape),
          m_routing(std::move(routing)),
          m_input(roundedToBf16(randomFloats(static_cast<std::size_t>(shape.tokens * shape.hidden), testRandom()))),
          m_gateUp(shape.experts, 2 * shape.inner, shape.hidden, 128, testRandom()),
          m_down(shape.experts, shape.hidden, shape.inner, 64, testRandom()),
          m_gateUpBlocks(m_gateUp.blocks(kernels::W4RowOrder::GateUp)),
          m_downBlocks(m_down.blocks(kernels::W4RowOrder::Plain)),
          m_offsets(m_routing.offsets),
          m_slots(m_routing.slots)
    {
    }

    std::vector<kernels::Bf16> gateUp(W4Variant variant, std::int64_t tokens = -1)
    {
        const DeviceArray<kernels::Bf16> input(m_input);
        const DeviceArray<kernels::Bf16> out(m_routing.slots.size() * static_cast<std::size_t>(m_shape.inner));
        ok(kernels::moeGateUp({.tokens = tokens < 0 ? m_shape.tokens : tokens,
                               .slotsPerToken = m_shape.slotsPerToken,
                               .experts = m_shape.experts,
                               .hidden = m_shape.hidden,
                               .inner = m_shape.inner,
                               .input = input.data(),
                               .weights = m_gateUpBlocks->data(),
                               .expertOffsets = m_offsets.data(),
                               .slots = m_slots.data(),
                               .out = out.data(),
                               .variant = variant},
                              nullptr),
           "moeGateUp");
        return out.host("moeGateUp " + nameOf(m_shape));
    }

    void down(W4Variant variant, const std::vector<kernels::Bf16> &inner, std::vector<kernels::Bf16> *bf16,
              std::vector<float> *wide)
    {
        const std::size_t count = m_routing.slots.size() * static_cast<std::size_t>(m_shape.hidden);
        const DeviceArray<kernels::Bf16> input(inner);
        const DeviceArray<kernels::Bf16> outBf16(bf16 != nullptr ? count : 0);
        const DeviceArray<float> outFloat(wide != nullptr ? count : 0);
        ok(kernels::moeDown({.tokens = m_shape.tokens,
                             .slotsPerToken = m_shape.slotsPerToken,
                             .experts = m_shape.experts,
                             .hidden = m_shape.hidden,
                             .inner = m_shape.inner,
                             .input = input.data(),
                             .weights = m_downBlocks->data(),
                             .expertOffsets = m_offsets.data(),
                             .slots = m_slots.data(),
                             .outBf16 = bf16 != nullptr ? outBf16.data() : nullptr,
                             .outFloat = wide != nullptr ? outFloat.data() : nullptr,
                             .variant = variant},
                            nullptr),
           "moeDown");
        if (bf16 != nullptr)
            *bf16 = outBf16.host("moeDown " + nameOf(m_shape));
        else
            *wide = outFloat.host("moeDown fp32 " + nameOf(m_shape));
    }

    /// Both launches, the second beginning beside the first.
    std::vector<kernels::Bf16> overlapped()
    {
        const DeviceArray<kernels::Bf16> input(m_input);
        const DeviceArray<kernels::Bf16> inner(m_routing.slots.size() * static_cast<std::size_t>(m_shape.inner));
        const DeviceArray<kernels::Bf16> out(m_routing.slots.size() * static_cast<std::size_t>(m_shape.hidden));
        ok(cudaDeviceSynchronize(), "poison"); // the lists and the poison are complete before the first launch
        ok(kernels::moeGateUp({.tokens = m_shape.tokens,
                               .slotsPerToken = m_shape.slotsPerToken,
                               .experts = m_shape.experts,
                               .hidden = m_shape.hidden,
                               .inner = m_shape.inner,
                               .input = input.data(),
                               .weights = m_gateUpBlocks->data(),
                               .expertOffsets = m_offsets.data(),
                               .slots = m_slots.data(),
                               .out = inner.data()},
                              nullptr),
           "moeGateUp");
        ok(kernels::moeDown({.tokens = m_shape.tokens,
                             .slotsPerToken = m_shape.slotsPerToken,
                             .experts = m_shape.experts,
                             .hidden = m_shape.hidden,
                             .inner = m_shape.inner,
                             .input = inner.data(),
                             .weights = m_downBlocks->data(),
                             .expertOffsets = m_offsets.data(),
                             .slots = m_slots.data(),
                             .outBf16 = out.data(),
                             .followsGateUp = true},
                            nullptr),
           "moeDown");
        return out.host("overlapped " + nameOf(m_shape));
    }

    /// The warpgroup product, where there is one, against the portable one, which is compared with the reference.
    void compareVariants()
    {
        const auto inner = gateUp(W4Variant::Portable);
        checkGateUp(inner);
        std::vector<kernels::Bf16> bf16;
        std::vector<float> wide;
        down(W4Variant::Portable, inner, &bf16, nullptr);
        down(W4Variant::Portable, inner, nullptr, &wide);
        checkDown(wide, inner, kFloatBound);
        if (!hasWarpgroups())
            return;
        requireSameBits(gateUp(W4Variant::Warpgroup), inner, "warpgroups' moeGateUp " + nameOf(m_shape));
        std::vector<kernels::Bf16> other;
        std::vector<float> otherWide;
        down(W4Variant::Warpgroup, inner, &other, nullptr);
        requireSameBits(other, bf16, "warpgroups' moeDown " + nameOf(m_shape));
        down(W4Variant::Warpgroup, inner, nullptr, &otherWide);
        requireSameBits(otherWide, wide, "warpgroups' moeDown fp32 " + nameOf(m_shape));
    }

    void checkGateUp(const std::vector<kernels::Bf16> &found) const
    {
        const auto inner = static_cast<std::size_t>(m_shape.inner);
        const std::vector<float> input = widened(m_input);
        std::vector<float> sampled;
        std::vector<double> wanted;
        const std::size_t stride = strideOf(found.size(), 2 * m_shape.hidden);
        for (std::size_t at = 0; at < found.size(); at += stride) {
            const std::int32_t slot = m_routing.slots[at / inner];
            const std::int64_t expert = m_routing.experts[static_cast<std::size_t>(slot)];
            const auto column = static_cast<std::int64_t>(at % inner);
            const float *x = input.data() + slot / m_shape.slotsPerToken * m_shape.hidden;
            wanted.push_back(geluTanh(m_gateUp.product(expert, column, x)) *
                             m_gateUp.product(expert, m_shape.inner + column, x));
            sampled.push_back(fromBf16(found[at]));
        }
        requireClose(sampled, wanted, kBf16Bound, "moeGateUp " + nameOf(m_shape));
        requireFinite(widened(found), "moeGateUp " + nameOf(m_shape));
    }

    void checkDown(const std::vector<float> &found, const std::vector<kernels::Bf16> &innerBits, double bound) const
    {
        const auto hidden = static_cast<std::size_t>(m_shape.hidden);
        const std::vector<float> inner = widened(innerBits);
        std::vector<std::size_t> positionOf(m_routing.slots.size());
        for (std::size_t position = 0; position < positionOf.size(); ++position)
            positionOf[static_cast<std::size_t>(m_routing.slots[position])] = position;
        std::vector<float> sampled;
        std::vector<double> wanted;
        const std::size_t stride = strideOf(found.size(), m_shape.inner);
        for (std::size_t at = 0; at < found.size(); at += stride) {
            const std::size_t slot = at / hidden;
            wanted.push_back(m_down.product(m_routing.experts[slot], static_cast<std::int64_t>(at % hidden),
                                            inner.data() + positionOf[slot] * static_cast<std::size_t>(m_shape.inner)));
            sampled.push_back(found[at]);
        }
        requireClose(sampled, wanted, bound, "moeDown " + nameOf(m_shape));
        requireFinite(found, "moeDown " + nameOf(m_shape));
    }

private:
    /// The arrays start as NaN: what was not written shows.
    static void requireFinite(const std::vector<float> &values, const std::string &what)
    {
        require(std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }),
                what + ": not finite, or not written");
    }

    Shape m_shape;
    Routing m_routing;
    std::vector<kernels::Bf16> m_input;
    RandomW4 m_gateUp;
    RandomW4 m_down;
    std::unique_ptr<DeviceArray<std::uint8_t>> m_gateUpBlocks;
    std::unique_ptr<DeviceArray<std::uint8_t>> m_downBlocks;
    DeviceArray<std::int32_t> m_offsets;
    DeviceArray<std::int32_t> m_slots;
};

void matchesTheReference(const Shape &shape)
{
    Experts experts(shape);
    const auto inner = experts.gateUp(W4Variant::Automatic);
    experts.checkGateUp(inner);
    std::vector<kernels::Bf16> bf16;
    std::vector<float> wide;
    experts.down(W4Variant::Automatic, inner, &bf16, nullptr);
    experts.down(W4Variant::Automatic, inner, nullptr, &wide);
    experts.checkDown(widened(bf16), inner, kBf16Bound);
    experts.checkDown(wide, inner, kFloatBound);

    for (int run = 0; run < 3; ++run)
        requireSameBits(experts.overlapped(), bf16, "overlapped " + nameOf(shape));

    requireSameBits(experts.gateUp(W4Variant::Portable), inner, "portable moeGateUp " + nameOf(shape));
    std::vector<kernels::Bf16> portable;
    experts.down(W4Variant::Portable, inner, &portable, nullptr);
    requireSameBits(portable, bf16, "portable moeDown " + nameOf(shape));
}

/// Numbers of an expert's tokens around what an item of the warpgroup product takes, beside experts with none and few;
/// inner activations of one group of 64 and of odd numbers of them.
void tokensOfItems(std::int64_t hidden, std::int64_t inner)
{
    constexpr std::int64_t kExperts = 9;
    for (const std::vector<std::int64_t> &counts :
         std::vector<std::vector<std::int64_t>>{{0, 1, 0, 17, 72, 73, 80, 81, 0},
                                                {88, 89, 95, 96, 97, 8, 9, 0, 3},
                                                {0, 0, 0, 145, 0, 0, 0, 0, 0},
                                                {144, 192, 193, 1, 56, 57, 64, 65, 2}}) {
        std::vector<std::int32_t> experts;
        for (std::size_t expert = 0; expert < counts.size(); ++expert)
            experts.insert(experts.end(), static_cast<std::size_t>(counts[expert]), static_cast<std::int32_t>(expert));
        std::shuffle(experts.begin(), experts.end(), testRandom());
        const auto tokens = static_cast<std::int64_t>(experts.size());
        const Shape shape{tokens, 1, kExperts, hidden, inner, Spread::Even};
        Experts layer(shape, Routing(std::move(experts), kExperts));
        layer.compareVariants();
    }
}

void repeatsItself()
{
    Experts experts({200, 4, 16, 256, 192, Spread::Skewed});
    const auto first = experts.gateUp(W4Variant::Automatic);
    for (int run = 0; run < 20; ++run)
        requireSameBits(experts.gateUp(W4Variant::Automatic), first, "run " + std::to_string(run));
}

/// The outputs of expert 1 must not change with the tokens beside it: 5 tokens alone, then among 70 others.
void batchDoesNotMatter()
{
    constexpr std::int64_t kHidden = 384;
    constexpr std::int64_t kInner = 128;
    constexpr std::int64_t kAlone = 5;
    constexpr std::int64_t kTogether = 75;
    const RandomW4 weights(2, 2 * kInner, kHidden, 128, testRandom());
    const auto blocks = weights.blocks(kernels::W4RowOrder::GateUp);
    const auto input = roundedToBf16(randomFloats(kTogether * kHidden, testRandom()));
    const DeviceArray<kernels::Bf16> deviceInput(input);
    const auto run = [&](std::int64_t tokens) {
        std::vector<std::int32_t> slots(static_cast<std::size_t>(tokens));
        for (std::size_t i = 0; i < slots.size(); ++i)
            slots[i] = static_cast<std::int32_t>(i);
        const DeviceArray<std::int32_t> deviceSlots(slots);
        const DeviceArray<std::int32_t> offsets(std::vector<std::int32_t>{0, 0, static_cast<std::int32_t>(tokens)});
        const DeviceArray<kernels::Bf16> out(static_cast<std::size_t>(tokens * kInner));
        ok(kernels::moeGateUp({.tokens = tokens,
                               .slotsPerToken = 1,
                               .experts = 2,
                               .hidden = kHidden,
                               .inner = kInner,
                               .input = deviceInput.data(),
                               .weights = blocks->data(),
                               .expertOffsets = offsets.data(),
                               .slots = deviceSlots.data(),
                               .out = out.data()},
                              nullptr),
           "moeGateUp");
        return out.host();
    };
    const auto alone = run(kAlone);
    auto together = run(kTogether);
    together.resize(alone.size());
    requireSameBits(together, alone, "a token beside others");
}

void refusals()
{
    const DeviceArray<std::uint8_t> memory(1024);
    kernels::MoeGateUpArgs args{.tokens = 1,
                                .slotsPerToken = 1,
                                .experts = 1,
                                .hidden = 64,
                                .inner = 64,
                                .input = reinterpret_cast<const kernels::Bf16 *>(memory.data()),
                                .weights = memory.data(),
                                .expertOffsets = reinterpret_cast<const std::int32_t *>(memory.data()),
                                .slots = reinterpret_cast<const std::int32_t *>(memory.data()),
                                .out = reinterpret_cast<kernels::Bf16 *>(memory.data())};
    require(kernels::moeGateUp(args, nullptr) == cudaErrorInvalidValue, "hidden 64 is refused");
    args.hidden = 128;
    args.inner = 8;
    require(kernels::moeGateUp(args, nullptr) == cudaErrorInvalidValue, "inner 8 is refused");
    args.inner = 64;
    args.experts = 513;
    require(kernels::moeGateUp(args, nullptr) == cudaErrorInvalidValue, "513 experts are refused");
    args.experts = 1;
    args.tokens = 0;
    require(kernels::moeGateUp(args, nullptr) == cudaSuccess, "no tokens are nothing to do");
}

} // namespace

int main()
{
    requireDevice();
    const Shape shapes[] = {
        {1, 1, 1, 128, 64, Spread::Even},          {1, 8, 128, 128, 64, Spread::Even},
        {17, 2, 8, 128, 64, Spread::Even},         {32, 2, 8, 128, 64, Spread::Even},
        {64, 4, 6, 256, 192, Spread::Even},        {64, 4, 6, 256, 192, Spread::OneExpert},
        {33, 8, 32, 256, 192, Spread::FewExperts}, {300, 1, 5, 384, 320, Spread::Skewed},
        {1, 8, 16, 2816, 704, Spread::Even},       {40, 8, 16, 2816, 704, Spread::Skewed},
        {129, 2, 4, 2816, 704, Spread::OneExpert}, {700, 8, 12, 512, 1088, Spread::Even},
    };
    for (const Shape &shape : shapes)
        matchesTheReference(shape);
    for (const auto &[hidden, inner] :
         {std::pair<std::int64_t, std::int64_t>{512, 64}, {1152, 704}, {384, 832}, {2816, 896}, {256, 1216}})
        tokensOfItems(hidden, inner);
    repeatsItself();
    batchDoesNotMatter();
    refusals();
    return finish("moe_w4_gemm");
}
