// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/model_view.h"

#include "app/model_lookup.h"
#include "app/studio/model_check.h"

#include <QLocale>

namespace palimpsest::studio {

ModelView::ModelView(EngineHost &host, QObject *parent) : QObject(parent), m_host(host)
{
    // The host calls on its own thread; the newest state is asked for on this one, so none arrives out of order.
    m_subscription = host.observe([this, post = m_box.sender()](const EngineState &) {
        post([this] {
            m_state = m_host.state();
            Q_EMIT changed();
        });
    });
    m_state = host.state();
}

ModelView::Phase ModelView::phase() const
{
    switch (m_state.phase) {
    case EngineState::Phase::Loading:
        return Phase::Loading;
    case EngineState::Phase::Ready:
        return Phase::Ready;
    case EngineState::Phase::Failed:
        break;
    }
    return Phase::Failed;
}

QString ModelView::name() const
{
    return m_state.model ? QString::fromStdString(m_state.model->id) : QString();
}

QString ModelView::device() const
{
    return m_state.model ? QString::fromStdString(m_state.model->backend.deviceName) : QString();
}

QString ModelView::chipText() const
{
    switch (phase()) {
    case Phase::Loading:
        return tr("Loading the model, %1 %").arg(qRound(m_state.progress * 100.0));
    case Phase::Failed:
        return tr("No model");
    case Phase::Ready:
        break;
    }
    const QString kind = QString::fromStdString(m_state.model->backend.kind).toUpper();
    return QStringLiteral("%1 · %2").arg(name(), kind);
}

QString ModelView::problemText() const
{
    return m_state.error ? QString::fromUtf8(m_state.error->what()) : QString();
}

QVariantList ModelView::facts() const
{
    if (!m_state.model)
        return {};
    const QLocale locale;
    const auto row = [](const QString &label, const QString &value) {
        return QVariantMap{{QStringLiteral("label"), label}, {QStringLiteral("value"), value}};
    };
    const RunningModel &model = *m_state.model;
    QVariantList list{row(tr("Model"), name()),
                      row(tr("Device"), device()),
                      row(tr("Memory of the weights"), locale.formattedDataSize(model.backend.weightBytes)),
                      row(tr("Context"), tr("%1 tokens").arg(locale.toString(qlonglong(model.contextLength)))),
                      row(tr("Canvas"), tr("%1 tokens").arg(locale.toString(qlonglong(model.config.canvasLength)))),
                      row(tr("Vocabulary"), locale.toString(qlonglong(model.config.vocabSize)))};
    if (const auto free = freeMemoryBytes(); free && model.backend.kind == "cpu")
        list.insert(3, row(tr("Memory still free"), locale.formattedDataSize(*free, 1)));
    return list;
}

bool ModelView::demo() const
{
    return m_state.model && m_state.model->directory == bundledModelDirectory();
}

QString ModelView::demoText()
{
    return tr(
        "A small model came with Palimpsest and works at once, without a graphics card. It corrects the spelling and "
        "grammar of short English passages: about seven of ten mistakes, with two or three slips in a hundred words, "
        "so read what it changes. It knows nothing of the world and is no writer. Choose a larger model for that.");
}

void ModelView::reload()
{
    m_host.reload();
}

} // namespace palimpsest::studio
