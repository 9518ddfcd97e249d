// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_worker.h"
#include "app/editing/presets.h"
#include "app/editing/session_registry.h"
#include "app/engine_host.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace palimpsest;
using namespace palimpsest::editing;

/// The shipped model in a session, as a studio uses it.
class TestEditingDemoModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void proofreadsALetter();
    void makesAList();
    void renoisesAroundALockedWord();
    void fillsAGap();
    void goesOnAndStops();

private:
    DraftSession &open(const QString &text);
    RunInfo run(DraftSession &session, const RunWish &wish);

    QTemporaryDir m_folder;
    std::unique_ptr<EngineHost> m_host;
    std::unique_ptr<documents::DocumentWorker> m_worker;
    std::unique_ptr<SessionRegistry> m_registry;
};

void TestEditingDemoModel::initTestCase()
{
    const std::string folder = PALIMPSEST_SOURCE_DIR "/resources/demo_model";
    m_host = std::make_unique<EngineHost>(
        engineLoader({.model = {.model = folder, .threads = 2, .device = "cpu"}, .id = {}}));
    QTRY_COMPARE_WITH_TIMEOUT(m_host->state().phase, EngineState::Phase::Ready, 120'000);
    documents::StoreOptions options;
    options.file = (m_folder.path() + QStringLiteral("/documents.sqlite")).toStdString();
    m_worker = std::make_unique<documents::DocumentWorker>(std::move(options));
    m_registry = std::make_unique<SessionRegistry>(*m_host, *m_worker);
}

void TestEditingDemoModel::cleanup()
{
    m_registry->leaveAll(1);
}

DraftSession &TestEditingDemoModel::open(const QString &text)
{
    const std::string id =
        m_worker
            ->run([text = text.toStdString()](documents::DocumentStore &store) { return store.create("Draft", text); })
            .get()
            .summary.id;
    DraftSession *session = nullptr;
    m_registry->open(QString::fromStdString(id), 1, [&session](std::variant<DraftSession *, Error> outcome) {
        session = std::get<DraftSession *>(outcome);
    });
    if (!QTest::qWaitFor([&session] { return session != nullptr; }, 20'000))
        qFatal("the document could not be opened");
    return *session;
}

RunInfo TestEditingDemoModel::run(DraftSession &session, const RunWish &wish)
{
    const QString id = session.startRun(1, session.draft().version(), wish);
    if (!QTest::qWaitFor([&] { return hasEnded(session.run(id).state); }, 240'000))
        qFatal("the run did not end");
    return session.run(id);
}

void TestEditingDemoModel::proofreadsALetter()
{
    const QString text =
        QStringLiteral("Dear Margaret,\r\n\r\nThank you for you're letter, wich came on Tuesday. I read it "
                       "agian in teh garden.\r\n\r\nWith love,\r\nAgnes\r\n");
    DraftSession &session = open(text);
    RunWish wish;
    wish.action = presetOf(u"proofread")->action;
    wish.seed = 1;
    int slowest = 0; // nothing that is done with the events of a step may hold up a window
    connect(&session, &DraftSession::frameReady, this, [&](const QString &run, int lane) {
        QElapsedTimer clock;
        clock.start();
        QVERIFY(session.newestFrame(run, lane)->positions() > 0);
        slowest = std::max(slowest, static_cast<int>(clock.elapsed()));
    });
    const RunInfo info = run(session, wish);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    session.acceptProposal(1, info.proposal);
    const QString after = session.draft().text();
    QVERIFY2(after.contains(QStringLiteral("which came on Tuesday")), qPrintable(after));
    QVERIFY2(after.contains(QStringLiteral("again in the garden.\r\n\r\n")), qPrintable(after));
    QCOMPARE(after.count(QStringLiteral("\r\n")), text.count(QStringLiteral("\r\n")));
    QVERIFY(after.endsWith(QStringLiteral("\r\n")));
    session.undo();
    QCOMPARE(session.draft().text(), text);
    qInfo("%lld steps in %.0f ms, %.1f ms each; slowest frame %d ms", static_cast<long long>(info.figures->steps),
          info.figures->totalMs, info.figures->stepMs, slowest);
}

void TestEditingDemoModel::makesAList()
{
    DraftSession &session = open(QStringLiteral("Before.\n\nWe need apples, pears, bread and cheese.\n\nAfter."));
    const Preset *preset = presetOf(u"list");
    RunWish wish;
    wish.action = preset->action;
    wish.instruction = QString::fromUtf8(preset->instruction);
    wish.span = {9, 49};
    wish.seed = 1;
    wish.alternatives = 2;
    const RunInfo info = run(session, wish);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    QCOMPARE(info.lanes.size(), std::size_t{2});
    session.acceptProposal(1, info.proposal);
    const QString after = session.draft().text();
    QVERIFY2(after.contains(QStringLiteral("- bread")), qPrintable(after));
    QVERIFY(after.startsWith(QStringLiteral("Before.\n\n")));
    QVERIFY(after.endsWith(QStringLiteral("\n\nAfter.")));
}

// F017, F018: most of it is held, and the little that is free is written anew.
void TestEditingDemoModel::renoisesAroundALockedWord()
{
    const QString text =
        QStringLiteral("The old library has moved to a new building near the market, and the rooms are full "
                       "of light. My neighbour walked across the ice with a long pole and a lantern.");
    DraftSession &session = open(QStringLiteral("Title\n\n") + text + QStringLiteral("\n\nEnd"));
    const qsizetype at = session.draft().text().indexOf(QStringLiteral("market"));
    session.setLocked(session.draft().version(), {at, at + 6}, true);
    RunWish wish;
    wish.action = RunAction::Renoise;
    wish.amount = NoiseAmount::Light;
    wish.span = {7, 7 + text.size()};
    wish.seed = 5;
    const QString id = session.startRun(1, session.draft().version(), wish);
    int frames = 0;
    connect(&session, &DraftSession::frameReady, this, [&](const QString &run, int lane) {
        const Frame frame = *session.newestFrame(run, lane);
        QVERIFY2(frame.shownText().contains(QStringLiteral("market")), qPrintable(frame.shownText()));
        QVERIFY(frame.held > frame.positions() / 2);
        ++frames;
    });
    QVERIFY(QTest::qWaitFor([&] { return hasEnded(session.run(id).state); }, 240'000));
    const RunInfo info = session.run(id);
    QCOMPARE(info.state, RunState::Done);
    QVERIFY(frames > 0);
    if (info.proposal.isEmpty())
        return; // the model found the same words again
    session.acceptProposal(1, info.proposal);
    const QString after = session.draft().text();
    QVERIFY(after.startsWith(QStringLiteral("Title\n\n")));
    QVERIFY(after.endsWith(QStringLiteral("\n\nEnd")));
    QCOMPARE(session.draft().textOf(session.draft().locks().front()), QStringLiteral("market"));
}

void TestEditingDemoModel::fillsAGap()
{
    DraftSession &session = open(QStringLiteral("The harbour was frozen for in January, and nobody could go out."));
    RunWish wish;
    wish.action = RunAction::Fill;
    wish.span = {27, 27};
    wish.seed = 3;
    const RunInfo info = run(session, wish);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    const Proposal &proposal = *session.draft().proposal(info.proposal);
    QVERIFY(proposal.alternatives.size() > 1);
    QVERIFY(*proposal.alternatives[0].meanEntropy <= *proposal.alternatives[1].meanEntropy);
    session.acceptProposal(1, info.proposal);
    QVERIFY(session.draft().text().startsWith(QStringLiteral("The harbour was frozen for ")));
    QVERIFY(session.draft().text().endsWith(QStringLiteral(" in January, and nobody could go out.")));
}

void TestEditingDemoModel::goesOnAndStops()
{
    DraftSession &session = open(QStringLiteral("The harbour was frozen for three weeks"));
    RunWish wish;
    wish.action = RunAction::Continue;
    wish.span = {38, 38};
    wish.seed = 3;
    wish.sampler.maxSteps = 200;
    wish.sampler.confidence = 0.0;
    const QString id = session.startRun(1, session.draft().version(), wish);
    QVERIFY(QTest::qWaitFor(
        [&] {
            const std::optional<Frame> frame = session.newestFrame(id, 0);
            return frame && frame->settled > 20;
        },
        240'000));
    session.stopRun(id, DraftSession::Stop::KeepSettled);
    const RunInfo info = session.run(id);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    session.acceptProposal(1, info.proposal);
    QVERIFY(session.draft().text().startsWith(QStringLiteral("The harbour was frozen for three weeks")));
    QVERIFY(session.draft().text().size() > 42);
}

QTEST_GUILESS_MAIN(TestEditingDemoModel)
#include "tst_editing_demo_model.moc"
