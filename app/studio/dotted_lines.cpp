// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/dotted_lines.h"

#include <QImage>
#include <QQuickWindow>
#include <QSGImageNode>
#include <QSGNode>
#include <QSGTexture>

#include <algorithm>
#include <cmath>
#include <utility>

namespace palimpsest::studio {

namespace {

/// The root remembers what its children show.
class Lines : public QSGTransformNode
{
public:
    std::vector<DottedLine> shown;
};

QImage imageOf(const DottedLine &line)
{
    QImage image(line.width(), DottedLine::kDotSize, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    const QRgb ink = qPremultiply(line.color.rgba());
    for (int y = 0; y < DottedLine::kDotSize; ++y) {
        auto *pixels = reinterpret_cast<QRgb *>(image.scanLine(y));
        for (const int dot : line.dots)
            std::fill_n(pixels + dot, DottedLine::kDotSize, ink);
    }
    return image;
}

} // namespace

void DottedLines::add(qreal left, qreal right, qreal top, qreal period, const QColor &color)
{
    Row &row = m_rows[static_cast<int>(std::floor(top))];
    row.color = color;
    for (qreal x = left; x + DottedLine::kDotSize <= right; x += period)
        row.dots.push_back(static_cast<int>(std::floor(x)));
}

std::vector<DottedLine> DottedLines::take()
{
    std::vector<DottedLine> lines;
    for (auto &[top, row] : m_rows) {
        if (row.dots.empty()) // of a letter that is narrower than a dot
            continue;
        std::sort(row.dots.begin(), row.dots.end()); // where directions mix, marks come in the order of reading
        const int left = row.dots.front();
        for (int &dot : row.dots)
            dot -= left;
        lines.push_back({QPoint(left, top), row.color, std::move(row.dots)});
    }
    m_rows.clear();
    return lines;
}

QSGNode *dottedLineNodes(QSGNode *old, QQuickWindow &window, std::span<const DottedLine> lines)
{
    auto *root = old != nullptr ? static_cast<Lines *>(old) : new Lines;
    QSGNode *next = root->firstChild();
    for (std::size_t i = 0; i < lines.size(); ++i) {
        QSGNode *replaced = next;
        if (replaced != nullptr) {
            next = replaced->nextSibling();
            if (root->shown[i] == lines[i])
                continue;
        }
        QSGImageNode *node = window.createImageNode(); // not moved, see rectangleNodes()
        node->setFiltering(QSGTexture::Nearest);
        node->setOwnsTexture(true);
        node->setTexture(window.createTextureFromImage(imageOf(lines[i]), QQuickWindow::TextureHasAlphaChannel));
        node->setRect(QRectF(lines[i].start, QSizeF(lines[i].width(), DottedLine::kDotSize)));
        // With its texture: the software renderer looks at it at once.
        if (replaced == nullptr) {
            root->appendChildNode(node);
        } else {
            root->insertChildNodeBefore(node, replaced);
            root->removeChildNode(replaced);
            delete replaced;
        }
    }
    while (next != nullptr) {
        QSGNode *gone = std::exchange(next, next->nextSibling());
        root->removeChildNode(gone);
        delete gone;
    }
    root->shown.assign(lines.begin(), lines.end());
    return root;
}

} // namespace palimpsest::studio
