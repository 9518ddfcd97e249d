// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/cpu/row_kernels.h"
#include "engine/half_precision.h"
#include "engine/philox.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::cpu;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> randomFloats(std::size_t count, std::uint32_t seed, float spread = 1.0F)
{
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0.0F, spread);
    std::vector<float> out(count);
    for (float &value : out)
        value = normal(generator);
    return out;
}

bool close(double found, double wanted, double relative, double absolute)
{
    return std::abs(found - wanted) <= absolute + relative * std::abs(wanted);
}

// Lengths around every vector border.
const std::vector<std::size_t> kLengths{1, 2, 15, 16, 17, 31, 32, 33, 48, 64, 100, 256, 2816};

} // namespace

/// Each loop of each instruction set against the plain formula in double.
class TestRowKernels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void normsAndAdds();
    void gatedGeluIsTheTanhForm();
    void softcapStaysWithinTheCap();
    void bf16IsWidenedExactly();
    void w4IsDequantisedExactly();
    void softmaxBlocksAddUp();
    void blocksThatAreNotSeenChangeNothing();
    void exponentialSums();
    void gumbelBlockFindsTheBest();

private:
    static std::vector<const RowKernels *> sets()
    {
        int count = 0;
        const RowKernels *const *all = usableRowKernels(&count);
        return {all, all + count};
    }
};

void TestRowKernels::normsAndAdds()
{
    for (const RowKernels *kernels : sets()) {
        for (const std::size_t n : kLengths) {
            const auto length = static_cast<std::int64_t>(n);
            const std::vector<float> in = randomFloats(n, 1, 3.0F);
            const std::vector<float> weight = randomFloats(n, 2);
            double squares = 0.0;
            for (const float value : in)
                squares += static_cast<double>(value) * static_cast<double>(value);
            const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(n) + 1e-6);
            std::vector<float> out(n, kInfinity);
            kernels->rmsNorm(out.data(), in.data(), weight.data(), length, 1e-6F);
            std::vector<float> plain(n, kInfinity);
            kernels->rmsNorm(plain.data(), in.data(), nullptr, length, 1e-6F);
            std::vector<float> sum = in;
            kernels->addRmsNorm(sum.data(), in.data(), weight.data(), length, 1e-6F);
            std::vector<float> scaled = in;
            kernels->addScaled(scaled.data(), weight.data(), 0.25F, length);
            for (std::size_t i = 0; i < n; ++i) {
                const double normalised = static_cast<double>(in[i]) * inverse;
                const double weighted = normalised * static_cast<double>(weight[i]);
                QVERIFY2(close(out[i], weighted, 4e-6, 1e-12), kernels->name);
                QVERIFY2(close(plain[i], normalised, 4e-6, 1e-12), kernels->name);
                QVERIFY2(close(sum[i], static_cast<double>(in[i]) + weighted, 4e-6, 1e-5), kernels->name);
                QVERIFY2(
                    close(scaled[i], static_cast<double>(in[i]) + 0.25 * static_cast<double>(weight[i]), 1e-6, 1e-6),
                    kernels->name);
            }
        }
    }
}

void TestRowKernels::gatedGeluIsTheTanhForm()
{
    for (const RowKernels *kernels : sets()) {
        for (const std::size_t n : kLengths) {
            std::vector<float> gate = randomFloats(n, 3, 4.0F);
            gate[0] = -60.0F; // far in the tail
            const std::vector<float> up = randomFloats(n, 4);
            std::vector<float> out(n, kInfinity);
            kernels->gatedGelu(out.data(), gate.data(), up.data(), static_cast<std::int64_t>(n));
            for (std::size_t i = 0; i < n; ++i) {
                const double x = gate[i];
                const double gelu = 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
                QVERIFY2(close(out[i], gelu * static_cast<double>(up[i]), 1e-6, 4e-6), kernels->name);
            }
        }
    }
}

void TestRowKernels::softcapStaysWithinTheCap()
{
    for (const RowKernels *kernels : sets()) {
        for (const std::size_t n : kLengths) {
            std::vector<float> in = randomFloats(n, 5, 40.0F);
            in[0] = 1e30F;
            in[n - 1] = n > 1 ? -1e30F : 1e30F;
            std::vector<float> out(n, kInfinity);
            kernels->softcap(out.data(), in.data(), 30.0F, static_cast<std::int64_t>(n));
            for (std::size_t i = 0; i < n; ++i) {
                QVERIFY2(close(out[i], 30.0 * std::tanh(static_cast<double>(in[i]) / 30.0), 0.0, 8e-6), kernels->name);
                QVERIFY(std::abs(out[i]) <= 30.0F);
            }
        }
    }
}

void TestRowKernels::bf16IsWidenedExactly()
{
    for (const RowKernels *kernels : sets()) {
        constexpr std::int64_t kDepth = 40; // not a multiple of 16: the transposing loop has a tail
        std::vector<std::uint16_t> in(static_cast<std::size_t>(kPanelColumns * kDepth));
        for (std::size_t i = 0; i < in.size(); ++i)
            in[i] = static_cast<std::uint16_t>(i * 23U);
        std::vector<float> out(in.size());
        kernels->unpackBf16(out.data(), in.data(), static_cast<std::int64_t>(in.size()) - 1);
        for (std::size_t i = 0; i + 1 < in.size(); ++i)
            QCOMPARE(std::bit_cast<std::uint32_t>(out[i]), static_cast<std::uint32_t>(in[i]) << 16U);
        kernels->transposeBf16(out.data(), in.data(), kDepth);
        for (std::int64_t row = 0; row < kPanelColumns; ++row)
            for (std::int64_t k = 0; k < kDepth; ++k)
                QCOMPARE(std::bit_cast<std::uint32_t>(out[static_cast<std::size_t>(k * kPanelColumns + row)]),
                         static_cast<std::uint32_t>(in[static_cast<std::size_t>(row * kDepth + k)]) << 16U);
    }
}

void TestRowKernels::w4IsDequantisedExactly()
{
    constexpr std::int64_t kRows = 128;
    constexpr std::int64_t kGroup = 64;
    std::mt19937 generator(6);
    std::vector<std::uint8_t> packed(static_cast<std::size_t>(kRows * kPanelColumns / 2));
    for (std::uint8_t &byte : packed)
        byte = static_cast<std::uint8_t>(generator());
    const std::vector<float> scale = randomFloats(static_cast<std::size_t>(kRows / kGroup * kPanelColumns), 7, 0.1F);
    std::vector<float> zero(scale.size());
    for (float &value : zero)
        value = static_cast<float>(generator() % 16U);
    for (const RowKernels *kernels : sets()) {
        std::vector<float> out(static_cast<std::size_t>(kRows * kPanelColumns));
        kernels->unpackW4(out.data(), packed.data(), scale.data(), zero.data(), kRows, kGroup);
        for (std::int64_t row = 0; row < kRows; ++row) {
            for (std::int64_t column = 0; column < kPanelColumns; ++column) {
                const std::uint8_t byte = packed[static_cast<std::size_t>(row * 32 + column % 32)];
                const auto at = static_cast<std::size_t>(row / kGroup * kPanelColumns + column);
                const float wanted = (static_cast<float>(column < 32 ? byte & 15 : byte >> 4) - zero[at]) * scale[at];
                QCOMPARE(out[static_cast<std::size_t>(row * kPanelColumns + column)], wanted);
            }
        }
    }
}

void TestRowKernels::softmaxBlocksAddUp()
{
    // Three blocks with the rows' range ending inside the last: the same as one softmax over all visible scores.
    for (const RowKernels *kernels : sets()) {
        std::vector<float> scores = randomFloats(192, 8, 20.0F);
        const std::vector<float> original = scores;
        constexpr std::int64_t kBegin = 5;
        constexpr std::int64_t kEnd = 150;
        AttentionRow row{-kInfinity, 0.0F};
        std::vector<double> weights(192, 0.0);
        for (std::int64_t block = 0; block < 3; ++block) {
            const float factor =
                kernels->softmaxBlock(scores.data() + block * 64, std::max<std::int64_t>(0, kBegin - block * 64),
                                      std::min<std::int64_t>(64, kEnd - block * 64), &row);
            for (std::int64_t i = 0; i < block * 64; ++i)
                weights[static_cast<std::size_t>(i)] *= static_cast<double>(factor);
            for (std::int64_t i = 0; i < 64; ++i)
                weights[static_cast<std::size_t>(block * 64 + i)] = scores[static_cast<std::size_t>(block * 64 + i)];
        }
        double total = 0.0;
        for (std::int64_t i = kBegin; i < kEnd; ++i)
            total += std::exp(static_cast<double>(original[static_cast<std::size_t>(i)] - row.maximum));
        QVERIFY(close(row.sum, total, 1e-5, 0.0));
        for (std::int64_t i = 0; i < 192; ++i) {
            const double wanted =
                i < kBegin || i >= kEnd
                    ? 0.0
                    : std::exp(static_cast<double>(original[static_cast<std::size_t>(i)] - row.maximum));
            QVERIFY2(close(weights[static_cast<std::size_t>(i)], wanted, 1e-5, 1e-30), kernels->name);
        }
    }
}

void TestRowKernels::blocksThatAreNotSeenChangeNothing()
{
    for (const RowKernels *kernels : sets()) {
        std::vector<float> scores(64, std::numeric_limits<float>::quiet_NaN());
        AttentionRow row{3.25F, 1.75F};
        QCOMPARE(kernels->softmaxBlock(scores.data(), 10, 10, &row), 1.0F);
        QCOMPARE(row.maximum, 3.25F);
        QCOMPARE(row.sum, 1.75F);
        QVERIFY(std::ranges::all_of(scores, [](float score) { return score == 0.0F; }));
        // A block whose scores are all lower must scale the earlier output by exactly 1.
        std::ranges::fill(scores, -2.0F);
        QCOMPARE(kernels->softmaxBlock(scores.data(), 0, 64, &row), 1.0F);
    }
}

void TestRowKernels::exponentialSums()
{
    for (const RowKernels *kernels : sets()) {
        for (const std::size_t n : {std::size_t{64}, std::size_t{8192}, std::size_t{262144}}) {
            std::vector<float> row = randomFloats(n, 9, 5.0F);
            row[n / 2] = -kInfinity; // a banned id
            const std::vector<float> original = row;
            const float maximum = *std::ranges::max_element(row);
            double sum = 0.0;
            double weighted = 0.0;
            kernels->expSums(row.data(), maximum, static_cast<std::int64_t>(n), &sum, &weighted);
            double wantedSum = 0.0;
            double wantedWeighted = 0.0;
            for (std::size_t i = 0; i < n; ++i) {
                const auto distance = static_cast<double>(original[i] - maximum); // rounded as the loop rounds it
                if (std::isinf(distance)) {
                    QCOMPARE(row[i], 0.0F);
                    continue;
                }
                wantedSum += std::exp(distance);
                wantedWeighted += std::exp(distance) * distance;
                QVERIFY(close(row[i], std::exp(distance), 4e-7, 2e-38));
            }
            QVERIFY2(close(sum, wantedSum, 2e-6, 0.0), kernels->name);
            QVERIFY2(close(weighted, wantedWeighted, 2e-6, 0.0), kernels->name);
            double below = 0.0;
            std::int64_t count = 0;
            kernels->partition(row.data(), 0.01F, static_cast<std::int64_t>(n), &below, &count);
            double wantedBelow = 0.0;
            std::int64_t wantedCount = 0;
            for (const float value : row) {
                wantedBelow += value < 0.01F ? static_cast<double>(value) : 0.0;
                wantedCount += value >= 0.01F ? 1 : 0;
            }
            QCOMPARE(count, wantedCount);
            QVERIFY(close(below, wantedBelow, 1e-4, 1e-6));
        }
    }
}

void TestRowKernels::gumbelBlockFindsTheBest()
{
    constexpr std::uint64_t kSeed = 0x123456789abcdef0;
    const NoiseAddress address{.seed = kSeed, .canvas = 3, .step = 17};
    const std::uint32_t key[2] = {static_cast<std::uint32_t>(kSeed), static_cast<std::uint32_t>(kSeed >> 32U)};
    for (const RowKernels *kernels : sets()) {
        for (std::uint32_t position = 0; position < 20; ++position) {
            const std::vector<float> logits = randomFloats(64, position, 2.0F);
            constexpr std::int64_t kBlock = 5;
            GumbelBest best{-kInfinity, 0};
            kernels->gumbelBlock(logits.data(), kBlock, position, 17, (3U << 8U) | 2U, key, 0, &best);
            float wanted = -kInfinity;
            TokenId wantedId = -1;
            for (std::uint32_t i = 0; i < 64; ++i) {
                const std::uint32_t id = kBlock * 64 + i;
                const float value =
                    logits[i] + gumbelFromWord(address.block(NoiseKind::Gumbel, position, id / 4)[id % 4]);
                if (value > wanted) {
                    wanted = value;
                    wantedId = static_cast<TokenId>(id);
                }
            }
            QCOMPARE(best.id, wantedId);
            QCOMPARE(best.value, wanted);
            // A floor above every word leaves the best alone.
            GumbelBest kept{-1.0F, 9};
            kernels->gumbelBlock(logits.data(), kBlock, position, 17, (3U << 8U) | 2U, key, 0xFFFFFFFFU, &kept);
            QCOMPARE(kept.id, 9);
        }
    }
}

QTEST_GUILESS_MAIN(TestRowKernels)
#include "tst_row_kernels.moc"
