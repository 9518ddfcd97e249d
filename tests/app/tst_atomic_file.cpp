// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/atomic_file.h"
#include "engine/error.h"

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>

using namespace palimpsest;
using namespace palimpsest::cli;

namespace {

void write(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(bytes), bytes.size());
}

QByteArray read(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("<cannot be read>");
}

} // namespace

class TestAtomicFile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void contentsAndPermissionsAreKept();
    void symbolicLinksStayLinks();
    void readersKeepTheOldFile();
    void failuresLeaveTheFile_data();
    void failuresLeaveTheFile();
    void fileThatChangedMeanwhileIsLeft();
};

void TestAtomicFile::contentsAndPermissionsAreKept()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("naïve 田.txt"));
    write(path, "old");
    for (const mode_t mode : {mode_t{0600}, mode_t{0644}, mode_t{0751}}) {
        QCOMPARE(::chmod(path.toStdString().c_str(), mode), 0);
        const QByteArray contents = "\xEF\xBB\xBFnew\r\n" + QByteArray(100'000, 'x');
        replaceFile(path.toStdString(), contents.toStdString());
        QCOMPARE(read(path), contents);
        struct stat status = {};
        QCOMPARE(::stat(path.toStdString().c_str(), &status), 0);
        QCOMPARE(status.st_mode & 07777U, mode);
    }
    replaceFile(path.toStdString(), "");
    QCOMPARE(read(path), QByteArray());
    QCOMPARE(QDir(folder.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).size(), 1);
}

void TestAtomicFile::symbolicLinksStayLinks()
{
    const QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkdir(QStringLiteral("deep")));
    const QString target = folder.filePath(QStringLiteral("deep/target.txt"));
    const QString link = folder.filePath(QStringLiteral("link.txt"));
    write(target, "old");
    QVERIFY(QFile::link(QStringLiteral("deep/target.txt"), link));
    replaceFile(link.toStdString(), "new");
    QVERIFY(QFileInfo(link).isSymLink());
    QCOMPARE(read(target), QByteArray("new"));
}

void TestAtomicFile::readersKeepTheOldFile()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("text.txt"));
    write(path, "old contents");
    QFile reader(path);
    QVERIFY(reader.open(QIODevice::ReadOnly));
    replaceFile(path.toStdString(), "new");
    QCOMPARE(reader.readAll(), QByteArray("old contents"));
    QCOMPARE(read(path), QByteArray("new"));
}

void TestAtomicFile::failuresLeaveTheFile_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("kind");
    QTest::newRow("missing") << "none.txt" << int(ErrorKind::NotFound);
    QTest::newRow("under a file") << "file.txt/none.txt" << int(ErrorKind::NotFound);
    QTest::newRow("a folder") << "." << int(ErrorKind::Io);
    QTest::newRow("a link that leads nowhere") << "dangling" << int(ErrorKind::NotFound);
}

void TestAtomicFile::failuresLeaveTheFile()
{
    QFETCH(QString, path);
    QFETCH(int, kind);
    const QTemporaryDir folder;
    write(folder.filePath(QStringLiteral("file.txt")), "old");
    QVERIFY(QFile::link(QStringLiteral("nowhere"), folder.filePath(QStringLiteral("dangling"))));
    try {
        replaceFile(folder.filePath(path).toStdString(), "new");
        QFAIL("replaced");
    } catch (const Error &error) {
        QCOMPARE(int(error.kind()), kind);
    }
    QCOMPARE(read(folder.filePath(QStringLiteral("file.txt"))), QByteArray("old"));
    QCOMPARE(
        QDir(folder.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot).size(), 2);
}

void TestAtomicFile::fileThatChangedMeanwhileIsLeft()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("text.txt"));
    write(path, "as read");
    const InputText input = readInputText(path.toStdString());
    replaceFile(path.toStdString(), "as written", input.stamp); // still the one that was read
    write(path, "by somebody else");
    try {
        replaceFile(path.toStdString(), "late", input.stamp);
        QFAIL("replaced");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::Io);
    }
    QCOMPARE(read(path), QByteArray("by somebody else"));
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).size(), 1);
}

QTEST_GUILESS_MAIN(TestAtomicFile)
#include "tst_atomic_file.moc"
