// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/program_runner.h"

#include <QProcess>
#include <QProcessEnvironment>

namespace palimpsest::test {

namespace {

/// Sanitizer builds on a busy machine are slow; this only ends a program that hangs.
constexpr int kPatienceMs = 300'000;

} // namespace

QString programPath()
{
    return QStringLiteral(PALIMPSEST_BINARY_DIR "/bin/palimpsest");
}

ProgramRun runProgram(const QStringList &arguments, const QByteArray &input,
                      const std::map<QString, QString> &environment)
{
    QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
    for (const char *name :
         {"PALIMPSEST_MODEL", "NO_COLOR", "COLORTERM", "COLORFGBG", "DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        variables.remove(QString::fromLatin1(name));
    variables.insert(QStringLiteral("XDG_CONFIG_HOME"), QStringLiteral("/nonexistent"));
    for (const auto &[name, value] : environment)
        variables.insert(name, value);
    QProcess program;
    program.setProcessEnvironment(variables);
    program.start(programPath(), arguments);
    program.write(input);
    program.closeWriteChannel();
    ProgramRun run;
    if (program.waitForFinished(kPatienceMs) && program.exitStatus() == QProcess::NormalExit)
        run.exitCode = program.exitCode();
    run.output = program.readAllStandardOutput();
    run.error = program.readAllStandardError();
    return run;
}

} // namespace palimpsest::test
