// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/philox.h"
#include "tests/support/golden.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

using namespace palimpsest;
using palimpsest::test::goldenJson;
using palimpsest::test::GoldenTensors;

namespace {

std::vector<TokenId> draws(const NoiseAddress &address, NoiseKind kind, const nlohmann::json &arguments)
{
    std::vector<TokenId> ids(arguments.at("length").get<std::size_t>());
    for (std::size_t position = 0; position < ids.size(); ++position) {
        ids[position] =
            uniformTokenId(address, kind, static_cast<std::uint32_t>(position), arguments.at("vocab").get<int>());
    }
    return ids;
}

} // namespace

class TestPhilox : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void knownAnswersOfRandom123();
    void tokenIdsOfTheSpecification();
    void gumbelValuesOfTheSpecification();
    void uniformIsExactAtTheEdges();
    void drawsEqualTheGoldens();
    void gumbelNoiseEqualsTheGoldens();
    void bannedIdsAreNeverDrawn();
    void banningChangesOnlyWhatWouldHaveBeenDrawn();
    void theOnlyAllowedIdIsDrawn();
};

void TestPhilox::knownAnswersOfRandom123()
{
    QCOMPARE(philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    QCOMPARE(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
             (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    QCOMPARE(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
             (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

void TestPhilox::tokenIdsOfTheSpecification()
{
    constexpr std::int64_t kVocabSize = 262144;
    QCOMPARE(uniformTokenId({0, 0, 0}, NoiseKind::InitialCanvas, 0, kVocabSize), 104607);
    QCOMPARE(uniformTokenId({1, 0, 0}, NoiseKind::InitialCanvas, 5, kVocabSize), 61333);
    QCOMPARE(uniformTokenId({0x123456789abcdef0, 0, 48}, NoiseKind::Renoise, 17, kVocabSize), 98109);
    QCOMPARE(uniformTokenId({0x123456789abcdef0, 3, 1}, NoiseKind::Renoise, 255, kVocabSize), 244022);
}

void TestPhilox::gumbelValuesOfTheSpecification()
{
    const PhiloxBlock first = NoiseAddress{0x2a, 0, 48}.block(NoiseKind::Gumbel, 0, 0);
    const PhiloxBlock second = NoiseAddress{0x2a, 2, 7}.block(NoiseKind::Gumbel, 31, 65535);
    QCOMPARE(first, (PhiloxBlock{0xd2dd97f2, 0x3d36ce9d, 0x7c3f3157, 0x90e0c604}));
    QCOMPARE(second, (PhiloxBlock{0x532b5529, 0xc1eed649, 0xb00ffc8a, 0x3384591c}));
    const std::array<float, 4> firstGumbel{1.640121F, -0.3582338F, 0.3244745F, 0.5633736F};
    const std::array<float, 4> secondGumbel{-0.1171602F, 1.28134F, 0.9825944F, -0.4720427F};
    for (std::size_t lane = 0; lane < 4; ++lane) {
        QVERIFY(std::abs(gumbelFromWord(first[lane]) - firstGumbel[lane]) <= 1e-6F);
        QVERIFY(std::abs(gumbelFromWord(second[lane]) - secondGumbel[lane]) <= 1e-6F);
    }
    QVERIFY(std::abs(gumbelFromWord(0) - -3.129995F) <= 1e-6F);
    QVERIFY(std::abs(gumbelFromWord(0xFFFFFFFF) - 16.63553F) <= 1e-5F);
}

void TestPhilox::uniformIsExactAtTheEdges()
{
    QVERIFY(uniformFromWord(0) == 0x1p-33F);
    QVERIFY(uniformFromWord(1) == 1.5F * 0x1p-32F);
    QVERIFY(uniformFromWord(0x80000000) == 0.5F); // 0.5 + 2^-33 is nearer to 0.5 than to the next float
    QVERIFY(uniformFromWord(0xFFFFFFFF) == 1.0F - 0x1p-24F);
    QVERIFY(uniformFromWord(0xFFFFFF80) == 1.0F - 0x1p-24F); // the first word that would round to 1
    QVERIFY(uniformFromWord(0xFFFFFF7F) == 1.0F - 0x1p-24F); // the last one that does not
    QVERIFY(uniformFromWord(0xFFFFFE00) < 1.0F - 0x1p-24F);
}

void TestPhilox::drawsEqualTheGoldens()
{
    const nlohmann::json arguments = goldenJson("sampler/philox.json");
    const GoldenTensors golden = GoldenTensors::load("sampler/sampler.safetensors");
    const auto seed = arguments.at("seed").get<std::uint64_t>();
    const auto &initial = arguments.at("initial_canvas");
    QCOMPARE(draws({seed, initial.at("canvas"), 0}, NoiseKind::InitialCanvas, initial),
             golden.ids("philox.initial_canvas"));
    const auto &large = arguments.at("initial_canvas_262144");
    QCOMPARE(draws({seed, large.at("canvas"), 0}, NoiseKind::InitialCanvas, large),
             golden.ids("philox.initial_canvas_262144"));
    const auto &renoise = arguments.at("renoise");
    QCOMPARE(draws({seed, renoise.at("canvas"), renoise.at("step")}, NoiseKind::Renoise, renoise),
             golden.ids("philox.renoise"));
}

void TestPhilox::gumbelNoiseEqualsTheGoldens()
{
    const nlohmann::json all = goldenJson("sampler/philox.json");
    const auto &arguments = all.at("gumbel");
    const std::vector<float> golden = GoldenTensors::load("sampler/sampler.safetensors").floats("philox.gumbel");
    const NoiseAddress address{all.at("seed"), arguments.at("canvas"), arguments.at("step")};
    const auto vocab = arguments.at("vocab").get<std::uint32_t>();
    for (std::uint32_t i = 0; i < golden.size(); ++i) {
        const std::uint32_t id = i % vocab;
        const std::uint32_t word = address.block(NoiseKind::Gumbel, i / vocab, id / 4)[id % 4];
        QVERIFY(std::abs(gumbelFromWord(word) - golden[i]) <= 1e-5F);
    }
}

void TestPhilox::bannedIdsAreNeverDrawn()
{
    constexpr std::int64_t kVocabSize = 8;
    const std::vector<TokenId> banned{0, 3, 4, 7};
    std::array<int, kVocabSize> count{};
    constexpr int kDraws = 4000;
    for (std::uint32_t position = 0; position < kDraws; ++position) {
        ++count[static_cast<std::size_t>(
            uniformTokenIdExcept({7, 0, 3}, NoiseKind::Renoise, position, kVocabSize, banned))];
    }
    for (std::size_t id = 0; id < kVocabSize; ++id) {
        const bool isBanned = std::binary_search(banned.begin(), banned.end(), static_cast<TokenId>(id));
        // A quarter each: 1000, five standard deviations are 137.
        QVERIFY2(isBanned ? count[id] == 0 : std::abs(count[id] - 1000) < 137, std::to_string(count[id]).c_str());
    }
}

void TestPhilox::banningChangesOnlyWhatWouldHaveBeenDrawn()
{
    constexpr std::int64_t kVocabSize = 64;
    const std::vector<TokenId> banned{5, 9, 63};
    int changed = 0;
    for (std::uint32_t position = 0; position < 512; ++position) {
        const NoiseAddress address{99, 1, 12};
        const TokenId before = uniformTokenId(address, NoiseKind::InitialCanvas, position, kVocabSize);
        const TokenId after = uniformTokenIdExcept(address, NoiseKind::InitialCanvas, position, kVocabSize, banned);
        if (std::binary_search(banned.begin(), banned.end(), before)) {
            ++changed;
        } else {
            QCOMPARE(after, before);
        }
    }
    QVERIFY(changed > 0);
}

void TestPhilox::theOnlyAllowedIdIsDrawn()
{
    constexpr std::int64_t kVocabSize = 100;
    for (TokenId only = 0; only < kVocabSize; ++only) {
        std::vector<TokenId> banned(kVocabSize);
        std::iota(banned.begin(), banned.end(), 0);
        banned.erase(banned.begin() + only);
        QCOMPARE(uniformTokenIdExcept({1, 0, 0}, NoiseKind::InitialCanvas, 4, kVocabSize, banned), only);
    }
}

QTEST_GUILESS_MAIN(TestPhilox)
#include "tst_philox.moc"
