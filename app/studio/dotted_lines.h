// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QColor>
#include <QPoint>

#include <map>
#include <span>
#include <vector>

class QQuickWindow;
class QSGNode;

namespace palimpsest::studio {

/// Dots of two pixels, all at one height.
struct DottedLine
{
    QPoint start; ///< the first pixel, left and top
    QColor color;
    std::vector<int> dots; ///< their left edges, counted from the start, ascending

    [[nodiscard]] int width() const { return dots.empty() ? 0 : dots.back() + kDotSize; }

    static constexpr int kDotSize = 2;
    friend bool operator==(const DottedLine &, const DottedLine &) = default;
};

/// Gathers dots into lines.
class DottedLines
{
public:
    /// A row of dots from `left` to `right`, `period` apart.
    void add(qreal left, qreal right, qreal top, qreal period, const QColor &color);
    [[nodiscard]] std::vector<DottedLine> take();

private:
    struct Row
    {
        QColor color;
        std::vector<int> dots;
    };
    std::map<int, Row> m_rows; ///< by their top
};

/// For QQuickItem::updatePaintNode: a node that draws the lines; `old` is reused. A line is one image: a canvas has
/// more than a thousand dots, and the software renderer takes 10 ms to find out which of so many nodes are to be drawn.
QSGNode *dottedLineNodes(QSGNode *old, QQuickWindow &window, std::span<const DottedLine> lines);

} // namespace palimpsest::studio
