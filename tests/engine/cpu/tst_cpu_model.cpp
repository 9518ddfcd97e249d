// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/checkpoint.h"
#include "engine/cpu/cpu_model.h"
#include "engine/error.h"
#include "tests/support/golden.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace palimpsest;
using namespace palimpsest::cpu;
using palimpsest::test::goldenFolder;
using palimpsest::test::goldenJson;
using palimpsest::test::GoldenTensors;

namespace {

// Tolerances of the fixtures' README for a float32 engine.
constexpr double kHiddenTolerance = 1e-3;
constexpr double kCacheTolerance = 5e-4;
constexpr double kLogitTolerance = 1e-3;
constexpr double kInputTolerance = 1e-4;
constexpr double kLayerTolerance = 5e-4;
constexpr double kRouterTolerance = 1e-5;

std::unique_ptr<CpuModel> loadModel(const std::filesystem::path &folder, int threads = 2)
{
    return std::make_unique<CpuModel>(Checkpoint::open(goldenFolder() / "models" / folder),
                                      CpuBackendSettings{.threads = threads}, LoadProgress{});
}

double largestDifference(const std::vector<float> &a, const std::vector<float> &b)
{
    if (a.size() != b.size() || a.empty())
        return std::numeric_limits<double>::infinity();
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
        if (!(difference <= largest)) // also catches NaN
            largest = difference;
    }
    return largest;
}

/// Keys or values of all cached positions of a layer, [positions, kvHeads, headDim], as the fixtures have them.
std::vector<float> cachedKeys(const CpuSequence &sequence, std::int64_t layer, std::int64_t position)
{
    const KvLayout &layout = sequence.layout(layer);
    const KvBlock &block = sequence.block(layer, position / kBlockPositions);
    std::vector<float> out;
    for (std::int64_t head = 0; head < layout.kvHeads; ++head)
        for (std::int64_t i = 0; i < layout.headDim; ++i)
            out.push_back(block.keys(layout, head)[i * kBlockPositions + position % kBlockPositions]);
    return out;
}

std::vector<float> cachedValues(const CpuSequence &sequence, std::int64_t layer, std::int64_t position)
{
    const KvLayout &layout = sequence.layout(layer);
    const KvBlock &block = sequence.block(layer, position / kBlockPositions);
    std::vector<float> out;
    for (std::int64_t head = 0; head < layout.kvHeads; ++head)
        for (std::int64_t i = 0; i < layout.headDim; ++i)
            out.push_back(block.values(
                layout, head,
                i / layout.valueColumns)[position % kBlockPositions * layout.valueColumns + i % layout.valueColumns]);
    return out;
}

std::vector<float> wholeCache(const CpuSequence &sequence, std::int64_t layer,
                              std::vector<float> (*part)(const CpuSequence &, std::int64_t, std::int64_t))
{
    std::vector<float> all;
    for (std::int64_t position = 0; position < sequence.length(); ++position) {
        const std::vector<float> one = part(sequence, layer, position);
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

std::unique_ptr<Sequence> encoded(CpuModel &model, std::span<const TokenId> ids,
                                  const std::vector<std::int64_t> &chunks = {})
{
    auto sequence = model.newSequence();
    std::size_t from = 0;
    for (const std::int64_t chunk : chunks) {
        model.encode(*sequence, ids.subspan(from, static_cast<std::size_t>(chunk)), {});
        from += static_cast<std::size_t>(chunk);
    }
    model.encode(*sequence, ids.subspan(from), {});
    return sequence;
}

/// One denoising step; the results are kept alive with it.
struct Step
{
    std::vector<PositionResult> results;

    void run(CpuModel &model, const Sequence &prefix, const std::vector<TokenId> &canvas,
             SelfConditioning *conditioning, float temperature, std::uint64_t seed = 1)
    {
        results.resize(canvas.size());
        const DenoiseJob job{.prefix = &prefix,
                             .canvas = canvas,
                             .conditioning = conditioning,
                             .temperature = temperature,
                             .noise = {.seed = seed, .canvas = 0, .step = 7},
                             .logitBias = {},
                             .results = results};
        model.denoise({&job, 1});
    }
};

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

class TestCpuModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void encoderMatchesTheReference_data();
    void encoderMatchesTheReference();
    void chunksGiveTheSameCacheBitForBit();
    void decoderMatchesTheReference_data();
    void decoderMatchesTheReference();
    void unquantisedCheckpointMatchesTheReference();
    void resultsDoNotDependOnBatchOrThreads();
    void forkedPrefixGivesTheSameBytes();
    void refusesIdsOutsideTheVocabulary();
    void refusesMoreThanTheContext();
    void stopsBetweenChunks();
    void loadingCanBeCancelled();
};

void TestCpuModel::encoderMatchesTheReference_data()
{
    QTest::addColumn<QString>("model");
    QTest::newRow("tiny-a") << QStringLiteral("tiny-a");
    QTest::newRow("tiny-b") << QStringLiteral("tiny-b");
}

void TestCpuModel::encoderMatchesTheReference()
{
    QFETCH(QString, model);
    const std::string name = model.toStdString();
    const auto engine = loadModel(name + "/dg-w4a16");
    const auto golden = GoldenTensors::load("encoder/" + name + ".safetensors");
    const auto description = goldenJson("encoder/" + name + ".json");
    for (const auto &entry : description.at("cases")) {
        const std::string prefix = "n" + std::to_string(entry.at("length").get<std::int64_t>()) + ".";
        const std::vector<TokenId> ids = golden.ids(prefix + "ids");
        std::vector<std::vector<std::int64_t>> cuts{{}};
        for (const auto &chunks : entry.at("chunks"))
            cuts.push_back(chunks.at("sizes").get<std::vector<std::int64_t>>());
        for (const auto &cut : cuts) {
            Trace trace;
            if (cut.empty())
                engine->setTrace(&trace);
            const auto sequence = encoded(*engine, ids, cut);
            engine->setTrace(nullptr);
            const auto &cache = static_cast<const CpuSequence &>(*sequence);
            if (cut.empty())
                QVERIFY(largestDifference(trace.lastHidden, golden.floats(prefix + "last_hidden")) <= kHiddenTolerance);
            for (std::size_t layer = 0; layer < engine->config().layers.size(); ++layer) {
                const std::string layerName = prefix + "layer" + std::to_string(layer) + ".";
                const auto index = static_cast<std::int64_t>(layer);
                QVERIFY(largestDifference(wholeCache(cache, index, cachedKeys), golden.floats(layerName + "k")) <=
                        kCacheTolerance);
                QVERIFY(largestDifference(wholeCache(cache, index, cachedValues), golden.floats(layerName + "v")) <=
                        kCacheTolerance);
            }
        }
    }
}

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

void TestCpuModel::decoderMatchesTheReference_data()
{
    encoderMatchesTheReference_data();
}

void TestCpuModel::decoderMatchesTheReference()
{
    QFETCH(QString, model);
    const std::string name = model.toStdString();
    const auto engine = loadModel(name + "/dg-w4a16");
    const auto golden = GoldenTensors::load("decoder/" + name + ".safetensors");
    const auto description = goldenJson("decoder/" + name + ".json");
    for (const auto &entry : description.at("cases")) {
        const std::string prefix = "n" + std::to_string(entry.at("prompt_length").get<std::int64_t>()) + ".";
        const auto sequence = encoded(*engine, golden.ids(prefix + "prompt"));
        const auto conditioning = engine->newSelfConditioning();
        Step step;
        Trace first;
        engine->setTrace(&first);
        step.run(*engine, *sequence, golden.ids(prefix + "step1.canvas"), conditioning.get(), 0.7F);
        const double firstError = largestDifference(first.logits, golden.floats(prefix + "step1.logits"));
        Trace second;
        engine->setTrace(&second);
        step.run(*engine, *sequence, golden.ids(prefix + "step2.canvas"), conditioning.get(), 0.7F);
        const double secondError = largestDifference(second.logits, golden.floats(prefix + "step2.logits"));
        engine->setTrace(nullptr);
        qInfo("%s %s largest logit error: step 1 %.2g, step 2 %.2g", name.c_str(), prefix.c_str(), firstError,
              secondError);
        QVERIFY(firstError <= kLogitTolerance);
        QVERIFY(secondError <= kLogitTolerance);
        if (!entry.contains("traced"))
            continue;
        QVERIFY(largestDifference(second.input, golden.floats(prefix + "step2.input")) <= kInputTolerance);
        for (std::size_t layer = 0; layer < second.layerOutputs.size(); ++layer)
            QVERIFY(largestDifference(second.layerOutputs[layer],
                                      golden.floats(prefix + "step2.layer" + std::to_string(layer) + ".out")) <=
                    kLayerTolerance);
        const Routing &routing = second.routings.at(1);
        QVERIFY(routing.experts == golden.ids(prefix + "step2.layer1.topk_index"));
        QVERIFY(largestDifference(routing.weights, golden.floats(prefix + "step2.layer1.topk_weight")) <=
                kRouterTolerance);
    }
}

void TestCpuModel::unquantisedCheckpointMatchesTheReference()
{
    const auto engine = loadModel("tiny-a/bf16");
    const auto golden = GoldenTensors::load("decoder/tiny-a.safetensors");
    int compared = 0;
    const auto description = goldenJson("decoder/tiny-a.json");
    for (const auto &entry : description.at("cases")) {
        const std::string prefix = "n" + std::to_string(entry.at("prompt_length").get<std::int64_t>()) + ".";
        if (!golden.contains(prefix + "bf16_checkpoint.step1.logits"))
            continue;
        const auto sequence = encoded(*engine, golden.ids(prefix + "prompt"));
        Trace trace;
        engine->setTrace(&trace);
        Step step;
        step.run(*engine, *sequence, golden.ids(prefix + "step1.canvas"), engine->newSelfConditioning().get(), 0.7F);
        engine->setTrace(nullptr);
        QVERIFY(largestDifference(trace.logits, golden.floats(prefix + "bf16_checkpoint.step1.logits")) <=
                kLogitTolerance);
        ++compared;
    }
    QVERIFY(compared > 0);
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
