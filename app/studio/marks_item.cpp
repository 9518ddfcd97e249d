// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/marks_item.h"

#include "app/studio/theme.h"

#include <QAbstractTextDocumentLayout>
#include <QGlyphRun>
#include <QQuickWindow>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace palimpsest::studio {

namespace {

constexpr qreal kBarWidth = 3.0;
constexpr qreal kBarDistance = 16.0; // between the bar and the letters

/// On whole pixels: neighbours would show hairlines between them else.
QRectF snapped(const QRectF &rect)
{
    const qreal left = std::floor(rect.left());
    const qreal top = std::floor(rect.top());
    return {left, top, std::max<qreal>(1.0, std::ceil(rect.right()) - left),
            std::max<qreal>(1.0, std::ceil(rect.bottom()) - top)};
}

/// Whether letters of a text may stand from right to left.
bool goesBothWays(QStringView text)
{
    return std::any_of(text.begin(), text.end(), [](QChar c) {
        const QChar::Direction direction = c.direction();
        return direction == QChar::DirR || direction == QChar::DirAL || direction == QChar::DirAN;
    });
}

/// The stretches of a line that letters [from, to) cover, which are several where directions mix.
std::vector<std::pair<qreal, qreal>> stretches(const QTextLine &line, int from, int to, bool bothWays)
{
    if (!bothWays)
        return {{line.cursorToX(from), line.cursorToX(to)}};
    std::vector<std::pair<qreal, qreal>> found;
    const QList<QGlyphRun> runs = line.glyphRuns(from, to - from); // cursors are of no use where directions meet
    for (const QGlyphRun &run : runs)
        found.emplace_back(run.boundingRect().left(), run.boundingRect().right());
    std::sort(found.begin(), found.end());
    std::vector<std::pair<qreal, qreal>> joined;
    for (const auto &[left, right] : found) {
        if (!joined.empty() && left <= joined.back().second + 0.5)
            joined.back().second = std::max(joined.back().second, right);
        else
            joined.emplace_back(left, right);
    }
    return joined;
}

} // namespace

std::vector<QRectF> lineRects(const QTextDocument &document, editing::TextSpan span)
{
    std::vector<QRectF> rects;
    const QAbstractTextDocumentLayout *layout = document.documentLayout();
    for (QTextBlock block = document.findBlock(static_cast<int>(span.start));
         block.isValid() && block.position() < span.end; block = block.next()) {
        const QTextLayout *blockLayout = block.layout();
        const QPointF origin = layout->blockBoundingRect(block).topLeft();
        const bool bothWays = goesBothWays(block.text());
        const qsizetype begin = std::max<qsizetype>(0, span.start - block.position());
        const qsizetype end = std::min<qsizetype>(block.length() - 1, span.end - block.position());
        for (int i = 0; i < blockLayout->lineCount(); ++i) {
            const QTextLine line = blockLayout->lineAt(i);
            const auto from = static_cast<int>(std::max<qsizetype>(begin, line.textStart()));
            const auto to = static_cast<int>(std::min<qsizetype>(end, line.textStart() + line.textLength()));
            if (from >= to)
                continue;
            for (const auto &[left, right] : stretches(line, from, to, bothWays))
                rects.push_back(
                    QRectF(left, line.y() + line.leading(), right - left, line.height()).translated(origin));
        }
    }
    return rects;
}

MarksItem::MarksItem(QQuickItem *parent) : QQuickItem(parent)
{
    setFlag(ItemHasContents);
}

void MarksItem::setPage(PageText *page)
{
    if (m_page == page)
        return;
    if (m_page)
        m_page->disconnect(this);
    m_page = page;
    if (m_page)
        connect(m_page, &PageText::marksChanged, this, &QQuickItem::polish);
    polish();
    Q_EMIT pageChanged();
}

void MarksItem::setPlane(Plane plane)
{
    if (m_plane == plane)
        return;
    m_plane = plane;
    polish();
    Q_EMIT planeChanged();
}

void MarksItem::updatePolish()
{
    // Polishing comes after everything that moved in this frame, so the document's layout is the one that is painted.
    m_boxes.clear();
    if (m_page && m_page->document() != nullptr) {
        for (const PageMark &mark : m_page->marks())
            addMark(mark);
    }
    update();
}

void MarksItem::addMark(const PageMark &mark)
{
    const bool inFront = mark.kind == PageMark::Kind::Removed;
    if (inFront != (m_plane == Plane::InFront))
        return;
    const Theme &theme = *Theme::create(nullptr, nullptr);
    const std::vector<QRectF> rects = lineRects(*m_page->document(), mark.shown);
    if (mark.kind == PageMark::Kind::Running && !rects.empty()) {
        const QRectF bar(-kBarDistance - kBarWidth, rects.front().top(), kBarWidth,
                         rects.back().bottom() - rects.front().top());
        addBox(bar, theme.accent());
        return;
    }
    for (const QRectF &rect : rects) {
        const QRectF below(rect.left(), rect.bottom() - 2.0, rect.width(), 2.0);
        switch (mark.kind) {
        case PageMark::Kind::Entropy:
            addBox(rect, theme.entropyColor(mark.level));
            addDots(below, theme.ink(), mark.level);
            break;
        case PageMark::Kind::Accepted:
            addBox(below, theme.accent());
            break;
        case PageMark::Kind::Locked:
            addBox(below, theme.ink());
            break;
        case PageMark::Kind::Inserted:
            addBox(rect, theme.accentSoft());
            break;
        case PageMark::Kind::Current:
            addBox(below, theme.accent());
            break;
        case PageMark::Kind::Found:
            addBox(rect, theme.amberSoft());
            break;
        case PageMark::Kind::Removed:
            addBox({rect.left(), rect.center().y() + 1.0, rect.width(), 1.0}, theme.rust());
            break;
        case PageMark::Kind::Running:
            break;
        }
    }
}

void MarksItem::addBox(const QRectF &rect, const QColor &color)
{
    m_boxes.push_back({snapped(rect), color});
}

void MarksItem::addDots(const QRectF &line, const QColor &color, int level)
{
    // The less sure, the denser: a pattern that tells the levels apart without colour.
    const qreal period = 12.0 - 1.6 * level;
    for (qreal x = line.left(); x + 2.0 <= line.right(); x += period)
        addBox({x, line.top(), 2.0, 2.0}, color);
}

QSGNode *MarksItem::updatePaintNode(QSGNode *old, UpdatePaintNodeData *)
{
    return rectangleNodes(old, *window(), m_boxes);
}

} // namespace palimpsest::studio
