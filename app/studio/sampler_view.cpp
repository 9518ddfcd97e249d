// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/sampler_view.h"

#include <QJsonObject>

namespace palimpsest::studio {

SamplerView::SamplerView(EngineHost &engine, QObject *parent) : QObject(parent), m_engine(engine) {}

void SamplerView::setSession(editing::DraftSession *session)
{
    if (m_session)
        m_session->disconnect(this);
    m_session = session;
    if (m_session)
        connect(m_session, &editing::DraftSession::settingsChanged, this, &SamplerView::settingsChanged);
    Q_EMIT settingsChanged();
}

SamplerSettings SamplerView::settings() const
{
    const auto model = m_engine.model();
    const GenerationDefaults defaults = model ? model->defaults : GenerationDefaults{};
    if (!m_session)
        return editing::SamplerWish{}.resolved(defaults);
    return editing::SamplerWish::fromJson(m_session->settings()[u"sampler"].toObject()).resolved(defaults);
}

bool SamplerView::changed() const
{
    return m_session && !m_session->settings()[u"sampler"].toObject().isEmpty();
}

void SamplerView::set(const QString &field, const QJsonValue &value)
{
    if (!m_session)
        return;
    QJsonObject sampler = m_session->settings()[u"sampler"].toObject();
    if (sampler[field] == value)
        return;
    sampler[field] = value;
    try {
        m_session->mergeSettings({{QStringLiteral("sampler"), sampler}});
    } catch (const Error &error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
}

void SamplerView::setMaxSteps(int steps)
{
    set(QStringLiteral("maxSteps"), steps);
}

void SamplerView::setEntropyBound(double nats)
{
    set(QStringLiteral("entropyBound"), nats);
}

void SamplerView::setTMin(double temperature)
{
    set(QStringLiteral("tMin"), temperature);
}

void SamplerView::setTMax(double temperature)
{
    set(QStringLiteral("tMax"), temperature);
}

void SamplerView::reset()
{
    if (m_session)
        m_session->mergeSettings({{QStringLiteral("sampler"), QJsonValue::Null}});
}

} // namespace palimpsest::studio
