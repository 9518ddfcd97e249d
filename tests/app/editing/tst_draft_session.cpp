// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft_session.h"
#include "app/editing/utf8_text.h"
#include "tests/app/editing/editing_bench.h"

#include <QRegularExpression>
#include <QTest>

using namespace palimpsest;
using namespace palimpsest::editing;
using namespace palimpsest::test;

/// A draft that is open: saved, shared by windows, and never changed where nobody asked for it.
class TestDraftSession : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void typingIsSaved();
    void windowsShareOneSession();
    void nothingOutsideTheSpanChanges_data();
    void nothingOutsideTheSpanChanges();
    void lockedWordsStayInEveryFrame_data();
    void lockedWordsStayInEveryFrame();
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

QTEST_GUILESS_MAIN(TestDraftSession)
#include "tst_draft_session.moc"
