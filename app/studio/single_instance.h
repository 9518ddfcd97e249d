// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QLocalServer>
#include <QObject>
#include <QString>
#include <QStringList>

namespace palimpsest::studio {

/// One studio for each store of drafts: a second start hands its files over and ends. GUI thread.
class SingleInstance : public QObject
{
    Q_OBJECT

public:
    /// `profile` names the store; two studios with different stores do not know each other.
    explicit SingleInstance(const QString &profile, QObject *parent = nullptr);

    /// Hands the files to the studio that runs already. False: there is none, and this one has taken its place (or, if
    /// the system does not allow that, runs alone).
    [[nodiscard]] bool handOver(const QStringList &files);

Q_SIGNALS:
    /// Another start wants these files shown (none: just the window).
    void asked(const QStringList &files);

private:
    void take();

    QString m_name;
    QLocalServer m_server;
};

} // namespace palimpsest::studio
