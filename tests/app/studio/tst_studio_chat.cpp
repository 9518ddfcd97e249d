// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/window_driver.h"

#include <QTest>
#include <QThread>

using namespace palimpsest;
using namespace palimpsest::studio;
using palimpsest::test::WindowDriver;

/// Questions about a draft, beside it, and what becomes of their answers.
class TestStudioChat : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void asksAQuestionAndInsertsTheAnswer();
    void severalLinesAreAskedAsTypedF100();
    void stopEndsAnAnswer();
    void thoughtsAreFoldedAwayF009();
};

void TestStudioChat::asksAQuestionAndInsertsTheAnswer()
{
    std::string asked;
    test::WindowSetup setup;
    setup.script = [&asked](const test::ScriptInput &input) {
        asked = input.prompt;
        return std::string("It is about a fee.");
    };
    WindowDriver driver(std::move(setup));
    QVERIFY(driver.openDraft(QStringLiteral("Letter"), QStringLiteral("I have paid.")));
    driver.key(Qt::Key_End, Qt::ControlModifier);
    driver.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
    driver.type(QStringLiteral("What is it about?"));
    driver.key(Qt::Key_Return);
    ChatView &chat = *driver.studio().chat();
    QTRY_COMPARE(chat.count(), 2);
    QTRY_VERIFY(!chat.busy());
    QTRY_VERIFY(driver.shows(QStringLiteral("It is about a fee.")));
    QVERIFY(QString::fromStdString(asked).contains(QStringLiteral("I have paid.")));
    QCOMPARE(driver.text(), QStringLiteral("I have paid.")); // an answer changes nothing
    driver.picture(QStringLiteral("chat"));
    QVERIFY(driver.click(QStringLiteral("Insert at the caret")));
    QTRY_VERIFY(driver.studio().draft()->openChanges() > 0);
    QCOMPARE(driver.text(), QStringLiteral("I have paid.")); // a proposal like any other
    driver.key(Qt::Key_Return, Qt::ControlModifier);
    QTRY_COMPARE(driver.text(), QStringLiteral("I have paid.It is about a fee."));
    driver.key(Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(driver.text(), QStringLiteral("I have paid."));

    driver.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
    driver.type(QStringLiteral("And who wrote it?")); // a second turn knows of the first
    driver.key(Qt::Key_Return);
    QTRY_COMPARE(chat.count(), 4);
    QTRY_VERIFY(!chat.busy());
    QVERIFY(QString::fromStdString(asked).contains(QStringLiteral("What is it about?")));
    QVERIFY(driver.click(QStringLiteral("Clear")));
    QTRY_COMPARE(chat.count(), 0);
}

void TestStudioChat::severalLinesAreAskedAsTypedF100()
{
    std::string asked;
    test::WindowSetup setup;
    setup.script = [&asked](const test::ScriptInput &input) {
        asked = input.prompt;
        return std::string("Yes.");
    };
    WindowDriver driver(std::move(setup));
    driver.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
    driver.type(QStringLiteral("one"));
    driver.key(Qt::Key_Return, Qt::ShiftModifier);
    driver.type(QStringLiteral("two"));
    driver.key(Qt::Key_Return);
    QTRY_COMPARE(driver.studio().chat()->count(), 2);
    QTRY_VERIFY(!driver.studio().chat()->busy());
    QVERIFY2(asked.find("one\ntwo") != std::string::npos, asked.c_str());
}

void TestStudioChat::stopEndsAnAnswer()
{
    test::WindowSetup setup;
    setup.bench.log->beforeDenoise = [](auto) {
        QThread::msleep(20);
    }; // slow enough to be stopped
    setup.script = [](const test::ScriptInput &input) {
        return std::string(input.seed % 2 == 0 ? 4000 : 4001, 'a'); // many canvases
    };
    WindowDriver driver(std::move(setup));
    driver.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
    driver.type(QStringLiteral("Go on."));
    driver.key(Qt::Key_Return);
    ChatView &chat = *driver.studio().chat();
    QTRY_VERIFY(chat.busy());
    QTRY_VERIFY(driver.item(QStringLiteral("Stop")) != nullptr);
    chat.stop();
    QTRY_VERIFY(!chat.busy());
    QCOMPARE(chat.data(chat.index(1), ChatView::ProblemRole).toString(), QStringLiteral("Stopped."));
}

void TestStudioChat::thoughtsAreFoldedAwayF009()
{
    test::WindowSetup setup;
    setup.bench.dialect = ChatDialect::Gemma4Revision2;
    setup.script = [](const test::ScriptInput &input) {
        const bool thinks = input.prompt.find("<|think|>") != std::string::npos;
        return std::string(thinks ? "<|channel>thought\nA fee, then.<channel|>" : "") + "Three.";
    };
    WindowDriver driver(std::move(setup));
    driver.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(driver.item(QStringLiteral("Think first")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("Think first")));
    QVERIFY(driver.studio().chat()->thinking());
    QVERIFY(driver.click(QStringLiteral("Your question")));
    driver.type(QStringLiteral("How many?"));
    driver.key(Qt::Key_Return);
    ChatView &chat = *driver.studio().chat();
    QTRY_COMPARE(chat.count(), 2);
    QTRY_VERIFY(!chat.busy());
    QCOMPARE(chat.data(chat.index(1), ChatView::ContentRole).toString(), QStringLiteral("Three."));
    QCOMPARE(chat.data(chat.index(1), ChatView::ThoughtsRole).toString(), QStringLiteral("A fee, then."));
    QVERIFY(!driver.shows(QStringLiteral("A fee, then.")));
    QVERIFY(driver.click(QStringLiteral("Show what it thought")));
    QTRY_VERIFY(driver.shows(QStringLiteral("A fee, then.")));
}

QTEST_MAIN(TestStudioChat)
#include "tst_studio_chat.moc"
