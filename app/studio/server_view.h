// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

namespace palimpsest::studio {

/// The local endpoint and the browser studio as the window shows them. GUI thread; the server runs on its own.
class ServerView : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(bool running READ running NOTIFY changed)
    Q_PROPERTY(QString chipText READ chipText NOTIFY changed)

public:
    explicit ServerView(QObject *parent = nullptr) : QObject(parent) {}

    [[nodiscard]] bool running() const { return false; }
    [[nodiscard]] QString chipText() const { return tr("API off"); }

Q_SIGNALS:
    void changed();
};

} // namespace palimpsest::studio
