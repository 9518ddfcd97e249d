// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "app/studio/post_box.h"

#include <QObject>
#include <QString>
#include <QVariantList>
#include <QtQml/qqmlregistration.h>

namespace palimpsest::studio {

/// The model of this process as the window shows it: what it is, where it runs, how far it is loaded, why not.
class ModelView : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(Phase phase READ phase NOTIFY changed)
    Q_PROPERTY(double progress READ progress NOTIFY changed) ///< 0 to 1, while loading
    Q_PROPERTY(QString name READ name NOTIFY changed)
    Q_PROPERTY(QString device READ device NOTIFY changed)     ///< "CPU, 2 threads, AVX-512"
    Q_PROPERTY(QString chipText READ chipText NOTIFY changed) ///< "palimpsest-demo · CPU"
    Q_PROPERTY(QString problemText READ problemText NOTIFY changed)
    Q_PROPERTY(QVariantList facts READ facts NOTIFY changed)      ///< [{label, value}]
    Q_PROPERTY(int canvasLength READ canvasLength NOTIFY changed) ///< 256 before it is known
    Q_PROPERTY(bool demo READ demo NOTIFY changed)                ///< the model that ships with Palimpsest
    Q_PROPERTY(QString demoText READ demoText CONSTANT)           ///< what that one is and can do

public:
    enum class Phase { Loading, Ready, Failed };
    Q_ENUM(Phase)

    explicit ModelView(EngineHost &host, QObject *parent = nullptr);

    [[nodiscard]] Phase phase() const;
    [[nodiscard]] double progress() const { return m_state.progress; }
    [[nodiscard]] QString name() const;
    [[nodiscard]] QString device() const;
    [[nodiscard]] QString chipText() const;
    [[nodiscard]] QString problemText() const;
    [[nodiscard]] QVariantList facts() const;
    [[nodiscard]] bool demo() const;
    [[nodiscard]] static QString demoText();
    [[nodiscard]] int canvasLength() const
    {
        return m_state.model ? static_cast<int>(m_state.model->config.canvasLength) : 256;
    }

    Q_INVOKABLE void reload();

Q_SIGNALS:
    void changed();

private:
    EngineHost &m_host;
    EngineState m_state;
    PostBox m_box;
    EngineHost::Subscription m_subscription;
};

} // namespace palimpsest::studio
