// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/packaging/deploy_bench.h"

#include <QDeadlineTimer>
#include <QFile>
#include <QTcpServer>
#include <QTcpSocket>
#include <QThread>

#include <csignal>
#include <stdexcept>
#include <sys/prctl.h>

namespace palimpsest::test {

namespace {

constexpr int kEndMs = 10'000;
constexpr int kStartMs = 60'000;

QByteArray readFile(const QString &path)
{
    QFile file(path);
    if (!file.open(QFile::ReadOnly))
        throw std::runtime_error("cannot read " + path.toStdString());
    return file.readAll();
}

} // namespace

Daemon::Daemon(const QString &program, const QStringList &arguments, const QProcessEnvironment &environment)
{
    m_process.setProcessChannelMode(QProcess::ForwardedChannels);
    m_process.setProcessEnvironment(environment);
    m_process.setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGTERM); }); // also when the test is killed
    m_process.start(program, arguments);
    if (!m_process.waitForStarted(kStartMs))
        throw std::runtime_error("cannot start " + program.toStdString() + "; see packaging/setup/packages-test.txt");
}

Daemon::~Daemon()
{
    m_process.terminate();
    if (!m_process.waitForFinished(kEndMs))
        kill9();
}

void Daemon::kill9()
{
    m_process.kill();
    m_process.waitForFinished(kEndMs);
}

std::uint16_t freePort()
{
    QTcpServer server;
    if (!server.listen(QHostAddress::LocalHost, 0))
        throw std::runtime_error("no free port");
    return server.serverPort();
}

bool waitForPort(std::uint16_t port)
{
    const QDeadlineTimer deadline(kStartMs);
    while (!deadline.hasExpired()) {
        QTcpSocket socket;
        socket.connectToHost(QHostAddress::LocalHost, port);
        if (socket.waitForConnected(kStartMs))
            return true;
        QThread::msleep(20); // refused: the next look
    }
    return false;
}

DeployFolder::DeployFolder()
{
    const QStringList arguments{QStringLiteral("req"),
                                QStringLiteral("-x509"),
                                QStringLiteral("-newkey"),
                                QStringLiteral("ec"),
                                QStringLiteral("-pkeyopt"),
                                QStringLiteral("ec_paramgen_curve:prime256v1"),
                                QStringLiteral("-nodes"),
                                QStringLiteral("-days"),
                                QStringLiteral("2"),
                                QStringLiteral("-subj"),
                                QStringLiteral("/CN=127.0.0.1"),
                                QStringLiteral("-keyout"),
                                path(QStringLiteral("key.pem")),
                                QStringLiteral("-out"),
                                path(QStringLiteral("certificate.pem"))};
    QProcess openssl;
    openssl.start(QStringLiteral("openssl"), arguments);
    if (!openssl.waitForFinished(kStartMs) || openssl.exitCode() != 0)
        throw std::runtime_error("openssl cannot make a certificate");
    (void)write(QStringLiteral("both.pem"),
                readFile(path(QStringLiteral("certificate.pem"))) + readFile(path(QStringLiteral("key.pem"))));
}

QString DeployFolder::write(const QString &name, const QByteArray &contents) const
{
    QFile file(path(name));
    if (!file.open(QFile::WriteOnly) || file.write(contents) != contents.size())
        throw std::runtime_error("cannot write " + name.toStdString());
    return file.fileName();
}

QString DeployFolder::makeFromExample(const QString &name, const Replacements &replacements) const
{
    QByteArray text = readFile(QStringLiteral(PALIMPSEST_SOURCE_DIR "/packaging/deploy/") + name);
    for (const auto &[from, to] : replacements) {
        if (!text.contains(from))
            throw std::runtime_error(name.toStdString() + " does not hold: " + from.toStdString());
        text.replace(from, to);
    }
    return write(name, text);
}

QProcessEnvironment DeployFolder::environment() const
{
    QProcessEnvironment environment;
    environment.insert(QStringLiteral("PATH"), QStringLiteral("/usr/sbin:/usr/bin:/sbin:/bin"));
    environment.insert(QStringLiteral("HOME"), m_folder.path());
    environment.insert(QStringLiteral("LC_ALL"), QStringLiteral("C.UTF-8"));
    for (const char *name : {"TSAN_OPTIONS", "ASAN_OPTIONS", "OMP_WAIT_POLICY"}) {
        if (qEnvironmentVariableIsSet(name))
            environment.insert(QString::fromLatin1(name), qEnvironmentVariable(name));
    }
    return environment;
}

} // namespace palimpsest::test
