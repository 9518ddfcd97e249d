// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <cstdint>
#include <utility>
#include <vector>

namespace palimpsest::test {

/// A program that goes on until the test is over; ended by its process id, in order first, then by force.
class Daemon
{
public:
    Daemon(const QString &program, const QStringList &arguments, const QProcessEnvironment &environment);
    ~Daemon();
    Daemon(const Daemon &) = delete;
    Daemon &operator=(const Daemon &) = delete;

    void kill9(); ///< at once, as by a lack of memory
    [[nodiscard]] qint64 processId() const { return m_process.processId(); }
    [[nodiscard]] bool isRunning() const { return m_process.state() == QProcess::Running; }

private:
    QProcess m_process;
};

/// A port of loopback that nothing listens on at the moment.
[[nodiscard]] std::uint16_t freePort();
/// Waits until something accepts connections there; false after a minute.
[[nodiscard]] bool waitForPort(std::uint16_t port);

/// Texts to be replaced in an example, each of which must be there.
using Replacements = std::vector<std::pair<QByteArray, QByteArray>>;

/// A folder with a certificate, configurations made from the examples in packaging/deploy, and the programs' data.
class DeployFolder
{
public:
    DeployFolder();

    [[nodiscard]] QString path(const QString &name) const { return m_folder.filePath(name); }
    /// Reads packaging/deploy/NAME, replaces, writes it here under the same name; returns its path.
    [[nodiscard]] QString makeFromExample(const QString &name, const Replacements &replacements) const;
    [[nodiscard]] QString write(const QString &name, const QByteArray &contents) const;
    /// Nothing of the person who tests: no home, no settings, no key.
    [[nodiscard]] QProcessEnvironment environment() const;

private:
    QTemporaryDir m_folder;
};

} // namespace palimpsest::test
