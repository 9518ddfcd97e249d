// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/engine_host.h"
#include "tests/support/fake_backend.h"
#include "tests/support/scheduler_bench.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <atomic>
#include <filesystem>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

EngineParts fakeParts(std::shared_ptr<FakeLog> log = std::make_shared<FakeLog>())
{
    EngineParts parts;
    parts.id = "fake";
    parts.createdSeconds = 1234;
    parts.backend = std::make_unique<FakeBackend>(FakeSettings{.vocabSize = 8192}, settlingModel(8192), std::move(log));
    parts.tokenizer = demoTokenizer();
    parts.chat = ChatFormat(ChatDialect::PlainTurns);
    return parts;
}

/// Collects the states that a host tells.
class States
{
public:
    EngineHost::Observer observer()
    {
        return [this](const EngineState &state) {
            const std::lock_guard lock(m_mutex);
            m_all.push_back(state);
            m_changed.notify_all();
        };
    }
    EngineState waitFor(EngineState::Phase phase)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return !m_all.empty() && m_all.back().phase == phase; });
        return m_all.back();
    }
    std::vector<double> progress() const
    {
        const std::lock_guard lock(m_mutex);
        std::vector<double> values;
        for (const EngineState &state : m_all)
            values.push_back(state.progress);
        return values;
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<EngineState> m_all;
};

} // namespace

class TestEngineHost : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void loadsWithProgress();
    void aFailedLoadIsToldAndMayBeTriedAgain();
    void loadingIsCancelledByLeaving();
    void anotherModelTakesThePlace();
    void anotherModelGivesUpTheLoadingOfTheFirst();
    void loadingCanBeGivenUp();
    void aReadyModelSaysWhatItIs();
    void oneFailedRequestIsNoFailedModel();
    void aDeadDeviceEndsTheModelF086();
    void leavingEndsWhatRuns();
    void loadsTheDemoModel();
    void namesModels_data();
    void namesModels();
};

void TestEngineHost::loadsWithProgress()
{
    Gate gate;
    States states;
    EngineHost host([&gate](const LoadProgress &progress) {
        gate.pass();
        for (const double done : {0.25, 0.251, 0.5, 1.0}) {
            if (!progress(done))
                throw Error(ErrorKind::Backend, "cancelled");
        }
        return fakeParts();
    });
    const auto subscription = host.observe(states.observer());
    QCOMPARE(host.state().phase, EngineState::Phase::Loading);
    QVERIFY(host.model() == nullptr);
    try {
        static_cast<void>(host.requireModel());
        QFAIL("a model before its time");
    } catch (const Error &error) {
        QVERIFY(std::string(error.what()).find("loading") != std::string::npos);
    }
    gate.open();
    const EngineState ready = states.waitFor(EngineState::Phase::Ready);
    QVERIFY(ready.model != nullptr);
    QCOMPARE(host.requireModel(), ready.model);
    QCOMPARE(states.progress(), (std::vector<double>{0.25, 0.5, 1.0, 1.0})); // by hundredths
}

void TestEngineHost::aFailedLoadIsToldAndMayBeTriedAgain()
{
    std::atomic<int> tries = 0;
    States states;
    EngineHost host([&tries](const LoadProgress &) {
        if (++tries == 1)
            throw Error(ErrorKind::InvalidCheckpoint, "model.safetensors: cut short", "model.safetensors");
        return fakeParts();
    });
    const auto subscription = host.observe(states.observer());
    QTRY_COMPARE(host.state().phase, EngineState::Phase::Failed);
    QCOMPARE(host.state().error->subject(), "model.safetensors");
    QVERIFY_EXCEPTION_THROWN(static_cast<void>(host.requireModel()), Error);
    host.reload();
    states.waitFor(EngineState::Phase::Ready);
    host.reload(); // nothing to do
    QCOMPARE(tries.load(), 2);
}

void TestEngineHost::loadingIsCancelledByLeaving()
{
    std::atomic<bool> cancelled = false;
    {
        const EngineHost host([&cancelled](const LoadProgress &progress) -> EngineParts {
            while (progress(0.1))
                std::this_thread::yield();
            cancelled = true;
            throw Error(ErrorKind::Backend, "cancelled");
        });
        QTRY_VERIFY(host.state().progress > 0.0);
    }
    QVERIFY(cancelled);
}

void TestEngineHost::anotherModelTakesThePlace()
{
    EngineHost host(fakeParts()); // also one that was not loaded by a loader
    const auto first = host.requireModel();
    host.replace([](const LoadProgress &) {
        EngineParts parts = fakeParts();
        parts.id = "second";
        return parts;
    });
    QTRY_VERIFY(host.model() != nullptr && host.model()->id == "second");
    GenerationRequest request;
    request.prompt = {1};
    QVERIFY_EXCEPTION_THROWN(first->desk->submit("me", request, nullptr, {}), Error); // it holds no weights any more
    host.replace([](const LoadProgress &) -> EngineParts {
        throw Error(ErrorKind::InvalidCheckpoint, "model.safetensors: cut short", "model.safetensors");
    });
    QTRY_COMPARE(host.state().phase, EngineState::Phase::Failed);
    QVERIFY(host.model() == nullptr);
}

void TestEngineHost::anotherModelGivesUpTheLoadingOfTheFirst()
{
    States states;
    EngineHost host([](const LoadProgress &progress) -> EngineParts {
        while (progress(0.5))
            std::this_thread::yield();
        throw Error(ErrorKind::Backend, "given up", "cancelled");
    });
    const auto subscription = host.observe(states.observer());
    host.replace([](const LoadProgress &) { return fakeParts(); });
    QVERIFY(states.waitFor(EngineState::Phase::Ready).model != nullptr);
}

void TestEngineHost::loadingCanBeGivenUp()
{
    EngineHost host([](const LoadProgress &progress) -> EngineParts {
        while (progress(0.5))
            std::this_thread::yield();
        throw Error(ErrorKind::Backend, "given up", "cancelled");
    });
    host.cancelLoading();
    QTRY_COMPARE(host.state().phase, EngineState::Phase::Failed);
    QCOMPARE(host.state().error->subject(), "cancelled");
}

void TestEngineHost::aReadyModelSaysWhatItIs()
{
    const EngineHost host(fakeParts());
    const auto model = host.requireModel();
    QCOMPARE(model->id, "fake");
    QCOMPARE(model->createdSeconds, 1234);
    QCOMPARE(model->contextLength, 1024);
    QCOMPARE(model->backend.kind, "fake");
    QVERIFY(model->chat && model->tokenizer);
}

void TestEngineHost::oneFailedRequestIsNoFailedModel()
{
    const auto log = std::make_shared<FakeLog>();
    std::atomic<bool> fails = true;
    log->beforeDenoise = [&fails](std::span<const DenoiseJob>) {
        if (fails.exchange(false))
            throw Error(ErrorKind::Backend, "a hiccup");
    };
    const EngineHost host(fakeParts(log));
    Outcomes outcomes;
    const auto model = host.requireModel();
    model->desk->submit("a", requestFor(1), nullptr, outcomes.completion());
    QCOMPARE(outcomes.wait(1).front().index(), std::size_t{1});
    QTRY_COMPARE(model->desk->status().completed, std::uint64_t{2}); // the host has tried the device
    QTRY_COMPARE(model->desk->status().running, 0);
    QCOMPARE(host.state().phase, EngineState::Phase::Ready);
    model->desk->submit("a", requestFor(1), nullptr, outcomes.completion());
    QCOMPARE(outcomes.wait(2).back().index(), std::size_t{0});
}

void TestEngineHost::aDeadDeviceEndsTheModelF086()
{
    const auto log = std::make_shared<FakeLog>();
    log->beforeDenoise = [](std::span<const DenoiseJob>) {
        throw Error(ErrorKind::Backend, "the device is gone", "device");
    };
    std::atomic<int> loads = 0;
    States states;
    EngineHost host([&](const LoadProgress &) { return ++loads == 1 ? fakeParts(log) : fakeParts(); });
    const auto subscription = host.observe(states.observer());
    const auto model = states.waitFor(EngineState::Phase::Ready).model;
    Outcomes outcomes;
    model->desk->submit("a", requestFor(1), nullptr, outcomes.completion());
    outcomes.wait(1);
    const EngineState failed = states.waitFor(EngineState::Phase::Failed);
    QCOMPARE(std::string(failed.error->what()), "the device is gone");
    QVERIFY(host.model() == nullptr);
    QVERIFY_EXCEPTION_THROWN(
        {
            while (true) // until the desk is closed
                model->desk->submit("a", requestFor(1), nullptr, [](const Outcome &) {});
        },
        Error);
    host.reload();
    states.waitFor(EngineState::Phase::Ready);
}

void TestEngineHost::leavingEndsWhatRuns()
{
    Outcomes outcomes;
    std::shared_ptr<const RunningModel> kept;
    {
        const EngineHost host(fakeParts());
        kept = host.requireModel();
        for (int i = 0; i < 20; ++i)
            kept->desk->submit("a", endlessRequest(), nullptr, outcomes.completion());
    }
    QCOMPARE(outcomes.count(), std::size_t{20});
    QVERIFY_EXCEPTION_THROWN(kept->desk->submit("a", requestFor(1), nullptr, {}), Error);
}

void TestEngineHost::loadsTheDemoModel()
{
    const std::string folder = PALIMPSEST_SOURCE_DIR "/resources/demo_model";
    EngineHost host(engineLoader({.model = {.model = folder, .threads = 2, .device = "cpu"}, .id = {}}));
    QTRY_COMPARE_WITH_TIMEOUT(host.state().phase, EngineState::Phase::Ready, 60'000);
    const auto model = host.requireModel();
    QCOMPARE(model->contextLength, 8192);
    QCOMPARE(model->chat->dialect(), ChatDialect::PlainTurns);
    QVERIFY(model->createdSeconds > 1'600'000'000);
    QCOMPARE(model->desk->status().maxBatch, 3);
}

void TestEngineHost::namesModels_data()
{
    QTest::addColumn<QString>("folder");
    QTest::addColumn<QString>("id");
    QTest::newRow("plain") << "/models/diffusion-gemma"
                           << "diffusion-gemma";
    QTest::newRow("a slash at the end") << "/models/diffusion-gemma/"
                                        << "diffusion-gemma";
    QTest::newRow("blanks and capitals") << "/m/Diffusion Gemma_26B (W4)"
                                         << "diffusion-gemma-26b-w4";
    QTest::newRow("a version") << "/m/model-1.5"
                               << "model-1.5";
    QTest::newRow("letters beyond ASCII") << "/m/Modèle 田"
                                          << "modèle-田";
    QTest::newRow("the root") << "/"
                              << "palimpsest";
}

void TestEngineHost::namesModels()
{
    QFETCH(QString, folder);
    QFETCH(QString, id);
    QCOMPARE(modelIdOf(folder.toStdString()), id.toStdString());
}

QTEST_GUILESS_MAIN(TestEngineHost)
#include "tst_engine_host.moc"
