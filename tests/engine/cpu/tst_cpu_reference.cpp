// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/cpu/cpu_model.h"
#include "tests/engine/cpu/cpu_bench.h"
#include "tests/support/golden.h"

#include <QTest>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::cpu;
using namespace palimpsest::test;

namespace {

// Tolerances of the fixtures' README for a float32 engine.
constexpr double kHiddenTolerance = 1e-3;
constexpr double kCacheTolerance = 5e-4;
constexpr double kLogitTolerance = 1e-3;
constexpr double kInputTolerance = 1e-4;
constexpr double kLayerTolerance = 5e-4;
constexpr double kRouterTolerance = 1e-5;

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

} // namespace

/// The model's numbers against those of the reference, layer by layer.
class TestCpuReference : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void encoderMatchesTheReference_data();
    void encoderMatchesTheReference();
    void decoderMatchesTheReference_data();
    void decoderMatchesTheReference();
    void unquantisedCheckpointMatchesTheReference();
};

void TestCpuReference::encoderMatchesTheReference_data()
{
    QTest::addColumn<QString>("model");
    QTest::newRow("tiny-a") << QStringLiteral("tiny-a");
    QTest::newRow("tiny-b") << QStringLiteral("tiny-b");
}

void TestCpuReference::encoderMatchesTheReference()
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

void TestCpuReference::decoderMatchesTheReference_data()
{
    encoderMatchesTheReference_data();
}

void TestCpuReference::decoderMatchesTheReference()
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

void TestCpuReference::unquantisedCheckpointMatchesTheReference()
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

QTEST_GUILESS_MAIN(TestCpuReference)
#include "tst_cpu_reference.moc"
