// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What InspectorView says in words and figures.

#include "app/studio/inspector_view.h"

#include <QLocale>

#include <algorithm>

namespace palimpsest::studio {

using editing::CanvasCurve;

namespace {

QString dash()
{
    return QStringLiteral("–");
}

} // namespace

QString InspectorView::countsText() const
{
    if (!m_frame)
        return dash();
    QString text = tr("%n settled", nullptr, m_frame->settled);
    if (m_frame->held > 0)
        text += tr(" · %n locked", nullptr, m_frame->held);
    return text;
}

QString InspectorView::entropyText() const
{
    return m_frame ? tr("%1 nats").arg(QLocale().toString(m_frame->meanEntropy, 'f', 2)) : dash();
}

QString InspectorView::acceptedText() const
{
    return m_frame ? QStringLiteral("+%1").arg(m_frame->accepted - m_frame->settled) : dash();
}

QString InspectorView::stopText() const
{
    const CanvasCurve *shown = curve(m_canvas);
    if (shown == nullptr || !shown->stop)
        return {};
    switch (*shown->stop) {
    case CanvasStop::Converged:
        return tr("Settled after %1 of %2 steps").arg(shown->steps).arg(shown->maxSteps);
    case CanvasStop::StepCap:
        return tr("Stopped at the cap (%1)").arg(shown->steps);
    case CanvasStop::Cancelled:
        return tr("Stopped by you after %n step(s)", nullptr, shown->steps);
    }
    return {};
}

QVariantList InspectorView::entropyCurve() const
{
    QVariantList list;
    if (const CanvasCurve *shown = curve(m_canvas)) {
        for (const float nats : shown->meanEntropy)
            list << static_cast<double>(nats);
    }
    return list;
}

QVariantList InspectorView::acceptedCurve() const
{
    QVariantList list;
    if (const CanvasCurve *shown = curve(m_canvas)) {
        for (const int accepted : shown->accepted)
            list << accepted;
    }
    return list;
}

QString InspectorView::frameText() const
{
    return m_frame ? m_frame->shownText() : QString();
}

QVariantList InspectorView::figures() const
{
    const auto present = info();
    const auto row = [](const QString &label, const QString &value) {
        return QVariantMap{{QStringLiteral("label"), label}, {QStringLiteral("value"), value}};
    };
    const QLocale locale;
    const auto rate = [&](const std::optional<double> &value) {
        return value ? locale.toString(*value, 'f', *value < 10.0 ? 1 : 0) : dash();
    };
    const auto ahead = present ? std::optional(present->ahead) : std::nullopt;
    const QVariantMap seen =
        row(tr("Seen behind the place"),
            !ahead              ? dash()
            : ahead->total == 0 ? tr("nothing there")
            : ahead->characters >= ahead->total
                ? tr("all")
                : tr("%1 of %2 characters").arg(locale.toString(ahead->characters), locale.toString(ahead->total)));
    if (!present || !present->figures)
        return {row(tr("Words a second"), dash()), row(tr("Tokens a second"), dash()),
                row(tr("Steps a canvas"), dash()), row(tr("ms a step"), dash()),
                row(tr("First draft"), dash()),    seen};
    const editing::RunFigures &figures = *present->figures;
    const double perCanvas =
        figures.canvases > 0 ? static_cast<double>(figures.steps) / static_cast<double>(figures.canvases) : 0.0;
    return {row(tr("Words a second"), rate(figures.wordsPerSecond)),
            row(tr("Tokens a second"), rate(figures.tokensPerSecond)),
            row(tr("Steps a canvas"), figures.canvases > 0 ? locale.toString(perCanvas, 'f', 1) : dash()),
            row(tr("ms a step"), figures.steps > 0 ? locale.toString(figures.stepMs, 'f', 1) : dash()),
            row(tr("First draft"), tr("%1 s").arg(locale.toString(figures.firstDraftMs / 1000.0, 'f', 2))),
            seen};
}

QString InspectorView::seedText() const
{
    const auto present = info();
    return present ? QString::number(present->seed) : dash();
}

} // namespace palimpsest::studio
