// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/step_chart_item.h"

#include "app/studio/rectangle_nodes.h"
#include "app/studio/theme.h"

#include <QQuickWindow>

#include <algorithm>
#include <cmath>
#include <vector>

namespace palimpsest::studio {

namespace {

constexpr qreal kDot = 8.0;
constexpr qreal kLine = 2.0;

} // namespace

StepChartItem::StepChartItem(QQuickItem *parent) : QQuickItem(parent)
{
    setFlag(ItemHasContents);
    connect(this, &StepChartItem::changed, this, &QQuickItem::update);
    connect(Theme::create(nullptr, nullptr), &Theme::changed, this, &QQuickItem::update);
}

void StepChartItem::geometryChange(const QRectF &current, const QRectF &old)
{
    QQuickItem::geometryChange(current, old);
    update();
}

QSGNode *StepChartItem::updatePaintNode(QSGNode *old, UpdatePaintNodeData *)
{
    const Theme &theme = *Theme::create(nullptr, nullptr);
    QColor faint = theme.accent();
    faint.setAlphaF(0.55F);
    double peak = 1.0;
    for (const QVariant &value : std::as_const(m_values))
        peak = std::max(peak, value.toDouble());
    const qreal slot = width() / std::max({1, m_slots, static_cast<int>(m_values.size())});
    const qreal ground = std::floor(height()) - 1.0;
    std::vector<ColoredRect> rects{{QRectF(0, ground, std::floor(width()), 1), theme.line()}};
    for (int i = 0; i < m_values.size(); ++i) {
        const bool isCurrent = i + 1 == m_current;
        const qreal left = std::round(i * slot);
        const double share = m_values[i].toDouble() / peak;
        if (m_shape == Shape::Bars) {
            const qreal tall = std::max<qreal>(1.0, std::round((ground - 1.0) * share));
            rects.push_back({QRectF(left, ground - tall, std::max<qreal>(2.0, std::floor(slot) - 2.0), tall),
                             isCurrent ? theme.accent() : faint});
            continue;
        }
        const qreal level = std::round((ground - kDot) * (1.0 - share)) + kDot / 2.0;
        rects.push_back(
            {QRectF(left, level - kLine / 2.0, std::max<qreal>(2.0, std::ceil(slot)), kLine), theme.accent()});
        if (isCurrent)
            rects.push_back(
                {QRectF(std::round(left + slot / 2.0 - kDot / 2.0), level - kDot / 2.0, kDot, kDot), theme.accent()});
    }
    return rectangleNodes(old, *window(), rects);
}

} // namespace palimpsest::studio
