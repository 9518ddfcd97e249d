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

/// A line between two points, of upright bars: the software renderer knows nothing but rectangles.
void addLine(std::vector<ColoredRect> &rects, QPointF from, QPointF to, const QColor &color)
{
    const auto levelAt = [&](qreal x) {
        return std::round(from.y() + (to.y() - from.y()) * (x - from.x()) / (to.x() - from.x()));
    };
    for (qreal left = from.x(); left < to.x();) {
        const qreal level = levelAt(left);
        qreal right = left + 1.0;
        while (right < to.x() && levelAt(right) == level) // NOLINT: whole numbers
            right += 1.0;
        const qreal next = levelAt(std::min(right, to.x()));
        const qreal top = std::min(level, next);
        rects.push_back({QRectF(left, top - kLine / 2.0, right - left, std::max(level, next) - top + kLine), color});
        left = right;
    }
}

void addDot(std::vector<ColoredRect> &rects, QPointF middle, const QColor &color)
{
    for (const qreal inset : {0.0, 1.0, 2.0}) { // a round one, of three
        const qreal height = kDot / 2.0 + 2.0 * inset;
        const qreal width = kDot - 2.0 * inset;
        rects.push_back({QRectF(middle.x() - width / 2.0, middle.y() - height / 2.0, width, height), color});
    }
}

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
    QPointF before;
    for (int i = 0; i < m_values.size(); ++i) {
        const bool isCurrent = i + 1 == m_current;
        const double share = m_values[i].toDouble() / peak;
        if (m_shape == Shape::Bars) {
            const qreal tall = std::max<qreal>(1.0, std::round((ground - 1.0) * share));
            rects.push_back(
                {QRectF(std::round(i * slot), ground - tall, std::max<qreal>(2.0, std::floor(slot) - 2.0), tall),
                 isCurrent ? theme.accent() : faint});
            continue;
        }
        const QPointF point(std::round((i + 0.5) * slot), std::round((ground - kDot) * (1.0 - share)) + kDot / 2.0);
        if (i > 0)
            addLine(rects, before, point, theme.accent());
        if (isCurrent)
            addDot(rects, point, theme.accent());
        before = point;
    }
    return rectangleNodes(old, *window(), rects);
}

} // namespace palimpsest::studio
