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
    QCOMPARE(session.draft().proposal(first.proposal)->chosen, std::size_t{1});
    waitForEnd(session, start(session, rewrite({0, 18}))); // finds again what the first one found
    QCOMPARE(session.draft().proposal(first.proposal)->alternatives.size(), std::size_t{2});
    QCOMPARE(session.draft().proposal(first.proposal)->chosen, std::size_t{0});
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
