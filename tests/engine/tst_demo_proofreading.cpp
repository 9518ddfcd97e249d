// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/cpu/cpu_backend.h"
#include "engine/scheduler.h"
#include "tests/support/demo_model.h"
#include "tests/support/proofreading_score.h"

#include <QTest>

#include <future>
#include <mutex>

using namespace palimpsest;
using palimpsest::test::demoCases;
using palimpsest::test::DemoModel;
using palimpsest::test::ProofreadingScore;

/// How well the shipped model proofreads here, against what was measured with an independent engine when it was
/// trained: 150 texts, word error rate 12.1 -> 5.7 %, 72.6 % of the errors fixed, 2.6 % of the clean words
/// damaged, 98.7 % of the answers ended by themselves, 23.8 denoising steps a canvas. That run drew other random
/// numbers; a second set of 150 texts gave 4.8 %, 73 % and 1.7 %. The bounds are some two standard deviations of such a
/// run wide.
class TestDemoProofreading : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void scoreTellsFixedFromDamaged();
    void figuresOfTheRecipeAreReproduced();
};

void TestDemoProofreading::scoreTellsFixedFromDamaged()
{
    ProofreadingScore score;
    score.add("the cat sat on the mat", "teh cat sat onn the very mat", "the cat sits on the very mat");
    QCOMPARE(score.words, 6);
    QCOMPARE(score.distanceBefore, 3); // teh, onn, one word too many
    QCOMPARE(score.distanceAfter, 2);  // sits, one word too many
    QCOMPARE(score.errors, 3);
    QCOMPARE(score.fixed, 2);
    QCOMPARE(score.cleanWords, 4);
    QCOMPARE(score.damaged, 1);
}

// F008
void TestDemoProofreading::figuresOfTheRecipeAreReproduced()
{
    const DemoModel model = DemoModel::open(PALIMPSEST_SOURCE_DIR);
    const auto cases = demoCases(PALIMPSEST_SOURCE_DIR, "proof.jsonl");
    QCOMPARE(cases.size(), std::size_t{150});
    std::vector<GenerationResult> results(cases.size());
    {
        Scheduler scheduler(cpu::makeCpuBackend(model.checkpoint, {}), model.tokenizer,
                            {.queueCapacity = static_cast<int>(cases.size())});
        std::vector<std::promise<GenerationResult>> answers(cases.size());
        for (std::size_t i = 0; i < cases.size(); ++i)
            scheduler.submit(
                model.request(cases[i].at("prompt").get<std::string>(), i), nullptr,
                [&answers, i](auto outcome) { answers[i].set_value(std::get<GenerationResult>(std::move(outcome))); });
        for (std::size_t i = 0; i < cases.size(); ++i)
            results[i] = answers[i].get_future().get();
    }
    ProofreadingScore score;
    int steps = 0;
    int ended = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        score.add(cases[i].at("expected").get<std::string>(), cases[i].at("noisy").get<std::string>(), results[i].text);
        steps += results[i].canvases.front().steps;
        ended += results[i].finish == FinishReason::EndOfTurn ? 1 : 0;
    }
    const double meanSteps = static_cast<double>(steps) / static_cast<double>(cases.size());
    qInfo("word error rate %.2f -> %.2f %%, errors fixed %.1f %%, clean words damaged %.2f %%, ended %d of %zu, "
          "%.2f steps a canvas",
          score.errorRateBefore(), score.errorRateAfter(), score.fixedPercent(), score.damagedPercent(), ended,
          cases.size(), meanSteps);
    QVERIFY(std::abs(score.errorRateBefore() - 12.1) < 0.1); // the same words are counted
    QVERIFY(score.errorRateAfter() < 6.7);
    QVERIFY(score.fixedPercent() > 69.0);
    QVERIFY(score.damagedPercent() < 3.6);
    QVERIFY(ended >= 145);
    QVERIFY(std::abs(meanSteps - 23.8) < 1.8);
}

QTEST_GUILESS_MAIN(TestDemoProofreading)
#include "tst_demo_proofreading.moc"
