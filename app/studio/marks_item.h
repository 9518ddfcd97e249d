// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/studio/dotted_lines.h"
#include "app/studio/page_mark.h"
#include "app/studio/page_text.h"
#include "app/studio/rectangle_nodes.h"

#include <QColor>
#include <QPointer>
#include <QQuickItem>
#include <QRectF>
#include <QTextBlock>
#include <QTextDocument>
#include <QtQml/qqmlregistration.h>

#include <vector>

namespace palimpsest::studio {

/// Finds where stretches of a text document are drawn: one rectangle for each line that a stretch touches (several
/// where directions mix), in the document's coordinates. For as long as the document does not change.
class LineRects
{
public:
    explicit LineRects(const QTextDocument &document) : m_document(document) {}
    [[nodiscard]] std::vector<QRectF> of(editing::TextSpan span);

private:
    void enter(const QTextBlock &block);

    const QTextDocument &m_document;
    QTextBlock m_block; ///< what the following is known of
    QPointF m_origin;
    bool m_goesBothWays = false;
};

/// Draws the marks of a page as rectangles and lines of dots, placed from the text document's own layout: text, caret,
/// input methods and accessibility stay Qt's, and a step that changes only colours touches no text. Lies exactly over
/// the page's TextEdit (same place and size); one behind the letters for shades, one in front for what strikes through.
///
/// Rectangles and images and nothing else, because the software renderer draws no other nodes.
class MarksItem : public QQuickItem
{
    Q_OBJECT
    QML_ELEMENT

    Q_PROPERTY(palimpsest::studio::PageText *page READ page WRITE setPage NOTIFY pageChanged REQUIRED)
    Q_PROPERTY(Plane plane READ plane WRITE setPlane NOTIFY planeChanged REQUIRED)

public:
    enum class Plane { Behind, InFront };
    Q_ENUM(Plane)

    explicit MarksItem(QQuickItem *parent = nullptr);

    [[nodiscard]] PageText *page() const { return m_page; }
    void setPage(PageText *page);
    [[nodiscard]] Plane plane() const noexcept { return m_plane; }
    void setPlane(Plane plane);

Q_SIGNALS:
    void pageChanged();
    void planeChanged();

protected:
    void updatePolish() override;
    QSGNode *updatePaintNode(QSGNode *old, UpdatePaintNodeData *data) override;

private:
    void addMark(const PageMark &mark, LineRects &lines);
    void addBox(const QRectF &rect, const QColor &color);

    QPointer<PageText> m_page;
    Plane m_plane = Plane::Behind;
    std::vector<ColoredRect> m_boxes; ///< on whole units
    DottedLines m_dots;
    std::vector<DottedLine> m_dottedLines;
};

/// One stretch of a document, for once.
[[nodiscard]] std::vector<QRectF> lineRects(const QTextDocument &document, editing::TextSpan span);

} // namespace palimpsest::studio
