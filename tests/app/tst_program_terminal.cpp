// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace {

constexpr int kPatienceMs = 120'000;

/// The built program on a terminal of its own, watched from the other side.
class TerminalRun
{
public:
    TerminalRun(std::vector<std::string> arguments, const std::vector<std::pair<std::string, std::string>> &environment)
    {
        winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
        arguments.insert(arguments.begin(), PALIMPSEST_BINARY_DIR "/bin/palimpsest");
        std::vector<char *> pointers;
        pointers.reserve(arguments.size() + 1);
        for (std::string &argument : arguments)
            pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        m_process = ::forkpty(&m_terminal, nullptr, nullptr, &size);
        if (m_process != 0)
            return;
        ::setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
        ::unsetenv("NO_COLOR");
        ::unsetenv("PALIMPSEST_MODEL");
        ::setenv("TERM", "xterm-256color", 1);
        for (const auto &[name, value] : environment)
            ::setenv(name.c_str(), value.c_str(), 1);
        ::execv(pointers[0], pointers.data());
        ::_exit(127);
    }

    ~TerminalRun()
    {
        if (m_process > 0) {
            ::kill(m_process, SIGKILL);
            ::waitpid(m_process, nullptr, 0);
        }
        ::close(m_terminal);
    }

    TerminalRun(const TerminalRun &) = delete;
    TerminalRun &operator=(const TerminalRun &) = delete;

    /// Reads until the text has come (after what was waited for before); false if the program ended or hangs.
    bool waitFor(const std::string &text)
    {
        for (;;) {
            const std::size_t at = m_seen.find(text, m_position);
            if (at != std::string::npos) {
                m_position = at + text.size();
                return true;
            }
            if (!readSome())
                return false;
        }
    }

    void type(const std::string &keys)
    {
        QCOMPARE(::write(m_terminal, keys.data(), keys.size()), ssize_t(keys.size()));
    }
    void signal(int number) const { ::kill(m_process, number); }

    void resize(unsigned short columns, unsigned short rows) const
    {
        const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
        QCOMPARE(::ioctl(m_terminal, TIOCSWINSZ, &size), 0);
    }

    [[nodiscard]] bool echoes() const
    {
        termios mode{};
        return ::tcgetattr(m_terminal, &mode) == 0 && (mode.c_lflag & ECHO) != 0;
    }

    /// Waits until the program has been stopped (Ctrl-Z).
    [[nodiscard]] bool waitUntilStopped()
    {
        int status = 0;
        return ::waitpid(m_process, &status, WUNTRACED) == m_process && WIFSTOPPED(status);
    }

    /// Reads to the end and returns the exit status; -1 if a signal killed it.
    int finish()
    {
        while (readSome()) {
        }
        int status = 0;
        ::waitpid(m_process, &status, 0);
        m_process = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    /// Everything that came, and what came since the last waitFor.
    [[nodiscard]] const std::string &seen() const { return m_seen; }
    [[nodiscard]] std::string rest() const { return m_seen.substr(m_position); }

private:
    bool readSome()
    {
        pollfd source{.fd = m_terminal, .events = POLLIN, .revents = 0};
        char buffer[4096];
        if (::poll(&source, 1, kPatienceMs) <= 0)
            return false;
        const ssize_t count = ::read(m_terminal, buffer, sizeof buffer);
        if (count <= 0) // EIO: the other side is closed
            return false;
        m_seen.append(buffer, static_cast<std::size_t>(count));
        return true;
    }

    int m_terminal = -1;
    pid_t m_process = -1;
    std::string m_seen;
    std::size_t m_position = 0;
};

/// Long enough to be interrupted: 60 passages.
QByteArray longText()
{
    QByteArray text;
    for (int paragraph = 0; paragraph < 60; ++paragraph)
        text += "Their going too the libary tommorow becuase they has to many book's to return.\n\n";
    return text;
}

/// The cursor is visible, lines break and no attribute is left on at the end of the output.
void verifySane(const TerminalRun &run)
{
    const std::string &seen = run.seen();
    const auto lastOf = [&seen](const char *text) {
        return seen.rfind(text) + 1;
    }; // 0 = never
    QVERIFY(lastOf("\x1b[?25h") > lastOf("\x1b[?25l"));
    QVERIFY(lastOf("\x1b[?7h") > lastOf("\x1b[?7l"));
    QVERIFY(lastOf("\x1b[?2026l") >= lastOf("\x1b[?2026h"));
    const std::size_t attribute = seen.rfind('m', seen.rfind("\x1b[?25h"));
    QVERIFY(attribute == std::string::npos || seen.compare(attribute - 3, 4, "\x1b[0m") == 0 ||
            seen[attribute - 1] != '[');
}

} // namespace

class TestProgramTerminal : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void liveViewOnATerminal();
    void controlCLeavesTheFile();
    void secondControlCLeavesAtOnce();
    void terminateIsOrderly();
    void resizingRepaints();
    void suspendGivesTheTerminalBack();
    void plainLines_data();
    void plainLines();

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_file;
};

void TestProgramTerminal::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QFile file(m_folder->filePath(QStringLiteral("text.txt")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(longText());
    m_file = file.fileName().toStdString();
}

void TestProgramTerminal::liveViewOnATerminal()
{
    TerminalRun run({"generate", "--steps", "6", "--seed", "1", "Make a list: apples, pears and bread"}, {});
    QVERIFY(run.waitFor("\x1b[?25l"));
    QVERIFY(!run.echoes());
    QVERIFY(run.waitFor("step "));
    QCOMPARE(run.finish(), 0);
    verifySane(run);
    QVERIFY2(run.rest().find("apples") != std::string::npos, run.rest().c_str());
    QVERIFY(run.rest().find("seed 1") != std::string::npos);
}

void TestProgramTerminal::controlCLeavesTheFile()
{
    TerminalRun run({"proofread", "--in-place", m_file}, {});
    QVERIFY(run.waitFor("step 2 of"));
    run.type("\x03");
    QCOMPARE(run.finish(), 130);
    verifySane(run);
    QVERIFY(run.rest().find("cancelled; nothing was written") != std::string::npos);
    QFile file(QString::fromStdString(m_file));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), longText());
    QCOMPARE(QDir(m_folder->path()).entryList(QDir::Files | QDir::Hidden).size(), 1);
}

void TestProgramTerminal::secondControlCLeavesAtOnce()
{
    TerminalRun run({"proofread", m_file}, {});
    QVERIFY(run.waitFor("step "));
    run.signal(SIGINT);
    run.signal(SIGINT);
    QCOMPARE(run.finish(), 130);
    verifySane(run);
}

void TestProgramTerminal::terminateIsOrderly()
{
    TerminalRun run({"proofread", m_file}, {});
    QVERIFY(run.waitFor("step "));
    run.signal(SIGTERM);
    QCOMPARE(run.finish(), 143);
    verifySane(run);
}

void TestProgramTerminal::resizingRepaints()
{
    TerminalRun run({"proofread", m_file}, {});
    QVERIFY(run.waitFor("step "));
    run.resize(40, 12);
    QVERIFY(run.waitFor("\x1b[J")); // the old frame is cleared as a whole
    QVERIFY(run.waitFor("0 of 60") || run.waitFor(" of 60"));
    run.resize(3, 2); // nothing useful fits any more, and nothing breaks
    run.resize(200, 50);
    QVERIFY(run.waitFor("step "));
    run.type("\x03");
    QCOMPARE(run.finish(), 130);
    verifySane(run);
}

void TestProgramTerminal::suspendGivesTheTerminalBack()
{
    TerminalRun run({"proofread", m_file}, {});
    QVERIFY(run.waitFor("step "));
    run.type("\x1a"); // Ctrl-Z
    QVERIFY(run.waitUntilStopped());
    QVERIFY(run.waitFor("\x1b[?25h"));
    run.signal(SIGCONT);
    QVERIFY(run.waitFor("\x1b[?25l"));
    QVERIFY(run.waitFor("step "));
    run.type("\x03");
    QCOMPARE(run.finish(), 130);
    verifySane(run);
}

void TestProgramTerminal::plainLines_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("value");
    QTest::newRow("NO_COLOR") << "NO_COLOR"
                              << "1";
    QTest::newRow("TERM=dumb") << "TERM"
                               << "dumb";
}

void TestProgramTerminal::plainLines()
{
    QFETCH(QString, name);
    QFETCH(QString, value);
    TerminalRun run({"generate", "--steps", "4", "Make a list: apples and bread"},
                    {{name.toStdString(), value.toStdString()}});
    QCOMPARE(run.finish(), 0);
    QVERIFY(run.seen().find("canvas 1") != std::string::npos);
    QVERIFY(run.seen().find('\x1b') == std::string::npos);
}

QTEST_GUILESS_MAIN(TestProgramTerminal)
#include "tst_program_terminal.moc"
