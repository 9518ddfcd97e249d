// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft_session.h"
#include "app/editing/run_wish.h"
#include "app/engine_host.h"

#include <QObject>
#include <QPointer>
#include <QtQml/qqmlregistration.h>

namespace palimpsest::studio {

/// The sampler settings of the open draft: its own where it has some, else the model's. GUI thread.
class SamplerView : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(int maxSteps READ maxSteps WRITE setMaxSteps NOTIFY settingsChanged)
    Q_PROPERTY(double entropyBound READ entropyBound WRITE setEntropyBound NOTIFY settingsChanged)
    Q_PROPERTY(double tMin READ tMin WRITE setTMin NOTIFY settingsChanged)
    Q_PROPERTY(double tMax READ tMax WRITE setTMax NOTIFY settingsChanged)
    Q_PROPERTY(bool changed READ changed NOTIFY settingsChanged) ///< differs from the model's own

public:
    explicit SamplerView(EngineHost &engine, QObject *parent = nullptr);
    void setSession(editing::DraftSession *session);

    [[nodiscard]] int maxSteps() const { return settings().maxDenoisingSteps; }
    [[nodiscard]] double entropyBound() const { return settings().entropyBoundNats; }
    [[nodiscard]] double tMin() const { return settings().tMin; }
    [[nodiscard]] double tMax() const { return settings().tMax; }
    [[nodiscard]] bool changed() const;
    void setMaxSteps(int steps);
    void setEntropyBound(double nats);
    void setTMin(double temperature);
    void setTMax(double temperature);
    Q_INVOKABLE void reset();

    void modelChanged() { Q_EMIT settingsChanged(); }

Q_SIGNALS:
    void settingsChanged();
    void problem(const QString &message);

private:
    [[nodiscard]] SamplerSettings settings() const;
    void set(const QString &field, const QJsonValue &value);

    EngineHost &m_engine;
    QPointer<editing::DraftSession> m_session;
};

} // namespace palimpsest::studio
