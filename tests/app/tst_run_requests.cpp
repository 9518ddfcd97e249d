// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/run_requests.h"
#include "engine/error.h"
#include "tests/support/fake_backend.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <atomic>

using namespace palimpsest;
using namespace palimpsest::cli;
using namespace palimpsest::test;

namespace {

constexpr FakeSettings kSettings{.vocabSize = 8192};

Scheduler makeScheduler(FakeModel model)
{
    SchedulerSettings settings;
    settings.queueCapacity = 64;
    return {std::make_unique<FakeBackend>(kSettings, std::move(model)), demoTokenizer(), settings};
}

GenerationRequest requestOf(std::size_t index)
{
    GenerationRequest request;
    request.prompt = {2, static_cast<TokenId>(300 + index)};
    request.maxNewTokens = kSettings.canvasLength;
    request.sampler.maxDenoisingSteps = 6;
    request.seed = index;
    return request;
}

} // namespace

class TestRunRequests : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void resultsComeInOrder();
    void boardFollowsTheRun();
    void stopCancelsEverything();
    void stoppedBeforeTheStart();
    void firstErrorEndsTheRun();
    void nothingToDo();
};

void TestRunRequests::resultsComeInOrder()
{
    // More requests than the batch and the queue ahead of it hold; each equals the same request run alone.
    constexpr std::size_t kCount = 40;
    Scheduler scheduler = makeScheduler(settlingModel(kSettings.vocabSize));
    RunBoard board(kCount, [] {});
    std::atomic<int> called = 0;
    const RequestQueue queue{kCount, requestOf, [&called](std::size_t, const GenerationResult &) {
                                 ++called;
                             }};
    const std::vector<GenerationResult> results = runRequests(scheduler, queue, board, {});
    QCOMPARE(results.size(), kCount);
    QCOMPARE(called.load(), int(kCount));
    Scheduler alone = makeScheduler(settlingModel(kSettings.vocabSize));
    for (const std::size_t index : {std::size_t{0}, std::size_t{17}, kCount - 1})
        QCOMPARE(results[index].tokens, alone.run(requestOf(index)).tokens);
}

void TestRunRequests::boardFollowsTheRun()
{
    std::atomic<int> changes = 0;
    Scheduler scheduler = makeScheduler(settlingModel(kSettings.vocabSize));
    RunBoard board(2, [&changes] { ++changes; });
    const std::vector<GenerationResult> results = runRequests(scheduler, {2, requestOf, {}}, board, {});
    QVERIFY(changes > 4);
    QCOMPARE(board.doneCount(), std::size_t{2});
    QCOMPARE(board.firstUnfinished(), std::size_t{2});
    for (std::size_t slot = 0; slot < 2; ++slot) {
        const SlotState state = board.slot(slot);
        QVERIFY(state.done && state.event == nullptr);
        QCOMPARE(state.canvasesDone, std::int64_t{1});
        QCOMPARE(state.promptDone, state.promptTotal);
    }
}

void TestRunRequests::stopCancelsEverything()
{
    std::stop_source stop;
    Scheduler scheduler = makeScheduler(restlessModel(kSettings.vocabSize));
    std::atomic<int> steps = 0;
    constexpr std::size_t kCount = 30;
    RunBoard board(kCount, [&] {
        if (++steps == 20)
            stop.request_stop(); // in the middle of the first batch
    });
    const auto makeRequest = [](std::size_t index) {
        GenerationRequest request = requestOf(index);
        request.maxNewTokens = 800;
        return request;
    };
    const std::vector<GenerationResult> results =
        runRequests(scheduler, {kCount, makeRequest, {}}, board, stop.get_token());
    QCOMPARE(results.size(), kCount);
    for (const GenerationResult &result : results)
        QCOMPARE(result.finish, FinishReason::Cancelled);
}

void TestRunRequests::stoppedBeforeTheStart()
{
    std::stop_source stop;
    stop.request_stop();
    Scheduler scheduler = makeScheduler(settlingModel(kSettings.vocabSize));
    RunBoard board(3, [] {});
    int made = 0;
    const auto makeRequest = [&made](std::size_t index) {
        ++made;
        return requestOf(index);
    };
    const std::vector<GenerationResult> results = runRequests(scheduler, {3, makeRequest, {}}, board, stop.get_token());
    QCOMPARE(made, 0);
    QCOMPARE(results[2].finish, FinishReason::Cancelled);
}

void TestRunRequests::firstErrorEndsTheRun()
{
    Scheduler scheduler = makeScheduler(settlingModel(kSettings.vocabSize));
    for (const std::size_t bad : {std::size_t{0}, std::size_t{5}, std::size_t{25}}) {
        RunBoard board(30, [] {});
        const auto makeRequest = [bad](std::size_t index) {
            GenerationRequest request = requestOf(index);
            if (index == bad)
                request.maxNewTokens = 100'000; // more than the context
            return request;
        };
        try {
            (void)runRequests(scheduler, {30, makeRequest, {}}, board, {});
            QFAIL("no error");
        } catch (const Error &error) {
            QCOMPARE(error.kind(), ErrorKind::ContextLength);
        }
        QCOMPARE(scheduler.status().running, 0);
    }
}

void TestRunRequests::nothingToDo()
{
    Scheduler scheduler = makeScheduler(settlingModel(kSettings.vocabSize));
    RunBoard board(0, [] {});
    QVERIFY(runRequests(scheduler, {}, board, {}).empty());
    QCOMPARE(board.firstUnfinished(), std::size_t{0});
}

QTEST_GUILESS_MAIN(TestRunRequests)
#include "tst_run_requests.moc"
