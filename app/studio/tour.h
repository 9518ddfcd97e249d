// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

class QSettings;

namespace palimpsest::studio {

/// The first start: a welcome that says what is there, and a tour of two minutes over a sample text, which can be left
/// at any moment and is offered once. The Help menu starts it again.
///
/// Settings: `tour/offered` (true once the welcome was answered). GUI thread.
class Tour : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(bool welcoming READ welcoming NOTIFY changed) ///< the welcome is to be shown
    Q_PROPERTY(bool running READ running NOTIFY changed)
    Q_PROPERTY(int step READ step NOTIFY changed) ///< from 1
    Q_PROPERTY(int steps READ steps CONSTANT)
    Q_PROPERTY(QString title READ title NOTIFY changed)
    Q_PROPERTY(QString text READ text NOTIFY changed)
    Q_PROPERTY(QString target READ target NOTIFY changed) ///< library, page, compose, inspector or header

public:
    /// `settings` is not owned; null: nobody is welcomed.
    explicit Tour(QSettings *settings, QObject *parent = nullptr);

    [[nodiscard]] bool welcoming() const noexcept { return m_welcoming; }
    [[nodiscard]] bool running() const noexcept { return m_step > 0; }
    [[nodiscard]] int step() const noexcept { return m_step; }
    [[nodiscard]] static int steps();
    [[nodiscard]] QString title() const;
    [[nodiscard]] QString text() const;
    [[nodiscard]] QString target() const;

    Q_INVOKABLE void start(); ///< asks for the sample text
    Q_INVOKABLE void next();  ///< after the last step it ends
    Q_INVOKABLE void back();
    Q_INVOKABLE void close(); ///< the welcome or the tour

    /// The letter that the tour shows things on.
    [[nodiscard]] static QString sampleText();
    [[nodiscard]] static QString sampleTitle();

Q_SIGNALS:
    void changed();
    void sampleWanted();

private:
    QSettings *m_settings;
    bool m_welcoming = false;
    int m_step = 0;
};

} // namespace palimpsest::studio
