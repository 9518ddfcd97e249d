// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/studio_bench.h"

#include <QInputMethodEvent>
#include <QQuickItem>
#include <QSignalSpy>
#include <QTest>

#include <memory>

using namespace palimpsest;
using namespace palimpsest::studio;
using test::kLetter;
using test::kSentence;

/// What an input method composes on the page while a canvas runs there (F088): steps that come in between neither
/// cancel it nor lead it astray, and it is nobody's text before it is committed.
class TestStudioComposing : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup() { m_bench.reset(); }

    void besideTheRun_data();
    void besideTheRun();
    void cancelled_data();
    void cancelled();
    void insideTheRun();
    void overTheRunsBorder();
    void severalSyllables();
    void theRunEndsMeanwhile();
    void theRunIsStoppedMeanwhile();
    void anotherWindowTypesMeanwhile();

private:
    void compose(const QString &preedit, const QString &commit = {});
    void letStep();
    void composeWord(); ///< three letters, with a step behind each
    [[nodiscard]] int step();
    [[nodiscard]] QString frameText();
    /// What the page shows beside the composed letters.
    [[nodiscard]] QString preedit() { return m_bench->editor()->property("preeditText").toString(); }
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }

    std::unique_ptr<test::StudioBench> m_bench;
    const QString m_composed = QString::fromUtf8("にほん");
    const QString m_word = QString::fromUtf8("日本");
    const qsizetype m_live = kLetter.indexOf(u'\n') + 1; ///< where the sentence begins that is rewritten
};

void TestStudioComposing::init()
{
    m_bench = std::make_unique<test::StudioBench>();
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(kLetter);
    bench().gate.close();
    bench().askRewrite(kSentence, QStringLiteral("Correct it."));
    letStep();
    QTRY_VERIFY(bench().pageText() != kLetter);
    bench().editor()->forceActiveFocus();
}

void TestStudioComposing::compose(const QString &preedit, const QString &commit)
{
    QInputMethodEvent event(preedit, {});
    event.setCommitString(commit);
    QCoreApplication::sendEvent(bench().editor(), &event);
}

int TestStudioComposing::step()
{
    const auto newest = bench().draft().session()->newestFrame(bench().draft().run(), 0);
    return newest ? newest->step : 0;
}

QString TestStudioComposing::frameText()
{
    return bench().draft().session()->newestFrame(bench().draft().run(), 0)->shownText();
}

void TestStudioComposing::letStep()
{
    const int before = step();
    bench().gate.let(1);
    QTRY_VERIFY(step() > before);
    QTest::qWait(2 * PageText::kFrameMs); // the page would have it too
}

void TestStudioComposing::composeWord()
{
    const QString page = bench().pageText();
    const QString draft = bench().text();
    const qsizetype caret = bench().caret();
    for (qsizetype length = 1; length <= m_composed.size(); ++length) {
        compose(m_composed.left(length));
        letStep();
        QVERIFY(bench().editor()->property("inputMethodComposing").toBool());
        QCOMPARE(preedit(), m_composed.left(length));
        QCOMPARE(bench().caret(), caret);
        QCOMPARE(bench().pageText(), page); // the page waits, and has no letters of its own
        QCOMPARE(bench().text(), draft);
        QVERIFY(!frameText().contains(m_composed.left(1)));
    }
}

void TestStudioComposing::besideTheRun_data()
{
    QTest::addColumn<qsizetype>("place"); // in the draft
    QTest::addColumn<bool>("isBehindTheRun");
    QTest::newRow("in front") << qsizetype{4} << false;
    QTest::newRow("at the run's beginning") << m_live << false;
    QTest::newRow("at the run's end") << m_live + kSentence.size() << true;
    QTest::newRow("behind") << m_live + kSentence.size() + 3 << true;
    QTest::newRow("at the draft's end") << kLetter.size() << true;
}

void TestStudioComposing::besideTheRun()
{
    QFETCH(const qsizetype, place);
    QFETCH(const bool, isBehindTheRun);
    const auto shown = [&](qsizetype draft) {
        return isBehindTheRun ? draft + frameText().size() - kSentence.size() : draft;
    };
    bench().placeCaret(shown(place));
    composeWord();
    compose({}, m_word);
    const QString written = QString(kLetter).insert(place, m_word);
    QCOMPARE(bench().text(), written);
    const auto page = [&] {
        const qsizetype at = m_live + (isBehindTheRun ? 0 : m_word.size());
        return QString(written).replace(at, kSentence.size(), frameText());
    };
    QTRY_COMPARE(bench().pageText(), page());
    QCOMPARE(bench().caret(), shown(place) + m_word.size());
    letStep();
    QTRY_COMPARE(bench().pageText(), page());
    QCOMPARE(bench().caret(), shown(place) + m_word.size());
    QVERIFY(bench().draft().running());

    bench().key(Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(bench().text(), kLetter);
    bench().key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(bench().text(), written);
    QVERIFY(bench().draft().running());
    bench().key(Qt::Key_Escape); // stops, and leaves what was written
    QTRY_VERIFY(!bench().draft().running());
    QTRY_COMPARE(bench().pageText(), written);
}

void TestStudioComposing::cancelled_data()
{
    QTest::addColumn<qsizetype>("place"); // on the page
    QTest::newRow("in front") << qsizetype{4};
    QTest::newRow("at the run's beginning") << m_live;
    QTest::newRow("inside the run") << m_live + 7;
    QTest::newRow("at the end") << qsizetype{-1};
}

void TestStudioComposing::cancelled()
{
    QFETCH(qsizetype, place);
    if (place < 0)
        place = bench().pageText().size();
    const QString undo = bench().draft().undoLabel();
    QSignalSpy refused(&bench().page(), &PageText::refused);
    bench().placeCaret(place);
    composeWord();
    compose({});
    QCOMPARE(preedit(), QString());
    QTRY_COMPARE(bench().pageText(), QString(kLetter).replace(m_live, kSentence.size(), frameText())); // catches up
    QCOMPARE(bench().text(), kLetter);
    QCOMPARE(bench().draft().undoLabel(), undo); // nothing to undo
    QCOMPARE(refused.count(), 0);
    QVERIFY(bench().draft().running());
}

void TestStudioComposing::insideTheRun()
{
    const auto word = bench().page().canvasPlaceAt(m_live + 7);
    QVERIFY(word);
    bench().placeCaret(bench().page().shownOf(*word)->start + 1);
    QSignalSpy refused(&bench().page(), &PageText::refused);
    composeWord();
    QCOMPARE(refused.count(), 0); // not before it is committed
    compose({}, m_word);
    QCOMPARE(refused.count(), 1); // as with letters typed there
    QCOMPARE(bench().text(), kLetter);
    QTRY_COMPARE(bench().pageText(), QString(kLetter).replace(m_live, kSentence.size(), frameText()));
    QCOMPARE(preedit(), QString());
    letStep();
    QTRY_COMPARE(bench().pageText(), QString(kLetter).replace(m_live, kSentence.size(), frameText()));
    QVERIFY(bench().draft().running());
    QVERIFY(bench().draft().undoLabel().isEmpty());
}

void TestStudioComposing::overTheRunsBorder()
{
    bench().placeCaret(m_live - 4);
    for (int i = 0; i < 10; ++i)
        bench().key(Qt::Key_Right, Qt::ShiftModifier);
    QSignalSpy refused(&bench().page(), &PageText::refused);
    compose(m_composed); // takes the place of what is selected, of which a part is the model's
    letStep();
    QVERIFY(refused.count() > 0);
    compose({}, m_word);
    QCOMPARE(bench().text(), kLetter);
    QTRY_COMPARE(bench().pageText(), QString(kLetter).replace(m_live, kSentence.size(), frameText()));
    QVERIFY(bench().draft().running());
}

void TestStudioComposing::severalSyllables()
{
    bench().placeCaret(4);
    compose(QString::fromUtf8("ㅎ"));
    letStep();
    compose(QString::fromUtf8("ㄱ"), QString::fromUtf8("하")); // commits one and goes on with the next
    letStep();
    QCOMPARE(bench().text(), QString(kLetter).insert(4, QString::fromUtf8("하")));
    QCOMPARE(preedit(), QString::fromUtf8("ㄱ"));
    compose(QString::fromUtf8("그"));
    letStep();
    compose({}, QString::fromUtf8("글"));
    QCOMPARE(bench().text(), QString(kLetter).insert(4, QString::fromUtf8("하글")));
    const auto page = [&] {
        return QString(bench().text()).replace(m_live + 2, kSentence.size(), frameText());
    };
    QTRY_COMPARE(bench().pageText(), page());
    QCOMPARE(bench().caret(), 6);
    bench().key(Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(bench().text(), kLetter); // written in one go
}

void TestStudioComposing::theRunEndsMeanwhile()
{
    bench().placeCaret(4);
    composeWord();
    bench().script->settleWithin(1);
    bench().gate.open();
    QTRY_VERIFY(!bench().draft().running());
    QTRY_COMPARE(bench().draft().openChanges(), 2);
    QCOMPARE(preedit(), m_composed);
    compose({}, m_word);
    QCOMPARE(bench().text(), QString(kLetter).insert(4, m_word));
    QTRY_VERIFY(bench().pageText().contains(QStringLiteral("paid"))); // what is proposed
    QCOMPARE(bench().caret(), 4 + m_word.size());
    bench().draft().acceptAll();
    QTRY_COMPARE(bench().text(),
                 QString(kLetter).replace(kSentence, QStringLiteral("I have paid the fee.")).insert(4, m_word));
    QTRY_COMPARE(bench().pageText(), bench().text());
    bench().key(Qt::Key_Z, Qt::ControlModifier); // each is a step of its own
    bench().key(Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(bench().text(), kLetter);
}

void TestStudioComposing::theRunIsStoppedMeanwhile()
{
    bench().placeCaret(m_live + kSentence.size() / 2); // where the model's words go away
    composeWord();
    bench().draft().stop();
    QTRY_VERIFY(!bench().draft().running());
    QTest::qWait(2 * PageText::kFrameMs);
    QCOMPARE(preedit(), m_composed);
    compose({}, m_word);
    QTRY_COMPARE(bench().pageText(), bench().text());
    QCOMPARE(preedit(), QString());
    QCOMPARE(QString(bench().text()).remove(m_word), kLetter); // taken or refused, but nothing else is lost
}

void TestStudioComposing::anotherWindowTypesMeanwhile()
{
    bench().placeCaret(4);
    composeWord();
    editing::DraftSession &session = *bench().draft().session();
    session.edit(77, session.draft().version(), {{0, 0}, QStringLiteral("Oh, ")}, true);
    letStep();
    QCOMPARE(preedit(), m_composed);
    compose({}, m_word);
    QCOMPARE(bench().text(), QStringLiteral("Oh, ") + QString(kLetter).insert(4, m_word));
    QTRY_COMPARE(bench().pageText(),
                 QString(bench().text()).replace(m_live + 4 + m_word.size(), kSentence.size(), frameText()));
    QCOMPARE(bench().caret(), 8 + m_word.size());
}

QTEST_MAIN(TestStudioComposing)
#include "tst_studio_composing.moc"
