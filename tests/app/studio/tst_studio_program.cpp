// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_store.h"
#include "engine/error.h"

#include <QFile>
#include <QProcess>
#include <QProcessEnvironment>
#include <QRect>
#include <QRegularExpression>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

using namespace palimpsest;

namespace {

constexpr int kPatienceMs = 60'000; // for sanitizers on a busy machine

QString program(const QString &name)
{
    return QStringLiteral(PALIMPSEST_BINARY_DIR "/bin/") + name;
}

/// The built programs, with settings and drafts of their own, drawing on nothing.
class Started
{
public:
    explicit Started(const QTemporaryDir &home) : m_home(home)
    {
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        for (const char *name : {"PALIMPSEST_MODEL", "DISPLAY", "WAYLAND_DISPLAY"})
            variables.remove(QString::fromLatin1(name));
        variables.insert(QStringLiteral("XDG_CONFIG_HOME"), home.path());
        variables.insert(QStringLiteral("XDG_DATA_HOME"), home.path());
        variables.insert(QStringLiteral("TMPDIR"), home.path()); // where the socket of the one instance lies
        m_process.setProcessEnvironment(variables);
        m_process.setProcessChannelMode(QProcess::MergedChannels);
    }
    ~Started()
    {
        if (m_process.state() != QProcess::NotRunning)
            m_process.kill();
        m_process.waitForFinished(kPatienceMs);
    }
    Started(const Started &) = delete;
    Started &operator=(const Started &) = delete;

    void start(const QString &name, const QStringList &arguments) { m_process.start(program(name), arguments); }
    bool says(const QString &text)
    {
        while (!m_output.contains(text) && m_process.waitForReadyRead(kPatienceMs))
            m_output += QString::fromUtf8(m_process.readAll());
        return m_output.contains(text);
    }
    void signal(int number) const { ::kill(static_cast<pid_t>(m_process.processId()), number); }
    int ended()
    {
        const bool done = m_process.waitForFinished(kPatienceMs);
        m_output += QString::fromUtf8(m_process.readAll());
        return done && m_process.exitStatus() == QProcess::NormalExit ? m_process.exitCode() : -1;
    }
    [[nodiscard]] QString output() const { return m_output; }
    [[nodiscard]] int number(const QString &pattern) const
    {
        return QRegularExpression(pattern).match(m_output).captured(1).toInt();
    }
    [[nodiscard]] std::size_t drafts() const
    {
        const auto file = std::filesystem::path(m_home.path().toStdString()) / "palimpsest" / "documents.sqlite";
        if (!std::filesystem::exists(file))
            return 0;
        try {
            return documents::DocumentStore({.file = file}).list().size();
        } catch (const Error &) {
            return 0; // it is just being made
        }
    }

private:
    const QTemporaryDir &m_home;
    QProcess m_process;
    QString m_output;
};

QString writeFile(const QTemporaryDir &home, const QString &name)
{
    QFile file(home.filePath(name));
    (void)file.open(QIODevice::WriteOnly);
    file.write("Dear board,\n");
    return file.fileName();
}

} // namespace

/// `palimpsest` and `palimpsest-studio` as they are started.
class TestStudioProgram : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void opensTheWindowAndTheModelSoon();
    void opensFilesAndTakesThoseOfASecondStart();
    void endsInOrderAtASignal();
    void aLargeModelIsNotPutOnTheCpuUnaskedF085();
    void helpNeedsNoDisplay_data();
    void helpNeedsNoDisplay();
    void saysThatThereIsNoDisplay();
};

void TestStudioProgram::opensTheWindowAndTheModelSoon()
{
    const QTemporaryDir home;
    Started studio(home);
    studio.start(QStringLiteral("palimpsest-studio"), {QStringLiteral("--verbose")});
    QVERIFY2(studio.says(QStringLiteral("the window stood after")), qPrintable(studio.output()));
    QVERIFY2(studio.says(QStringLiteral("the model was ready after")), qPrintable(studio.output()));
    const int windowMs = studio.number(QStringLiteral("window stood after (\\d+) ms"));
    const int modelMs = studio.number(QStringLiteral("model was ready after (\\d+) ms"));
    qInfo("window %d ms, model %d ms", windowMs, modelMs);
    QVERIFY(windowMs > 0 && windowMs < 15'000); // 700 and 2000 on an idle machine; this one may be busy
    QVERIFY(modelMs > 0 && modelMs < 30'000);
    QVERIFY2(!studio.output().contains(QStringLiteral("qrc:")), qPrintable(studio.output())); // QML has no complaints
}

void TestStudioProgram::opensFilesAndTakesThoseOfASecondStart()
{
    const QTemporaryDir home;
    Started first(home);
    // By way of `palimpsest FILE`, which becomes the studio.
    first.start(QStringLiteral("palimpsest"), {QStringLiteral("--verbose"), writeFile(home, QStringLiteral("one.md"))});
    QVERIFY2(first.says(QStringLiteral("the window stood after")), qPrintable(first.output()));
    QTRY_COMPARE_WITH_TIMEOUT(first.drafts(), std::size_t{1}, kPatienceMs);
    Started second(home);
    second.start(QStringLiteral("palimpsest-studio"), {writeFile(home, QStringLiteral("two.md"))});
    QCOMPARE(second.ended(), 0);
    QTRY_COMPARE_WITH_TIMEOUT(first.drafts(), std::size_t{2}, kPatienceMs);

    const QTemporaryDir other; // another profile is another studio
    Started third(other);
    third.start(QStringLiteral("palimpsest"), {QStringLiteral("--verbose")});
    QVERIFY2(third.says(QStringLiteral("the window stood after")), qPrintable(third.output()));
}

void TestStudioProgram::endsInOrderAtASignal()
{
    const QTemporaryDir home;
    Started studio(home);
    studio.start(QStringLiteral("palimpsest-studio"), {QStringLiteral("--verbose")});
    QVERIFY2(studio.says(QStringLiteral("the window stood after")), qPrintable(studio.output()));
    studio.signal(SIGTERM);
    QCOMPARE(studio.ended(), 0);
    const QSettings settings(home.filePath(QStringLiteral("palimpsest/settings.ini")), QSettings::IniFormat);
    QVERIFY(settings.value(QStringLiteral("window/geometry")).toRect().isValid()); // the window was remembered
}

void TestStudioProgram::aLargeModelIsNotPutOnTheCpuUnaskedF085()
{
    const QTemporaryDir home;
    QFile weights(home.filePath(QStringLiteral("model.safetensors")));
    QVERIFY(weights.open(QIODevice::WriteOnly));
    QVERIFY(weights.resize(3LL << 30)); // a hole in the file takes no room on the disk
    qputenv("CUDA_VISIBLE_DEVICES", "");
    Started studio(home);
    studio.start(QStringLiteral("palimpsest-studio"),
                 {QStringLiteral("--verbose"), QStringLiteral("--model"), home.path()});
    QVERIFY2(studio.says(QStringLiteral("no graphics card can be used")), qPrintable(studio.output()));
}

void TestStudioProgram::helpNeedsNoDisplay_data()
{
    QTest::addColumn<QString>("option");
    QTest::newRow("help") << QStringLiteral("--help");
    QTest::newRow("version") << QStringLiteral("--version");
}

void TestStudioProgram::helpNeedsNoDisplay()
{
    QFETCH(QString, option);
    QProcess process;
    QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
    for (const char *name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        variables.remove(QString::fromLatin1(name));
    process.setProcessEnvironment(variables);
    process.start(program(QStringLiteral("palimpsest-studio")), {option});
    QVERIFY(process.waitForFinished(kPatienceMs));
    QCOMPARE(process.exitCode(), 0);
    QVERIFY(process.readAllStandardOutput().contains("palimpsest-studio"));
    QVERIFY(process.readAllStandardError().isEmpty());
}

void TestStudioProgram::saysThatThereIsNoDisplay()
{
    QProcess process;
    QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
    for (const char *name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        variables.remove(QString::fromLatin1(name));
    process.setProcessEnvironment(variables);
    process.start(program(QStringLiteral("palimpsest-studio")), QStringList());
    QVERIFY(process.waitForFinished(kPatienceMs));
    QCOMPARE(process.exitCode(), 2);
    QVERIFY(process.readAllStandardError().contains("palimpsest serve"));
}

QTEST_GUILESS_MAIN(TestStudioProgram)
#include "tst_studio_program.moc"
