// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/window_driver.h"

#include <QFile>
#include <QQuickItem>
#include <QQuickWindow>
#include <QTest>

using namespace palimpsest;
using namespace palimpsest::studio;
using palimpsest::test::WindowDriver;

/// The list of drafts, its bin, and the files that drafts come from and go to.
class TestStudioLibrary : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aNewDraftIsThereToWriteIn();
    void aClickBelowTheTextPutsTheCaretAtItsEnd();
    void libraryByKeys();
    void binAndBack();
    void exportsAndImports();
};

void TestStudioLibrary::aNewDraftIsThereToWriteIn()
{
    WindowDriver driver;
    QVERIFY(driver.click(QStringLiteral("New draft")));
    QTRY_VERIFY(driver.studio().draft()->isOpen());
    driver.type(QStringLiteral("one"));
    QTRY_COMPARE(driver.text(), QStringLiteral("one"));
    const QString first = driver.studio().draft()->document();
    driver.key(Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier); // the keys go to the search
    driver.key(Qt::Key_N, Qt::ControlModifier);
    QTRY_VERIFY(driver.studio().draft()->document() != first && driver.studio().draft()->isOpen());
    driver.type(QStringLiteral("two"));
    QTRY_COMPARE(driver.text(), QStringLiteral("two"));
}

void TestStudioLibrary::aClickBelowTheTextPutsTheCaretAtItsEnd()
{
    WindowDriver driver;
    QVERIFY(driver.openDraft(QStringLiteral("Alpha"), QStringLiteral("one\ntwo")));
    driver.key(Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
    const QQuickItem *editor = driver.studio().draft()->page()->textEdit();
    QVERIFY(!editor->hasActiveFocus());
    const QPointF below = editor->mapToScene(QPointF(editor->width() / 2, editor->height() * 0.75));
    QVERIFY(below.y() > editor->mapToScene(QPointF(0, editor->implicitHeight())).y() + 100);
    QTest::mouseClick(editor->window(), Qt::LeftButton, {}, below.toPoint());
    driver.type(QStringLiteral(" three"));
    QTRY_COMPARE(driver.text(), QStringLiteral("one\ntwo three"));
}

void TestStudioLibrary::libraryByKeys()
{
    WindowDriver driver;
    LibraryModel &library = *driver.studio().library();
    QVERIFY(driver.openDraft(QStringLiteral("Alpha"), QStringLiteral("first words")));
    driver.key(Qt::Key_F2);
    QTRY_VERIFY(driver.shows(QStringLiteral("Rename the draft")));
    driver.key(Qt::Key_A, Qt::ControlModifier);
    driver.type(QStringLiteral("Beta"));
    driver.key(Qt::Key_Return);
    QTRY_COMPARE(driver.studio().draft()->title(), QStringLiteral("Beta"));
    driver.key(Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(library.count(), 2);
    driver.key(Qt::Key_N, Qt::ControlModifier);
    QTRY_COMPARE(library.count(), 3);
    driver.key(Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
    driver.type(QStringLiteral("first"));
    QTRY_COMPARE(library.count(), 2);
    driver.key(Qt::Key_Down);
    driver.key(Qt::Key_Return);
    QTRY_COMPARE(driver.text(), QStringLiteral("first words"));
}

void TestStudioLibrary::binAndBack()
{
    WindowDriver driver;
    LibraryModel &library = *driver.studio().library();
    QVERIFY(driver.openDraft(QStringLiteral("Alpha"), QStringLiteral("one")));
    driver.key(Qt::Key_Delete, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(library.count(), 0);
    QTRY_VERIFY(!driver.studio().draft()->isOpen());
    driver.picture(QStringLiteral("binned"));
    QTRY_VERIFY(driver.item(QStringLiteral("Take it back")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("Take it back")));
    QTRY_COMPARE(library.count(), 1);
    driver.studio().openDocument(library.idAt(0));
    QTRY_VERIFY(driver.studio().draft()->isOpen());
    driver.key(Qt::Key_Delete, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(library.count(), 0);
    driver.key(Qt::Key_B, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(library.count(), 1);
    QTRY_VERIFY(driver.item(QStringLiteral("Empty the bin…")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("Empty the bin…")));
    QTRY_VERIFY(driver.shows(QStringLiteral("Empty the bin?")));
    driver.key(Qt::Key_Return); // the way out has the focus
    QTRY_VERIFY(!driver.shows(QStringLiteral("Empty the bin?")));
    QCOMPARE(library.count(), 1);
    QVERIFY(driver.click(QStringLiteral("Empty the bin…")));
    QTRY_VERIFY(driver.item(QStringLiteral("Empty the bin")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("Empty the bin")));
    QTRY_COMPARE(library.count(), 0);
}

void TestStudioLibrary::exportsAndImports()
{
    WindowDriver driver;
    QTemporaryDir folder;
    QVERIFY(driver.openDraft(QStringLiteral("Alpha"), QStringLiteral("caf\u00e9\r\ntwo\n")));
    LibraryModel &library = *driver.studio().library();
    const QString id = driver.studio().draft()->document();
    QStringList seen;
    connect(&driver.studio(), &Studio::notice, &driver.studio(), [&](const QString &text) { seen << text; });
    for (const QString &format : {QStringLiteral("markdown"), QStringLiteral("text"), QStringLiteral("diff")}) {
        library.exportTo(id, format, QUrl::fromLocalFile(folder.filePath(format)), false);
        QTRY_VERIFY(QFile::exists(folder.filePath(format)));
    }
    QTRY_COMPARE(seen.size(), 3); // each of them stands as a whole
    QFile plain(folder.filePath(QStringLiteral("text")));
    QVERIFY(plain.open(QIODevice::ReadOnly));
    QCOMPARE(plain.readAll(), QByteArray("caf\xc3\xa9\r\ntwo\n")); // F101: byte for byte
    driver.window().open({folder.filePath(QStringLiteral("text")), folder.filePath(QStringLiteral("nowhere"))});
    QTRY_COMPARE(library.count(), 2);
    QTRY_COMPARE(driver.text(), QStringLiteral("caf\u00e9\r\ntwo\n"));
    QTRY_VERIFY(driver.shows(QStringLiteral("No such file"))); // in words, and the other one was opened
    driver.drop({QUrl::fromLocalFile(folder.filePath(QStringLiteral("markdown"))),
                 QUrl::fromLocalFile(folder.filePath(QStringLiteral("diff")))});
    QTRY_COMPARE(library.count(), 4);
}

QTEST_MAIN(TestStudioLibrary)
#include "tst_studio_library.moc"
