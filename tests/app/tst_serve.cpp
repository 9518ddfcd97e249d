// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/program_runner.h"
#include "tests/app/server/http/raw_client.h"

#include <QProcess>
#include <QRegularExpression>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

using namespace palimpsest::test;

namespace {

constexpr int kPatienceMs = 60'000; // for sanitizers on a busy machine

/// `palimpsest serve` on a free port, with drafts in a folder of its own.
class ServeProcess
{
public:
    enum class How { Serve, Alone }; ///< Alone: the program without a command

    explicit ServeProcess(const QStringList &arguments = {}, const QString &key = {}, How how = How::Serve)
    {
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.remove("PALIMPSEST_MODEL");
        for (const char *display : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            variables.remove(display);
        variables.insert("XDG_CONFIG_HOME", "/nonexistent");
        variables.insert("XDG_DATA_HOME", m_folder.path());
        if (!key.isEmpty())
            variables.insert("PALIMPSEST_API_KEY", key);
        m_process.setProcessEnvironment(variables);
        QStringList all = arguments;
        if (!all.contains("--data-dir"))
            all << "--data-dir" << m_folder.path();
        m_process.start(programPath(), how == How::Alone ? arguments : QStringList{"serve", "--port", "0"} + all);
        while (!m_output.contains("Ctrl-C") && m_process.waitForReadyRead(kPatienceMs))
            m_output += m_process.readAllStandardOutput();
        const auto match = QRegularExpression("http://127\\.0\\.0\\.1:(\\d+)/v1").match(m_output);
        m_port = match.captured(1).toUShort();
    }
    ~ServeProcess()
    {
        m_process.kill(); // if the test has not ended it
        m_process.waitForFinished(kPatienceMs);
    }
    ServeProcess(const ServeProcess &) = delete;
    ServeProcess &operator=(const ServeProcess &) = delete;

    [[nodiscard]] std::uint16_t port() const { return m_port; }
    [[nodiscard]] QString output() const { return m_output; }
    [[nodiscard]] std::string request(const std::string &line, const std::string &rest = "\r\n") const
    {
        return line + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(m_port) + "\r\n" + rest;
    }
    RawAnswer get(const std::string &path, const std::string &fields = {}) const
    {
        RawClient client(m_port);
        (void)client.send(request("GET " + path, fields + "\r\n"));
        return client.answer().value_or(RawAnswer());
    }
    /// Exit code after the signal; -1 if it does not end, or crashes.
    int end(int signal)
    {
        ::kill(static_cast<pid_t>(m_process.processId()), signal);
        const bool ended = m_process.waitForFinished(kPatienceMs);
        m_output += m_process.readAllStandardOutput();
        m_error += m_process.readAllStandardError();
        return ended && m_process.exitStatus() == QProcess::NormalExit ? m_process.exitCode() : -1;
    }
    [[nodiscard]] QByteArray error() const { return m_error; }

private:
    QTemporaryDir m_folder;
    QProcess m_process;
    QString m_output;
    QByteArray m_error;
    std::uint16_t m_port = 0;
};

} // namespace

class TestServe : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void servesUntilASignal_data();
    void servesUntilASignal();
    void servesWithoutACommandAndADisplay();
    void endsWithAStreamOpen();
    void keysAreAskedForAndNotTold();
    void refusals_data();
    void refusals();
    void takenPort();
    void servesWithoutDrafts();
};

void TestServe::servesUntilASignal_data()
{
    QTest::addColumn<int>("signal");
    QTest::newRow("SIGINT") << SIGINT;
    QTest::newRow("SIGTERM") << SIGTERM;
}

void TestServe::servesUntilASignal()
{
    QFETCH(int, signal);
    ServeProcess serve({"--model-name", "mine"});
    QVERIFY2(serve.port() != 0, qPrintable(serve.output()));
    QTRY_COMPARE_WITH_TIMEOUT(serve.get("/health").status, 200, kPatienceMs);
    QVERIFY(serve.get("/v1/models").body.find("\"id\":\"mine\"") != std::string::npos);
    QCOMPARE(serve.get("/").status, 200);
    QCOMPARE(serve.end(signal), 0);
    QVERIFY2(serve.error().contains("ready after"), serve.error().constData());
}

void TestServe::servesWithoutACommandAndADisplay()
{
    ServeProcess serve({}, {}, ServeProcess::How::Alone);
    QVERIFY2(serve.port() != 0, qPrintable(serve.output()));
    QVERIFY(serve.output().contains("browser studio"));
    QCOMPARE(serve.get("/").status, 200);
    QCOMPARE(serve.end(SIGTERM), 0);
    QVERIFY2(serve.error().contains("display") || serve.error().contains("not built"), serve.error().constData());
}

void TestServe::endsWithAStreamOpen()
{
    ServeProcess serve;
    QTRY_COMPARE_WITH_TIMEOUT(serve.get("/health").status, 200, kPatienceMs);
    RawClient client(serve.port());
    const std::string body = R"({"model":"palimpsest-demo","stream":true,"max_tokens":2000,)"
                             R"("messages":[{"role":"user","content":"Fix the spelling: teh cat sat on teh mat"}]})";
    QVERIFY(client.send(serve.request(
        "POST /v1/chat/completions",
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body)));
    QVERIFY(!client.piece(kPatienceMs).empty());
    QCOMPARE(serve.end(SIGINT), 0);
    QVERIFY(client.closed());
}

void TestServe::keysAreAskedForAndNotTold()
{
    ServeProcess serve({"--verbose"}, "very-secret-key");
    QVERIFY(serve.output().contains("ask for an API key"));
    QCOMPARE(serve.get("/v1/models").status, 401);
    QVERIFY(serve.get("/v1/models", "Authorization: Bearer very-secret-key\r\n").status != 401);
    QCOMPARE(serve.get("/ws?key=very-secret-key").status, 401); // not an upgrade: keys do not belong into addresses
    QCOMPARE(serve.end(SIGTERM), 0);
    QVERIFY2(serve.error().contains("GET /v1/models"), serve.error().constData()); // there is a log of requests
    QVERIFY(!serve.error().contains("very-secret-key"));
    QVERIFY(!serve.output().contains("very-secret-key"));
}

void TestServe::refusals_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QByteArray>("part");
    QTest::newRow("other machines") << QStringList{"--host", "0.0.0.0"} << 2 << QByteArray("API key");
    QTest::newRow("no address") << QStringList{"--host", "example.org"} << 2 << QByteArray("no address");
    QTest::newRow("no port") << QStringList{"--port", "x"} << 2 << QByteArray("neither a number");
    QTest::newRow("large port") << QStringList{"--port", "65536"} << 2 << QByteArray("neither a number");
    QTest::newRow("no origin") << QStringList{"--allow-origin", "example.org"} << 2 << QByteArray("no origin");
    QTest::newRow("no key file") << QStringList{"--api-key-file", "/nonexistent/keys"} << 5
                                 << QByteArray("no such file");
    QTest::newRow("empty key") << QStringList{"--api-key", ""} << 2 << QByteArray("API key");
    QTest::newRow("no model") << QStringList{"--port", "0", "--model", "/nonexistent"} << 5
                              << QByteArray("/nonexistent");
}

void TestServe::refusals()
{
    QFETCH(QStringList, arguments);
    QFETCH(int, exitCode);
    QFETCH(QByteArray, part);
    const QTemporaryDir folder;
    const ProgramRun run = runProgram(QStringList{"serve", "--data-dir", folder.path()} + arguments);
    QCOMPARE(run.exitCode, exitCode);
    QVERIFY2(run.error.contains(part), run.error.constData());
}

void TestServe::takenPort()
{
    // F075
    QTcpServer other;
    QVERIFY(other.listen(QHostAddress(QHostAddress::LocalHost), 0));
    const QTemporaryDir folder;
    const QString port = QString::number(other.serverPort());
    const ProgramRun run = runProgram({"serve", "--data-dir", folder.path(), "--port", port});
    QCOMPARE(run.exitCode, 2);
    QVERIFY2(run.error.contains("wants port " + port.toUtf8()), run.error.constData());
    QVERIFY(run.error.contains("--port auto"));
    QVERIFY(run.output.isEmpty());
}

void TestServe::servesWithoutDrafts()
{
    // A store that cannot be opened is told, and the endpoint works.
    ServeProcess serve({"--data-dir", "/proc/nowhere"});
    QTRY_COMPARE_WITH_TIMEOUT(serve.get("/health").status, 200, kPatienceMs);
    QCOMPARE(serve.end(SIGTERM), 0);
    QVERIFY2(serve.error().contains("drafts cannot be kept"), serve.error().constData());
}

QTEST_GUILESS_MAIN(TestServe)
#include "tst_serve.moc"
