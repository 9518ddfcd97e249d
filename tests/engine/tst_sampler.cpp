// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/sampler.h"
#include "tests/support/golden.h"

#include <QTest>

#include <cmath>
#include <functional>
#include <limits>

using namespace palimpsest;
using palimpsest::test::goldenJson;
using palimpsest::test::GoldenTensors;

class TestSampler : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void temperatureFollowsTheGoldenSchedules();
    void acceptanceEqualsTheGoldens_data();
    void acceptanceEqualsTheGoldens();
    void frozenPositionsTakeNoPartInAcceptance();
    void acceptanceOfNothing();
    void theFirstInOrderIsAlwaysAccepted();
    void meanLeavesFrozenPositionsOut();
    void stoppingEqualsTheGoldens();
    void stoppingStartsAnewAfterReset();
    void settingsOutOfRangeAreNamed_data();
    void settingsOutOfRangeAreNamed();
    void ordinarySettingsAreValid();
};

void TestSampler::temperatureFollowsTheGoldenSchedules()
{
    const nlohmann::json golden = goldenJson("sampler/temperature.json");
    for (const auto &schedule : golden.at("schedules")) {
        SamplerSettings settings;
        settings.tMin = schedule.at("t_min");
        settings.tMax = schedule.at("t_max");
        settings.maxDenoisingSteps = schedule.at("max_denoising_steps");
        const auto &steps = schedule.at("cur_step");
        const float probe = schedule.at("probe_logit");
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const float temperature = stepTemperature(settings, steps[i]);
            // Bit for bit: QCOMPARE would be fuzzy.
            QVERIFY(temperature == schedule.at("temperature_f32")[i].get<float>());
            QVERIFY(probe / temperature == schedule.at("probe_processed_f32")[i].get<float>());
        }
    }
}

void TestSampler::acceptanceEqualsTheGoldens_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<double>("bound");
    const nlohmann::json golden = goldenJson("sampler/accept.json");
    for (const auto &row : golden.at("cases")) {
        const auto name = row.at("case").get<std::string>();
        QTest::newRow(name.c_str()) << QString::fromStdString(name) << row.at("entropy_bound").get<double>();
    }
}

void TestSampler::acceptanceEqualsTheGoldens()
{
    QFETCH(QString, name);
    QFETCH(double, bound);
    const GoldenTensors golden = GoldenTensors::load("sampler/sampler.safetensors");
    const std::string prefix = "accept." + name.toStdString() + ".";
    const std::vector<std::uint8_t> accepted = acceptPositions(golden.floats(prefix + "entropy"), {}, bound);
    QCOMPARE(accepted, golden.bytes(prefix + "accepted_mask"));
}

void TestSampler::frozenPositionsTakeNoPartInAcceptance()
{
    const std::vector<float> entropy{0.08F, 0.01F, 0.05F, 0.07F};
    // Free: 0.01 (sum before 0), 0.05 (0.01), 0.07 (0.06), 0.08 (0.13): the last one is over the bound.
    QCOMPARE(acceptPositions(entropy, {}, 0.1), (std::vector<std::uint8_t>{0, 1, 1, 1}));
    // Without position 2 the sum before 0.08 is 0.08.
    QCOMPARE(acceptPositions(entropy, std::vector<std::uint8_t>{0, 0, 1, 0}, 0.1),
             (std::vector<std::uint8_t>{1, 1, 1, 1}));
    QCOMPARE(acceptPositions(entropy, std::vector<std::uint8_t>{1, 1, 1, 1}, 0.0),
             (std::vector<std::uint8_t>{1, 1, 1, 1}));
}

void TestSampler::acceptanceOfNothing()
{
    QVERIFY(acceptPositions({}, {}, 0.1).empty());
    QVERIFY(meanEntropy({}, {}) == 0.0F);
}

void TestSampler::theFirstInOrderIsAlwaysAccepted()
{
    const std::vector<float> entropy{5.0F, 4.0F, 4.0F};
    QCOMPARE(acceptPositions(entropy, {}, 0.0), (std::vector<std::uint8_t>{0, 1, 0}));
}

void TestSampler::meanLeavesFrozenPositionsOut()
{
    const std::vector<float> entropy{1.0F, 2.0F, 6.0F};
    QVERIFY(meanEntropy(entropy, {}) == 3.0F);
    QVERIFY(meanEntropy(entropy, std::vector<std::uint8_t>{0, 0, 1}) == 1.5F);
    QVERIFY(meanEntropy(entropy, std::vector<std::uint8_t>{1, 1, 1}) == 0.0F);
}

void TestSampler::stoppingEqualsTheGoldens()
{
    const nlohmann::json golden = goldenJson("sampler/stopping.json");
    for (const auto &row : golden.at("cases")) {
        StoppingRule rule(row.at("stability_threshold"), golden.at("confidence_threshold"));
        for (std::size_t i = 0; i < row.at("argmax").size(); ++i) {
            const std::vector<TokenId> argmax = row.at("argmax")[i];
            const bool stops = rule.update(argmax, row.at("mean_entropy")[i].get<float>());
            const std::string where = row.at("sequence").get<std::string>() + ", " +
                                      row.at("logits").get<std::string>() + ", step " + std::to_string(i);
            QVERIFY2(stops == row.at("stop")[i].get<bool>(), where.c_str());
        }
    }
}

void TestSampler::stoppingStartsAnewAfterReset()
{
    const std::vector<TokenId> canvas{1, 2, 3};
    StoppingRule rule(1, 0.005);
    QVERIFY(!rule.update(canvas, 0.0F));
    rule.reset();
    QVERIFY(!rule.update(canvas, 0.0F));
    QVERIFY(rule.update(canvas, 0.0F));
    QVERIFY(!rule.update(canvas, 0.005F)); // strictly below the threshold
}

void TestSampler::settingsOutOfRangeAreNamed_data()
{
    using Change = std::function<void(SamplerSettings &)>;
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("field");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    const auto row = [](const char *name, const char *field, const Change &change) {
        QTest::newRow(name) << change << QString::fromLatin1(field);
    };
    row("no steps", "maxDenoisingSteps", [](SamplerSettings &s) { s.maxDenoisingSteps = 0; });
    row("negative steps", "maxDenoisingSteps", [](SamplerSettings &s) { s.maxDenoisingSteps = -48; });
    row("too many steps", "maxDenoisingSteps", [](SamplerSettings &s) { s.maxDenoisingSteps = 48'000'000; });
    row("tMin not a number", "tMin", [nan](SamplerSettings &s) { s.tMin = nan; });
    row("tMin negative", "tMin", [](SamplerSettings &s) { s.tMin = -0.1; });
    row("tMax infinite", "tMax", [infinity](SamplerSettings &s) { s.tMax = infinity; });
    row("tMax huge", "tMax", [](SamplerSettings &s) { s.tMax = 1e9; });
    row("both zero", "tMin", [](SamplerSettings &s) { s.tMin = s.tMax = 0.0; });
    row("tMax zero", "tMax", [](SamplerSettings &s) { s.tMax = 0.0; });
    row("bound negative", "entropyBoundNats", [](SamplerSettings &s) { s.entropyBoundNats = -1e-9; });
    row("bound not a number", "entropyBoundNats", [nan](SamplerSettings &s) { s.entropyBoundNats = nan; });
    row("confidence infinite", "confidenceThresholdNats",
        [infinity](SamplerSettings &s) { s.confidenceThresholdNats = infinity; });
    row("stability negative", "stabilityThreshold", [](SamplerSettings &s) { s.stabilityThreshold = -1; });
}

void TestSampler::settingsOutOfRangeAreNamed()
{
    QFETCH(std::function<void(SamplerSettings &)>, change);
    QFETCH(QString, field);
    SamplerSettings settings;
    change(settings);
    try {
        validate(settings);
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidArgument);
        QCOMPARE(QString::fromStdString(error.subject()), field);
        QVERIFY(QString::fromUtf8(error.what()).contains(field));
    }
}

void TestSampler::ordinarySettingsAreValid()
{
    validate(SamplerSettings{});
    SamplerSettings coldAtTheEnd; // one of the golden schedules
    coldAtTheEnd.tMin = 0.0;
    coldAtTheEnd.tMax = 1.3;
    coldAtTheEnd.maxDenoisingSteps = 16;
    validate(coldAtTheEnd);
    SamplerSettings one;
    one.maxDenoisingSteps = 1;
    one.tMin = one.tMax = kLowestTemperature;
    one.entropyBoundNats = one.confidenceThresholdNats = 0.0;
    one.stabilityThreshold = 0;
    validate(one);
}

QTEST_GUILESS_MAIN(TestSampler)
#include "tst_sampler.moc"
