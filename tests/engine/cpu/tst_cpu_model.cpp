// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/checkpoint.h"
#include "engine/cpu/cpu_model.h"
#include "engine/error.h"
#include "tests/engine/cpu/cpu_bench.h"
#include "tests/support/golden.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::cpu;
using namespace palimpsest::test;

namespace {

bool operator==(const PositionResult &a, const PositionResult &b)
{
    const auto same = [](const Alternative &x, const Alternative &y) {
        return x.id == y.id && x.probability == y.probability;
    };
    return a.argmax == b.argmax && a.sampled == b.sampled && a.entropyNats == b.entropyNats &&
           std::ranges::equal(a.alternatives, b.alternatives, same);
}

bool sameResults(const std::vector<PositionResult> &a, const std::vector<PositionResult> &b)
{
    return std::ranges::equal(a, b, [](const PositionResult &x, const PositionResult &y) { return x == y; });
}

} // namespace

/// What the model's results do not depend on, and what it refuses.
class TestCpuModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void chunksGiveTheSameCacheBitForBit();
    void resultsDoNotDependOnBatchOrThreads();
    void forkedPrefixGivesTheSameBytes();
    void refusesIdsOutsideTheVocabulary();
    void refusesMoreThanTheContext();
    void stopsBetweenChunks();
    void loadingCanBeCancelled();
};

void TestCpuModel::chunksGiveTheSameCacheBitForBit()
{
    const auto engine = loadModel("tiny-a/dg-w4a16");
    std::vector<TokenId> ids(300);
    std::uint32_t state = 9;
    for (TokenId &id : ids) {
        state = state * 1664525U + 1013904223U;
        id = static_cast<TokenId>(state % 500U);
    }
    const auto whole = encoded(*engine, ids);
    const std::vector<std::vector<std::int64_t>> cuts{
        {1, 1, 1, 61}, {63, 1, 64}, {100, 100}, {255}, std::vector<std::int64_t>(299, 1)};
    for (const auto &cut : cuts) {
        const auto pieces = encoded(*engine, ids, cut);
        for (std::int64_t layer = 0; layer < static_cast<std::int64_t>(engine->config().layers.size()); ++layer) {
            const auto &a = static_cast<const CpuSequence &>(*whole);
            const auto &b = static_cast<const CpuSequence &>(*pieces);
            QVERIFY(wholeCache(a, layer, cachedKeys) == wholeCache(b, layer, cachedKeys));
            QVERIFY(wholeCache(a, layer, cachedValues) == wholeCache(b, layer, cachedValues));
        }
    }
}

void TestCpuModel::resultsDoNotDependOnBatchOrThreads()
{
    // Eight canvases with prefixes of different lengths, two steps: alone, all together, on one thread and on three.
    constexpr std::size_t kCanvases = 8;
    std::vector<std::vector<std::vector<PositionResult>>> variants;
    for (const int threads : {1, 2, 3}) {
        const auto engine = loadModel("tiny-b/dg-w4a16", threads);
        std::vector<std::unique_ptr<Sequence>> prefixes;
        std::vector<std::vector<TokenId>> canvases(kCanvases);
        for (std::size_t i = 0; i < kCanvases; ++i) {
            std::vector<TokenId> prompt(1 + i * 13);
            std::iota(prompt.begin(), prompt.end(), static_cast<TokenId>(i));
            prefixes.push_back(encoded(*engine, prompt));
            canvases[i].resize(i == 3 ? 21 : 64); // one is trimmed
            for (std::size_t p = 0; p < canvases[i].size(); ++p)
                canvases[i][p] = uniformTokenId({.seed = i, .canvas = 0, .step = 0}, NoiseKind::InitialCanvas,
                                                static_cast<std::uint32_t>(p), engine->config().vocabSize);
        }
        for (const std::size_t batch : {std::size_t{1}, kCanvases}) {
            std::vector<std::vector<PositionResult>> results(kCanvases);
            std::vector<std::unique_ptr<SelfConditioning>> states;
            for (std::size_t i = 0; i < kCanvases; ++i)
                states.push_back(engine->newSelfConditioning());
            for (std::uint32_t stepNumber = 2; stepNumber >= 1; --stepNumber) {
                std::vector<DenoiseJob> jobs;
                for (std::size_t i = 0; i < kCanvases; ++i) {
                    results[i].resize(canvases[i].size());
                    jobs.push_back({.prefix = prefixes[i].get(),
                                    .canvas = canvases[i],
                                    .conditioning = states[i].get(),
                                    .temperature = 0.6F,
                                    .noise = {.seed = i, .canvas = 0, .step = stepNumber},
                                    .logitBias = {},
                                    .results = results[i]});
                }
                for (std::size_t first = 0; first < kCanvases; first += batch)
                    engine->denoise(std::span(jobs).subspan(first, batch));
            }
            variants.push_back(std::move(results));
        }
    }
    for (const auto &variant : variants)
        for (std::size_t i = 0; i < kCanvases; ++i)
            QVERIFY(sameResults(variant[i], variants.front()[i]));
}

void TestCpuModel::forkedPrefixGivesTheSameBytes()
{
    const auto engine = loadModel("tiny-a/dg-w4a16");
    std::vector<TokenId> ids(200);
    std::iota(ids.begin(), ids.end(), 3);
    std::vector<TokenId> other(ids.begin(), ids.begin() + 90);
    other.insert(other.end(), {7, 7, 8, 9});
    const std::vector<TokenId> canvas(32, 11);

    const auto source = encoded(*engine, ids);
    auto forked = engine->fork(*source, 90);
    QVERIFY(forked != nullptr);
    QCOMPARE(forked->length(), 90);
    engine->encode(*forked, std::span(std::as_const(other)).subspan(90), {});
    const auto fresh = encoded(*engine, other);
    Step a;
    Step b;
    a.run(*engine, *forked, canvas, nullptr, 0.5F);
    b.run(*engine, *fresh, canvas, nullptr, 0.5F);
    QVERIFY(sameResults(a.results, b.results));

    // The source must not have noticed.
    const auto again = encoded(*engine, ids);
    a.run(*engine, *source, canvas, nullptr, 0.5F);
    b.run(*engine, *again, canvas, nullptr, 0.5F);
    QVERIFY(sameResults(a.results, b.results));

    // A sliding layer drops what lies far back: such a prefix cannot be restored.
    std::vector<TokenId> longer(CpuSequence::kRetainedPositions + 400, 5);
    const auto far = encoded(*engine, longer);
    QVERIFY(engine->fork(*far, 100) == nullptr);
    QVERIFY(engine->fork(*far, far->length() - 500) != nullptr);
    QVERIFY(engine->fork(*far, far->length() + 1) == nullptr);
}

void TestCpuModel::refusesIdsOutsideTheVocabulary()
{
    const auto engine = loadModel("tiny-a/dg-w4a16");
    const auto sequence = engine->newSequence();
    for (const TokenId id : {-1, 512, std::numeric_limits<TokenId>::max()}) {
        const std::vector<TokenId> ids{1, id};
        QVERIFY_EXCEPTION_THROWN(engine->encode(*sequence, ids, {}), Error);
        QCOMPARE(sequence->length(), 0);
    }
}

void TestCpuModel::refusesMoreThanTheContext()
{
    const auto engine = loadModel("tiny-a/dg-w4a16");
    const auto sequence = engine->newSequence();
    const std::vector<TokenId> ids(static_cast<std::size_t>(engine->config().maxPositions) + 1, 4);
    try {
        engine->encode(*sequence, ids, {});
        QFAIL("encoded more than the context");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::ContextLength);
    }
    QCOMPARE(sequence->length(), 0);
}

void TestCpuModel::stopsBetweenChunks()
{
    const auto engine = loadModel("tiny-a/dg-w4a16");
    const auto sequence = engine->newSequence();
    std::stop_source stop;
    stop.request_stop();
    const std::vector<TokenId> ids(50, 4);
    QVERIFY(!engine->encode(*sequence, ids, stop.get_token()));
    QCOMPARE(sequence->length(), 0);
}

void TestCpuModel::loadingCanBeCancelled()
{
    const auto checkpoint = Checkpoint::open(goldenFolder() / "models/tiny-a/dg-w4a16");
    double last = 0.0;
    const auto whole = makeCpuBackend(checkpoint, {.threads = 1}, [&](double part) {
        last = part;
        return true;
    });
    QCOMPARE(last, 1.0);
    QVERIFY(whole->info().weightBytes > 0);
    QVERIFY_EXCEPTION_THROWN(
        static_cast<void>(makeCpuBackend(checkpoint, {.threads = 1}, [](double) { return false; })), Error);
}

QTEST_GUILESS_MAIN(TestCpuModel)
#include "tst_cpu_model.moc"
