// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QStringList>

#include <map>

namespace palimpsest::test {

struct ProgramRun
{
    int exitCode = -1; ///< -1: crashed, or did not end
    QByteArray output;
    QByteArray error;
};

/// Runs the built program with pipes and a clean environment (no settings, no model of the person who tests).
[[nodiscard]] ProgramRun runProgram(const QStringList &arguments, const QByteArray &input = {},
                                    const std::map<QString, QString> &environment = {});

[[nodiscard]] QString programPath();

} // namespace palimpsest::test
