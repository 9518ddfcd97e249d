// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft_session.h"
#include "app/editing/utf8_text.h"
#include "tests/app/editing/editing_bench.h"

#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>

#include <atomic>

using namespace palimpsest;
using namespace palimpsest::editing;
using namespace palimpsest::test;

namespace {

TextSpan spanOf(const DraftSession &session, const QString &words)
{
    const qsizetype start = session.draft().text().indexOf(words);
    return {start, start + words.size()};
}

RunWish rewrite(TextSpan span)
{
    RunWish wish;
    wish.action = RunAction::Rewrite;
    wish.span = span;
    wish.instruction = QStringLiteral("Make this more formal");
    wish.seed = 7;
    return wish;
}

QString start(DraftSession &session, const RunWish &wish)
{
    return session.startRun(1, session.draft().version(), wish);
}

/// Proofreads by a table; the prompt ends with the passage.
std::string corrected(const std::string &prompt)
{
    const std::size_t blank = prompt.find("\n\n");
    QString text = QString::fromStdString(blank == std::string::npos ? prompt : prompt.substr(blank + 2));
    const qsizetype turn = text.indexOf(QStringLiteral("\n"));
    text = text.left(turn < 0 ? text.size() : turn);
    text.replace(QStringLiteral("teh"), QStringLiteral("the"));
    text.replace(QStringLiteral("recieved"), QStringLiteral("received"));
    text.replace(QStringLiteral("cobalt"), QStringLiteral("blue"));
    return text.trimmed().toStdString();
}

} // namespace

class TestDraftSession : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void typingIsSaved();
    void windowsShareOneSession();
    void aRewriteIsProposed();
    void nothingOutsideTheSpanChanges_data();
    void nothingOutsideTheSpanChanges();
    void lockedWordsStayInEveryFrame_data();
    void lockedWordsStayInEveryFrame();
    void aFillTriesSeveralLengths();
    void aContinuationComesAtTheCaret();
    void aProofreadingGoesByPassages();
    void aProofreadingLeavesLockedWords();
    void stopRestores();
    void stopKeepsWhatHasSettled();
    void aFailureKeepsTheText();
    void typingElsewhereGoesOn();
    void typingInsideIsHeldTo();
    void aPassageThatIsTypedInIsLeftAlone();
    void deletingTheSpanStopsTheRun();
    void theStepCapIsTold();
    void cellsMatchTheText_data();
    void cellsMatchTheText();
    void stepsAreTakenOneByOne();
    void wordsAreHeldWhileItRuns();
    void everyStepCanBeTakenAgain();
    void severalRewritesAreKept();
    void directWritesIn();
    void wishesAreRefused_data();
    void wishesAreRefused();
};

void TestDraftSession::typingIsSaved()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("Dear board,"));
    QCOMPARE(session.saveState().revision, 1);
    session.edit(1, session.draft().version(), {{11, 11}, QStringLiteral(" hello")}, true);
    session.setLocked(session.draft().version(), {12, 17}, true);
    session.rename(QStringLiteral("A letter"));
    session.mergeSettings({{QStringLiteral("seed"), 3}, {QStringLiteral("theme"), QStringLiteral("dark")}});
    QVERIFY(!session.saveState().saved);
    QVERIFY(waitFor([&] { return session.saveState().saved; }));
    const documents::Document stored = bench.stored(session.document());
    QCOMPARE(stored.text, std::string("Dear board, hello"));
    QCOMPARE(stored.summary.title, std::string("A letter"));
    QCOMPARE(stored.locks.size(), std::size_t{1});
    QVERIFY(stored.settings.find("\"seed\":3") != std::string::npos);
    QVERIFY_EXCEPTION_THROWN(session.mergeSettings({{QStringLiteral("seed"), QStringLiteral("x")}}), Error);
    QVERIFY_EXCEPTION_THROWN(session.mergeSettings({{QStringLiteral("sampler"), 1}}), Error);
    session.mergeSettings({{QStringLiteral("seed"), QJsonValue::Null}});
    QVERIFY(!session.settings().contains(QStringLiteral("seed")));
}

void TestDraftSession::windowsShareOneSession()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("one two"));
    QCOMPARE(bench.openAgain(session.document(), 2), &session);
    std::vector<std::pair<WindowId, EditCause>> told;
    connect(&session, &DraftSession::edited, this,
            [&](const AppliedEdit &, WindowId by, EditCause cause) { told.emplace_back(by, cause); });
    const std::int64_t seen = session.draft().version();
    session.edit(1, seen, {{0, 0}, QStringLiteral("A ")}, true);
    const AppliedEdit applied = session.edit(2, seen, {{7, 7}, QStringLiteral(" three")}, true);
    QCOMPARE(applied.edit.span.start, 9);
    session.undo();
    QCOMPARE(session.draft().text(), QStringLiteral("A one two"));
    QCOMPARE(told.size(), std::size_t{3});
    QCOMPARE(told[1].first, WindowId{2});
    QCOMPARE(told[2].first, kNobody);
    QCOMPARE(told[2].second, EditCause::Undo);
}

void TestDraftSession::aRewriteIsProposed()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know.";
    }});
    DraftSession &session = bench.open(QStringLiteral("First line.\nWe don't know.\nLast line."));
    QSignalSpy frames(&session, &DraftSession::frameReady);
    const QString run = start(session, rewrite(spanOf(session, QStringLiteral("We don't know."))));
    const RunInfo info = waitForEnd(session, run);
    QCOMPARE(info.state, RunState::Done);
    QVERIFY(info.problem.isEmpty());
    QVERIFY(info.figures.has_value());
    QVERIFY(info.figures->steps > 1);
    QVERIFY(!frames.isEmpty());
    QCOMPARE(session.draft().text(), QStringLiteral("First line.\nWe don't know.\nLast line."));
    const Proposal &proposal = *session.draft().proposal(info.proposal);
    QVERIFY(proposal.isOpen());
    QCOMPARE(proposal.alternatives.front().text, QStringLiteral("We do not know."));
    QCOMPARE(proposal.changes.size(), std::size_t{1});
    QCOMPARE(proposal.origin.model, QStringLiteral("scripted"));
    QCOMPARE(proposal.origin.seed, std::uint64_t{7});
    QCOMPARE(proposal.origin.stops.front(), CanvasStop::Converged);

    std::vector<RevisionInfo> revisions;
    connect(&session, &DraftSession::revisionAdded, this,
            [&](const RevisionInfo &revision) { revisions.push_back(revision); });
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("First line.\nWe do not know.\nLast line."));
    QVERIFY(waitFor([&] { return !revisions.empty() && session.saveState().saved; }));
    QCOMPARE(revisions.size(), std::size_t{1});
    QCOMPARE(revisions.front().summary.origin, documents::Origin::Model);
    QCOMPARE(revisions.front().summary.model->seed, std::uint64_t{7});
    QCOMPARE(QString::fromStdString(*revisions.front().summary.run), run);
    QCOMPARE(revisions.front().words, 8);
    session.undo();
    QVERIFY(session.draft().proposal(info.proposal)->isOpen());
}

void TestDraftSession::nothingOutsideTheSpanChanges_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    QTest::addColumn<RunAction>("action");
    const QString windows = QString::fromUtf8("\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7"
                                              " a family\r\nline two is here\r\n\r\n  line\tthree  \r\n");
    QTest::newRow("F101 line two of a CR LF text")
        << windows << QStringLiteral("line two is here") << RunAction::Rewrite;
    QTest::newRow("F101 renoised") << windows << QStringLiteral("line two is here") << RunAction::Renoise;
    QTest::newRow("F101 with its white space") << windows << QStringLiteral("  line\tthree  ") << RunAction::Rewrite;
    QTest::newRow("F101 an insertion") << windows << QString() << RunAction::Fill;
    QTest::newRow("F028 half an emoji") << windows << windows.mid(3, 12) << RunAction::Rewrite;
}

void TestDraftSession::nothingOutsideTheSpanChanges()
{
    QFETCH(const QString, text);
    QFETCH(const QString, words);
    QFETCH(const RunAction, action);
    EditingBench bench({.answer = [](const std::string &) {
        return "Something else.\nIn two lines.";
    }});
    DraftSession &session = bench.open(text);
    RunWish wish = rewrite(spanOf(session, words));
    if (words.isEmpty())
        wish.span = {text.indexOf(QStringLiteral("two")), text.indexOf(QStringLiteral("two"))};
    wish.action = action;
    const RunInfo info = waitForEnd(session, start(session, wish));
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    const TextSpan span = session.draft().proposal(info.proposal)->span;
    const TextSpan whole = snappedToCharacters(wish.span, text);
    QVERIFY(whole.start <= span.start && span.end <= whole.end);
    session.acceptProposal(1, info.proposal);
    const QString after = session.draft().text();
    QVERIFY(after != text);
    QCOMPARE(after.left(span.start), text.left(span.start));
    QCOMPARE(after.right(text.size() - span.end), text.mid(span.end));
    QVERIFY(!after.mid(span.start).contains(QRegularExpression(QStringLiteral("[^\r]\n"))));
    session.undo();
    QCOMPARE(session.draft().text(), text);
}

void TestDraftSession::lockedWordsStayInEveryFrame_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("locked");
    QTest::addColumn<RunAction>("action");
    const QString text = QStringLiteral("The deep cobalt sea was calm and the ship left early.");
    for (const RunAction action : {RunAction::Rewrite, RunAction::Renoise}) {
        const QByteArray name = nameOf(action).toLatin1();
        QTest::addRow("F017 %s, in the middle", name.constData()) << text << QStringList{"cobalt"} << action;
        QTest::addRow("F017 %s, the first", name.constData()) << text << QStringList{"The"} << action;
        QTest::addRow("F017 %s, the last", name.constData()) << text << QStringList{"early."} << action;
        QTest::addRow("F017 %s, several", name.constData())
            << text << QStringList{"deep", "the ship", "left"} << action;
        QTest::addRow("F017 %s, an emoji", name.constData())
            << QString::fromUtf8(
                   "Good \xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7 day to all")
            << QStringList{QString::fromUtf8(
                   "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7")}
            << action;
    }
}

void TestDraftSession::lockedWordsStayInEveryFrame()
{
    QFETCH(const QString, text);
    QFETCH(const QStringList, locked);
    QFETCH(const RunAction, action);
    EditingBench bench({.canvasLength = 64});
    DraftSession &session = bench.open(QStringLiteral("Before it. ") + text + QStringLiteral(" After it."));
    for (const QString &words : locked)
        session.setLocked(session.draft().version(), spanOf(session, words), true);
    RunWish wish = rewrite(spanOf(session, text));
    wish.action = action;
    wish.amount = NoiseAmount::Full;
    const QString run = start(session, wish);
    const RunInfo info = waitForEnd(session, run);
    QCOMPARE(info.state, RunState::Done);
    RunCurves curves;
    session.history(run, [&](std::variant<RunCurves, Error> answer) { curves = std::get<RunCurves>(answer); });
    int frames = 0;
    for (int lane = 0; lane < static_cast<int>(curves.size()); ++lane) {
        for (int step = 1; step <= curves[static_cast<std::size_t>(lane)].front().steps; ++step) {
            session.historyFrame(run, lane, 0, step, [&](std::variant<Frame, Error> answer) {
                const Frame frame = std::get<Frame>(answer);
                qsizetype from = 0;
                for (const QString &words : locked) {
                    from = frame.shownText().indexOf(words, from);
                    QVERIFY2(from >= 0, qPrintable(frame.shownText()));
                    from += words.size();
                }
                QVERIFY(frame.held > 0);
                ++frames;
            });
        }
    }
    QVERIFY(frames > 2);
    QVERIFY(!info.proposal.isEmpty());
    const std::size_t locks = session.draft().locks().size();
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().locks().size(), locks);
    for (std::size_t i = 0; i < locks; ++i)
        QVERIFY(locked[static_cast<qsizetype>(i)].startsWith(session.draft().textOf(session.draft().locks()[i])));
    QVERIFY(session.draft().text().startsWith(QStringLiteral("Before it. ")));
    QVERIFY(session.draft().text().endsWith(QStringLiteral(" After it.")));
}

void TestDraftSession::aFillTriesSeveralLengths()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("The ship left before dawn."));
    RunWish wish;
    wish.action = RunAction::Fill;
    wish.span = {14, 14};
    const RunInfo info = waitForEnd(session, start(session, wish));
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    QCOMPARE(info.lanes.size(), std::size_t{4});
    QCOMPARE(info.ahead.characters, info.ahead.total);
    const Proposal &proposal = *session.draft().proposal(info.proposal);
    QVERIFY(proposal.alternatives.size() > 1);
    session.acceptProposal(1, info.proposal);
    QVERIFY(session.draft().text().startsWith(QStringLiteral("The ship left ")));
    QVERIFY(session.draft().text().endsWith(QStringLiteral(" before dawn.")));
    QVERIFY(!session.draft().text().contains(QStringLiteral("  ")));
}

void TestDraftSession::aContinuationComesAtTheCaret()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("The ship left\n\nChapter two"));
    RunWish wish;
    wish.action = RunAction::Continue;
    wish.span = {13, 13};
    wish.alternatives = 2;
    const RunInfo info = waitForEnd(session, start(session, wish));
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    QCOMPARE(info.lanes.size(), std::size_t{2});
    QCOMPARE(info.ahead.characters, 0);
    session.acceptProposal(1, info.proposal);
    QVERIFY(session.draft().text().startsWith(QStringLiteral("The ship left ")));
    QVERIFY(session.draft().text().endsWith(QStringLiteral("\n\nChapter two")));
}

void TestDraftSession::aProofreadingGoesByPassages()
{
    EditingBench bench({.answer = corrected, .canvasLength = 64});
    DraftSession &session = bench.open(
        QStringLiteral("I recieved teh letter.\n\n```\ncode teh\n```\n\nAll is well here.\r\n\r\n- teh list\n"));
    RunWish wish;
    wish.action = RunAction::Proofread;
    const QString run = start(session, wish);
    const RunInfo info = waitForEnd(session, run);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    QCOMPARE(info.lanes.size(), std::size_t{3});
    const Proposal &proposal = *session.draft().proposal(info.proposal);
    QCOMPARE(proposal.changes.size(), std::size_t{3});
    session.acceptProposal(1, info.proposal, 1);
    session.rejectProposal(info.proposal, 0);
    QVERIFY(session.draft().proposal(info.proposal)->isOpen());
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(),
             QStringLiteral("I recieved the letter.\n\n```\ncode teh\n```\n\nAll is well here.\r\n\r\n- the list\n"));
    QCOMPARE(session.draft().proposal(info.proposal)->state, ProposalState::Accepted);

    wish.span = spanOf(session, QStringLiteral("All is well here."));
    const RunInfo nothing = waitForEnd(session, start(session, wish));
    QCOMPARE(nothing.state, RunState::Done);
    QVERIFY(nothing.proposal.isEmpty());
    QVERIFY(!nothing.problem.isEmpty());
}

void TestDraftSession::aProofreadingLeavesLockedWords()
{
    EditingBench bench({.answer = corrected, .canvasLength = 64});
    DraftSession &session = bench.open(QStringLiteral("I recieved teh cobalt vase from teh shop."));
    session.setLocked(session.draft().version(), spanOf(session, QStringLiteral("cobalt")), true);
    RunWish wish;
    wish.action = RunAction::Proofread;
    const RunInfo info = waitForEnd(session, start(session, wish));
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    QVERIFY(!session.draft().proposal(info.proposal)->note.isEmpty());
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("I received the cobalt vase from the shop."));
    QCOMPARE(session.draft().textOf(session.draft().locks().front()), QStringLiteral("cobalt"));
}

// F099: at any time, and twice.
void TestDraftSession::stopRestores()
{
    EditingBench bench({.steps = 1000});
    const QString text = QStringLiteral("We don't know. And more.");
    DraftSession &session = bench.open(text);
    RunWish wish = rewrite({0, 14});
    wish.sampler.maxSteps = kMostDenoisingSteps;
    for (const int steps : {0, 1, 5}) {
        const QString run = start(session, wish);
        QVERIFY(waitFor([&] {
            const std::optional<Frame> frame = session.newestFrame(run, 0);
            return steps == 0 || (frame && frame->step >= steps);
        }));
        session.stopRun(run, DraftSession::Stop::Restore);
        QCOMPARE(session.run(run).state, RunState::Stopped); // at once
        QVERIFY(session.run(run).proposal.isEmpty());
        try {
            session.stopRun(run, DraftSession::Stop::Restore);
            QFAIL("stopped twice");
        } catch (const Error &error) {
            QCOMPARE(QByteArray(error.subject().c_str()), QByteArray(kStaleSubject));
        }
    }
    QCOMPARE(session.draft().text(), text);
    QVERIFY(waitFor([&] { return bench.host->model()->desk->status().running == 0; }));
}

void TestDraftSession::stopKeepsWhatHasSettled()
{
    // One position more settles with each step: half of them have after six.
    EditingBench bench(
        {.answer = [](const std::string &) { return "He does not know it and will not say."; }, .steps = 12});
    DraftSession &session = bench.open(QStringLiteral("He doesn't know it and won't say."));
    RunWish wish = rewrite({0, session.draft().text().size()});
    wish.paused = true;
    const QString run = start(session, wish);
    for (int step = 1; step <= 6; ++step) {
        session.stepRun(run);
        QVERIFY(waitFor([&] {
            const std::optional<Frame> frame = session.newestFrame(run, 0);
            return frame && frame->step == step;
        }));
    }
    session.stopRun(run, DraftSession::Stop::KeepSettled);
    const RunInfo info = session.run(run);
    QCOMPARE(info.state, RunState::Stopped);
    QVERIFY(!info.proposal.isEmpty());
    const Proposal &proposal = *session.draft().proposal(info.proposal);
    QVERIFY(!proposal.note.isEmpty());
    QCOMPARE(proposal.alternatives.front().stops.front(), CanvasStop::Cancelled);
    QVERIFY(proposal.alternatives.front().text.startsWith(QStringLiteral("He does not know it")));
    QVERIFY(proposal.alternatives.front().text.endsWith(QStringLiteral("say.")));
}

void TestDraftSession::aFailureKeepsTheText()
{
    EditingBench bench;
    std::atomic<int> calls = 0;
    bench.log->beforeDenoise = [&calls](std::span<const DenoiseJob>) {
        if (++calls == 3)
            throw Error(ErrorKind::Backend, "The device was unplugged", "device");
    };
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    const RunInfo info = waitForEnd(session, start(session, rewrite({0, 14})));
    QCOMPARE(info.state, RunState::Failed);
    QCOMPARE(info.problem, QStringLiteral("The device was unplugged"));
    QVERIFY(info.proposal.isEmpty());
    QCOMPARE(session.draft().text(), QStringLiteral("We don't know."));
    // And the next one goes on as if nothing had been.
    const RunInfo next = waitForEnd(session, start(session, rewrite({0, 14})));
    QCOMPARE(next.state, RunState::Done);
}

// F094
void TestDraftSession::typingElsewhereGoesOn()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know.";
    }});
    DraftSession &session = bench.open(QStringLiteral("Title\nWe don't know.\nEnd"));
    RunWish wish = rewrite(spanOf(session, QStringLiteral("We don't know.")));
    wish.paused = true;
    const QString run = start(session, wish);
    session.edit(1, session.draft().version(), {{0, 5}, QStringLiteral("A longer title")}, true);
    session.edit(1, session.draft().version(),
                 {{session.draft().text().size(), session.draft().text().size()}, QStringLiteral(" typed")}, true);
    QVERIFY((session.run(run).span == spanOf(session, QStringLiteral("We don't know."))));
    session.resumeRun(run);
    const RunInfo info = waitForEnd(session, run);
    QVERIFY(session.draft().proposal(info.proposal)->isOpen());
    session.rejectProposal(info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("A longer title\nWe don't know.\nEnd typed"));
    session.undo();
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("A longer title\nWe do not know.\nEnd typed"));
}

void TestDraftSession::typingInsideIsHeldTo()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know where it is.";
    }});
    DraftSession &session = bench.open(QStringLiteral("We don't know where it is."));
    RunWish wish = rewrite({0, 26});
    wish.paused = true;
    const QString run = start(session, wish);
    session.stepRun(run);
    QVERIFY(waitFor([&] { return session.newestFrame(run, 0).has_value(); }));
    for (const QChar letter : QStringLiteral(" really")) {
        const qsizetype at = session.draft().text().indexOf(QStringLiteral(" where"));
        session.edit(1, session.draft().version(), {{at, at}, QString(letter)}, true);
    }
    QCOMPARE(session.draft().text(), QStringLiteral("We don't know really where it is."));
    session.stepRun(run);
    QVERIFY(waitFor([&] { return session.newestFrame(run, 0)->step >= 2; }));
    QVERIFY(session.newestFrame(run, 0)->shownText().contains(QStringLiteral("really")));
    QVERIFY(session.newestFrame(run, 0)->held > 0);
    session.resumeRun(run);
    const RunInfo info = waitForEnd(session, run);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    session.acceptProposal(1, info.proposal);
    QVERIFY2(session.draft().text().contains(QStringLiteral("really")), qPrintable(session.draft().text()));
    QVERIFY(session.draft().text().startsWith(QStringLiteral("We do not know")));
}

void TestDraftSession::aPassageThatIsTypedInIsLeftAlone()
{
    EditingBench bench({.answer = corrected, .canvasLength = 64});
    DraftSession &session = bench.open(QStringLiteral("I recieved teh letter.\n\nAnd teh other one.\n"));
    RunWish wish;
    wish.action = RunAction::Proofread;
    wish.paused = true;
    const QString run = start(session, wish);
    const qsizetype at = session.draft().text().indexOf(QStringLiteral("letter"));
    session.edit(1, session.draft().version(), {{at, at}, QStringLiteral("long ")}, true);
    session.resumeRun(run);
    const RunInfo info = waitForEnd(session, run);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("I recieved teh long letter.\n\nAnd the other one.\n"));
}

void TestDraftSession::deletingTheSpanStopsTheRun()
{
    EditingBench bench({.steps = 1000});
    DraftSession &session = bench.open(QStringLiteral("One. Two. Three."));
    RunWish wish = rewrite({5, 9});
    wish.sampler.maxSteps = kMostDenoisingSteps;
    const QString run = start(session, wish);
    session.edit(1, session.draft().version(), {{3, 11}, {}}, false);
    QCOMPARE(session.run(run).state, RunState::Stopped);
    QCOMPARE(session.draft().text(), QStringLiteral("Onehree."));
}

// F021
void TestDraftSession::theStepCapIsTold()
{
    EditingBench bench({.steps = 1000});
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    RunWish wish = rewrite({0, 14});
    wish.action = RunAction::Renoise;
    wish.amount = NoiseAmount::Light;
    wish.sampler.maxSteps = 4;
    std::vector<SettledPiece> pieces;
    connect(&session, &DraftSession::pieceSettled, this,
            [&](const QString &, const SettledPiece &piece) { pieces.push_back(piece); });
    const QString run = start(session, wish);
    waitForEnd(session, run);
    QCOMPARE(pieces.front().stop, CanvasStop::StepCap);
    QCOMPARE(pieces.front().steps, 4);
    session.history(run, [](std::variant<RunCurves, Error> answer) {
        const CanvasCurve &curve = std::get<RunCurves>(answer).front().front();
        QCOMPARE(curve.steps, 4);
        QCOMPARE(curve.maxSteps, 4);
        QCOMPARE(*curve.stop, CanvasStop::StepCap);
        QCOMPARE(curve.meanEntropy.size(), std::size_t{4});
    });
}

void TestDraftSession::cellsMatchTheText_data()
{
    QTest::addColumn<int>("tokens");
    QTest::newRow("F022 five tokens") << 5;
    QTest::newRow("F022 all but the end") << 31;
    QTest::newRow("F022 exactly a canvas") << 32;
}

void TestDraftSession::cellsMatchTheText()
{
    QFETCH(const int, tokens);
    std::string answer = "we";
    for (int i = 1; i < tokens; ++i)
        answer += " of";
    EditingBench bench({.answer = [answer](const std::string &) {
        return answer;
    }});
    DraftSession &session = bench.open(QStringLiteral("some words to change"));
    const QString run = start(session, rewrite({0, 20}));
    QVERIFY(waitFor([&] {
        const std::optional<Frame> frame = session.newestFrame(run, 0);
        return (frame && frame->canvas == 0 && frame->last) || hasEnded(session.run(run).state);
    }));
    session.historyFrame(run, 0, 0, session.settledPieces(run, 0).front().steps, [&](std::variant<Frame, Error> found) {
        const Frame frame = std::get<Frame>(found);
        QCOMPARE(frame.positions(), 32);
        QCOMPARE(frame.marks.size(), 32);
        QCOMPARE(frame.entropy.size(), std::size_t{32});
        QCOMPARE(frame.showBegin, 0);
        QCOMPARE(frame.showEnd, tokens);
        QCOMPARE(frame.marks.count('-'), 32 - tokens);
        QCOMPARE(frame.shownText(), QString::fromStdString(answer));
        for (int i = tokens; i < 32; ++i)
            QVERIFY(frame.text[static_cast<std::size_t>(i)].isEmpty());
    });
    if (!hasEnded(session.run(run).state))
        session.stopRun(run, DraftSession::Stop::Restore);
}

void TestDraftSession::stepsAreTakenOneByOne()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    RunWish wish = rewrite({0, 14});
    wish.paused = true;
    const QString run = start(session, wish);
    QCOMPARE(session.run(run).state, RunState::Paused);
    for (int step = 1; step <= 3; ++step) {
        session.stepRun(run);
        QVERIFY(waitFor([&] {
            const std::optional<Frame> frame = session.newestFrame(run, 0);
            return frame && frame->step == step;
        }));
        QTest::qWait(0);
        QCOMPARE(session.newestFrame(run, 0)->step, step);
        QCOMPARE(session.run(run).state, RunState::Paused);
    }
    session.resumeRun(run);
    QCOMPARE(waitForEnd(session, run).state, RunState::Done);
}

void TestDraftSession::wordsAreHeldWhileItRuns()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know where it is.";
    }});
    DraftSession &session = bench.open(QStringLiteral("We don't know where it is."));
    RunWish wish = rewrite({0, 26});
    wish.paused = true;
    const QString run = start(session, wish);
    session.stepRun(run);
    QVERIFY(waitFor([&] { return session.newestFrame(run, 0).has_value(); }));
    const PositionAlternatives alternatives = session.alternatives(run, 0, 0, 3);
    QVERIFY(alternatives.choices.size() > 1);
    QVERIFY(alternatives.choices.front().probability >= alternatives.choices[1].probability);
    const std::vector<std::int64_t> held = session.holdWord(run, 0, 0, 3, true);
    QVERIFY(!held.empty());
    const QString word = session.newestFrame(run, 0)->text[3];
    session.hold(run, 0, 0, {{.position = 5, .id = alternatives.choices.front().id}});
    session.resumeRun(run);
    waitForEnd(session, run);
    const Frame last = *session.newestFrame(run, 0);
    QCOMPARE(last.text[3], word);
    QCOMPARE(last.marks.at(3), '#');
    QCOMPARE(last.marks.at(5), '#');
    QCOMPARE(last.text[5], alternatives.choices.front().text);
    QVERIFY_EXCEPTION_THROWN(session.holdWord(run, 0, 0, 3, false), Error);     // it has ended
    QVERIFY_EXCEPTION_THROWN((void)session.alternatives(run, 0, 0, 99), Error); // no such position
    QVERIFY_EXCEPTION_THROWN((void)session.alternatives(run, 0, 0, 3, 99), Error);
    QVERIFY_EXCEPTION_THROWN((void)session.alternatives(QStringLiteral("x"), 0, 0, 3), Error);
}

void TestDraftSession::everyStepCanBeTakenAgain()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know where it is.";
    }});
    const QString text = QStringLiteral("Title\r\nWe don't know where it is.\r\nEnd");
    DraftSession *session = &bench.open(text);
    const QString run = start(*session, rewrite(spanOf(*session, QStringLiteral("We don't know where it is."))));
    const RunInfo info = waitForEnd(*session, run);
    RunCurves curves;
    session->history(run, [&](std::variant<RunCurves, Error> answer) { curves = std::get<RunCurves>(answer); });
    const int steps = curves.front().front().steps;
    QVERIFY(steps > 2);
    std::vector<Frame> frames;
    for (int step = 1; step <= steps; ++step) {
        session->historyFrame(run, 0, 0, step,
                              [&](std::variant<Frame, Error> answer) { frames.push_back(std::get<Frame>(answer)); });
        const Frame &frame = frames.back();
        std::optional<BranchInfo> branch;
        session->branch(run, 0, 0, step,
                        [&](std::variant<BranchInfo, Error> answer) { branch = std::get<BranchInfo>(answer); });
        QCOMPARE(session->draft().text(), QStringLiteral("Title\r\n") + frame.shownText() + QStringLiteral("\r\nEnd"));
        QVERIFY(waitFor([&] { return branch.has_value(); }));
        QVERIFY(branch->revision > 1);
        session->undo();
        QCOMPARE(session->draft().text(), text);
    }
    QVERIFY(frames[0].shownText() != frames.back().shownText());
    session->historyFrame(run, 0, 0, steps + 1, [](std::variant<Frame, Error> answer) {
        QCOMPARE(std::get<Error>(answer).kind(), ErrorKind::NotFound);
    });

    // And after a restart, from the disk: by the name that revisions and proposals know.
    QVERIFY(session->draft().proposal(info.proposal)->isOpen());
    QVERIFY(waitFor([&] { return session->saveState().saved; }));
    const QString document = session->document();
    bench.restart();
    session = bench.openAgain(document);
    QVERIFY(session != nullptr);
    const Proposal *proposal = session->draft().proposal(info.proposal);
    QVERIFY(proposal != nullptr);
    QVERIFY(proposal->isOpen());
    for (int step = 1; step <= steps; ++step) {
        std::optional<Frame> again;
        session->historyFrame(proposal->run, 0, 0, step,
                              [&](std::variant<Frame, Error> answer) { again = std::get<Frame>(answer); });
        QVERIFY(waitFor([&] { return again.has_value(); }));
        const Frame &before = frames[static_cast<std::size_t>(step) - 1];
        QCOMPARE(again->shownText(), before.shownText());
        QCOMPARE(again->marks, before.marks);
        QCOMPARE(again->last, before.last);
    }
    std::optional<BranchInfo> branch;
    session->branch(proposal->run, 0, 0, 1,
                    [&](std::variant<BranchInfo, Error> answer) { branch = std::get<BranchInfo>(answer); });
    QVERIFY(waitFor([&] { return branch.has_value(); }));
    QCOMPARE(session->draft().text(),
             QStringLiteral("Title\r\n") + frames.front().shownText() + QStringLiteral("\r\nEnd"));
}

// F098
void TestDraftSession::severalRewritesAreKept()
{
    std::atomic<int> asked = 0;
    EditingBench bench({.answer = [&asked](const std::string &) {
        return asked++ == 0 ? std::string("The dog sat there.") : std::string("The cat lay there.");
    }});
    DraftSession &session = bench.open(QStringLiteral("The cat sat there."));
    const RunInfo first = waitForEnd(session, start(session, rewrite({0, 18})));
    RunWish other = rewrite({0, 18});
    other.instruction = QStringLiteral("Say it in another way");
    const RunInfo second = waitForEnd(session, start(session, other));
    QCOMPARE(second.proposal, first.proposal);
    const Proposal *proposal = session.draft().proposal(first.proposal);
    QCOMPARE(proposal->alternatives.size(), std::size_t{2});
    QCOMPARE(proposal->chosen, std::size_t{1});
    const RunInfo third = waitForEnd(session, session.startAgain(1, first.proposal, std::nullopt));
    QVERIFY(third.seed != second.seed);
    session.chooseAlternative(first.proposal, 0);
    session.takeWords(first.proposal, 1, {8, 11});
    QCOMPARE(session.draft().proposal(first.proposal)->alternatives.back().text, QStringLiteral("The dog lay there."));
    session.acceptProposal(1, first.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("The dog lay there."));
}

void TestDraftSession::directWritesIn()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know.";
    }});
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    RunWish wish = rewrite({0, 14});
    wish.direct = true;
    const RunInfo info = waitForEnd(session, start(session, wish));
    QCOMPARE(session.draft().text(), QStringLiteral("We do not know."));
    QCOMPARE(session.draft().proposal(info.proposal)->state, ProposalState::Accepted);
    session.undo();
    QCOMPARE(session.draft().text(), QStringLiteral("We don't know."));
}

void TestDraftSession::wishesAreRefused_data()
{
    QTest::addColumn<RunAction>("action");
    QTest::addColumn<TextSpan>("span");
    QTest::addColumn<QString>("instruction");
    QTest::addColumn<int>("alternatives");
    QTest::addColumn<QByteArray>("subject");
    QTest::newRow("nothing to rewrite") << RunAction::Rewrite << TextSpan{3, 3} << "Do" << 1 << QByteArray("start");
    QTest::newRow("white space") << RunAction::Renoise << TextSpan{3, 4} << "" << 1 << QByteArray("start");
    QTest::newRow("no instruction") << RunAction::Rewrite << TextSpan{0, 3} << "  " << 1 << QByteArray("instruction");
    QTest::newRow("a filled span") << RunAction::Fill << TextSpan{0, 3} << "" << 1 << QByteArray("end");
    QTest::newRow("outside") << RunAction::Rewrite << TextSpan{0, 99} << "Do" << 1 << QByteArray("end");
    QTest::newRow("too many") << RunAction::Rewrite << TextSpan{0, 3} << "Do" << 9 << QByteArray("alternatives");
    QTest::newRow("all is locked") << RunAction::Rewrite << TextSpan{8, 13} << "Do" << 1 << QByteArray("locks");
}

void TestDraftSession::wishesAreRefused()
{
    QFETCH(const RunAction, action);
    QFETCH(const TextSpan, span);
    QFETCH(const QString, instruction);
    QFETCH(const int, alternatives);
    QFETCH(const QByteArray, subject);
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("one two three"));
    session.setLocked(session.draft().version(), {8, 13}, true);
    RunWish wish;
    wish.action = action;
    wish.span = span;
    wish.instruction = instruction;
    wish.alternatives = alternatives;
    try {
        start(session, wish);
        QFAIL("it was taken");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidArgument);
        QCOMPARE(QByteArray(error.subject().c_str()), subject);
    }
    QVERIFY(session.runs().empty());
}

QTEST_GUILESS_MAIN(TestDraftSession)
#include "tst_draft_session.moc"
