// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QQuickItem>
#include <QVariantList>
#include <QtQml/qqmlregistration.h>

namespace palimpsest::studio {

/// One figure for each step of a canvas, as bars or as a curve of short levels; the step that is looked at stands out.
/// Rectangles on whole pixels, which every renderer draws, and no item for each of them: it changes ten times a second.
class StepChartItem : public QQuickItem
{
    Q_OBJECT
    QML_ELEMENT

    Q_PROPERTY(QVariantList values MEMBER m_values NOTIFY changed REQUIRED)
    Q_PROPERTY(int slots MEMBER m_slots NOTIFY changed REQUIRED) ///< steps that there may be
    Q_PROPERTY(int current MEMBER m_current NOTIFY changed)      ///< the step that is looked at, from 1
    Q_PROPERTY(Shape shape MEMBER m_shape NOTIFY changed REQUIRED)

public:
    enum class Shape { Bars, Curve };
    Q_ENUM(Shape)

    explicit StepChartItem(QQuickItem *parent = nullptr);

Q_SIGNALS:
    void changed();

protected:
    QSGNode *updatePaintNode(QSGNode *old, UpdatePaintNodeData *data) override;
    void geometryChange(const QRectF &current, const QRectF &old) override;

private:
    QVariantList m_values;
    int m_slots = 1;
    int m_current = 0;
    Shape m_shape = Shape::Bars;
};

} // namespace palimpsest::studio
