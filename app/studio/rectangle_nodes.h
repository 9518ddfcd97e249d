// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QColor>
#include <QRectF>

#include <span>

class QQuickWindow;
class QSGNode;

namespace palimpsest::studio {

struct ColoredRect
{
    QRectF rect;
    QColor color;

    friend bool operator==(const ColoredRect &, const ColoredRect &) = default;
};

/// For QQuickItem::updatePaintNode: a node that draws the rectangles in their order; `old` is reused, with those of
/// its children that stay where they are. Rectangle nodes are what both the software renderer and OpenGL draw.
QSGNode *rectangleNodes(QSGNode *old, QQuickWindow &window, std::span<const ColoredRect> rects);

} // namespace palimpsest::studio
