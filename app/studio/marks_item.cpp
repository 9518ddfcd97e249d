// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/marks_item.h"

#include "app/studio/theme.h"

#include <QAbstractTextDocumentLayout>
#include <QGlyphRun>
#include <QQuickWindow>
#include <QSGNode>
#include <QTextLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace palimpsest::studio {

namespace {

constexpr qreal kBarWidth = 3.0;
constexpr qreal kBarDistance = 16.0; // between the bar and the letters

/// On whole units.
QRectF snapped(const QRectF &rect)
{
    const qreal left = std::floor(rect.left());
    const qreal top = std::floor(rect.top());
    return {left, top, std::max<qreal>(1.0, std::ceil(rect.right()) - left),
            std::max<qreal>(1.0, std::ceil(rect.bottom()) - top)};
}

/// The heat map's colours as letters can be read over them: 4.5 to 1 and more in both schemes. Mixed with the paper and
/// not laid over it, so that neighbours may overlap.
QColor behindLetters(const QColor &heat, const QColor &paper)
{
    constexpr float kHeat = 0.6F;
    const auto mixed = [](float a, float b) {
        return kHeat * a + (1.0F - kHeat) * b;
    };
    // What is quite opaque, the software renderer cuts out of what lies below it, by whole units: pixels at its edge
    // would show the paper.
    constexpr float kAlmostOpaque = 254.0F / 255.0F;
    return QColor::fromRgbF(mixed(heat.redF(), paper.redF()), mixed(heat.greenF(), paper.greenF()),
                            mixed(heat.blueF(), paper.blueF()), kAlmostOpaque);
}

/// The less sure, the denser: a pattern that tells the levels apart without colour.
qreal dotPeriod(int level)
{
    return 12.0 - 1.6 * level;
}

/// Reaches a little below its neighbour, which is drawn after it: where a unit is one and a quarter pixels, the paper
/// would shine through between two that only touch.
QRectF touching(const QRectF &rect)
{
    const qreal left = std::floor(rect.left());
    constexpr qreal kOverlap = 0.5; // or more, since it ends with a unit
    return {left, rect.top(), std::ceil(rect.right() + kOverlap) - left, rect.height()};
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

void LineRects::enter(const QTextBlock &block)
{
    if (m_block == block)
        return;
    m_block = block;
    m_origin = m_document.documentLayout()->blockBoundingRect(block).topLeft();
    m_goesBothWays = goesBothWays(block.text()); // copies the paragraph: not for each of its words
}

std::vector<QRectF> LineRects::of(editing::TextSpan span)
{
    std::vector<QRectF> rects;
    for (QTextBlock block = m_document.findBlock(static_cast<int>(span.start));
         block.isValid() && block.position() < span.end; block = block.next()) {
        enter(block);
        const QTextLayout *layout = block.layout();
        const auto begin = static_cast<int>(std::max<qsizetype>(0, span.start - block.position()));
        const auto end = static_cast<int>(std::min<qsizetype>(block.length() - 1, span.end - block.position()));
        const QTextLine first = layout->lineForTextPosition(begin);
        for (int i = first.isValid() ? first.lineNumber() : 0; i < layout->lineCount(); ++i) {
            const QTextLine line = layout->lineAt(i);
            const int from = std::max(begin, line.textStart());
            const int to = std::min(end, line.textStart() + line.textLength());
            if (line.textStart() >= end)
                break;
            if (from >= to)
                continue;
            for (const auto &[left, right] : stretches(line, from, to, m_goesBothWays))
                rects.push_back(
                    QRectF(left, line.y() + line.leading(), right - left, line.height()).translated(m_origin));
        }
    }
    return rects;
}

std::vector<QRectF> lineRects(const QTextDocument &document, editing::TextSpan span)
{
    return LineRects(document).of(span);
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
        LineRects lines(*m_page->document());
        for (const PageMark &mark : m_page->marks())
            addMark(mark, lines);
    }
    m_dottedLines = m_dots.take();
    update();
}

void MarksItem::addMark(const PageMark &mark, LineRects &lines)
{
    const bool inFront = mark.kind == PageMark::Kind::Removed;
    if (inFront != (m_plane == Plane::InFront))
        return;
    const Theme &theme = *Theme::create(nullptr, nullptr);
    const std::vector<QRectF> rects = lines.of(mark.shown);
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
            addBox(touching(rect), behindLetters(theme.entropyColor(mark.level), theme.paper()));
            m_dots.add(below.left(), below.right(), below.top(), dotPeriod(mark.level), theme.ink());
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

QSGNode *MarksItem::updatePaintNode(QSGNode *old, UpdatePaintNodeData *)
{
    if (old == nullptr) {
        old = new QSGTransformNode; // with any other root the software renderer drops the item's position
        old->appendChildNode(rectangleNodes(nullptr, *window(), m_boxes));
        old->appendChildNode(dottedLineNodes(nullptr, *window(), m_dottedLines));
        return old;
    }
    rectangleNodes(old->firstChild(), *window(), m_boxes);
    dottedLineNodes(old->lastChild(), *window(), m_dottedLines);
    return old;
}

} // namespace palimpsest::studio
