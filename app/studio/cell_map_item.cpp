// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/cell_map_item.h"

#include "app/studio/rectangle_nodes.h"
#include "app/studio/theme.h"

#include <QLocale>
#include <QQuickWindow>

#include <cmath>
#include <vector>

namespace palimpsest::studio {

namespace {

constexpr int kGap = 2;
constexpr int kRows = 16;

/// A cell's rectangle: whole units, the rest of the width spread over the columns.
QRectF cellRect(int position, const QSizeF &size)
{
    const int column = position % CellMapItem::kColumns;
    const int row = position / CellMapItem::kColumns;
    const auto edge = [](int index, int count, qreal length) {
        return std::floor(index * (length + kGap) / count);
    };
    const qreal left = edge(column, CellMapItem::kColumns, size.width());
    const qreal right = edge(column + 1, CellMapItem::kColumns, size.width()) - kGap;
    const qreal top = edge(row, kRows, size.height());
    const qreal bottom = edge(row + 1, kRows, size.height()) - kGap;
    return {left, top, right - left, bottom - top};
}

/// The pixels of the screen below an item, which are not its units where the screen is scaled.
class PixelGrid
{
public:
    explicit PixelGrid(const QQuickItem &item)
        : m_origin(item.mapToScene({0.0, 0.0})), m_ratio(item.window()->effectiveDevicePixelRatio())
    {
    }

    /// On whole pixels: cells with blurred edges seem to have other shades.
    [[nodiscard]] QRectF snapped(const QRectF &rect) const
    {
        return {QPointF(snapped(rect.left(), m_origin.x()), snapped(rect.top(), m_origin.y())),
                QPointF(snapped(rect.right(), m_origin.x()), snapped(rect.bottom(), m_origin.y()))};
    }

private:
    [[nodiscard]] qreal snapped(qreal place, qreal origin) const
    {
        return std::round((origin + place) * m_ratio) / m_ratio - origin;
    }

    QPointF m_origin;
    qreal m_ratio;
};

} // namespace

CellMapItem::CellMapItem(QQuickItem *parent) : QQuickItem(parent)
{
    setFlag(ItemHasContents);
    connect(Theme::create(nullptr, nullptr), &Theme::changed, this, &QQuickItem::update);
}

void CellMapItem::setInspector(InspectorView *inspector)
{
    if (m_inspector == inspector)
        return;
    if (m_inspector)
        m_inspector->disconnect(this);
    m_inspector = inspector;
    if (m_inspector)
        connect(m_inspector, &InspectorView::frameChanged, this, &QQuickItem::update);
    update();
    Q_EMIT inspectorChanged();
}

void CellMapItem::geometryChange(const QRectF &current, const QRectF &old)
{
    QQuickItem::geometryChange(current, old);
    update();
}

int CellMapItem::positionAt(double x, double y) const
{
    if (!m_inspector || !m_inspector->frame())
        return -1;
    for (int i = 0; i < m_inspector->frame()->positions(); ++i) {
        if (cellRect(i, size()).adjusted(0, 0, kGap, kGap).contains(x, y))
            return m_inspector->frame()->marks[i] == '-' ? -1 : i;
    }
    return -1;
}

QString CellMapItem::describe(int position) const
{
    if (!m_inspector || !m_inspector->frame() || position < 0 || position >= m_inspector->frame()->positions())
        return {};
    const editing::Frame &frame = *m_inspector->frame();
    const auto index = static_cast<std::size_t>(position);
    const QString nats = QLocale().toString(frame.entropy[index] / 100.0, 'f', 2);
    const QString text = frame.text[index].trimmed();
    switch (frame.marks[position]) {
    case '#':
        return tr("%1: locked").arg(text);
    case '=':
        return tr("%1: settled, %2 nats").arg(text, nats);
    case '+':
        return tr("%1: accepted in this step, %2 nats").arg(text, nats);
    default:
        return tr("%1: not settled, %2 nats").arg(text, nats);
    }
}

QSGNode *CellMapItem::updatePaintNode(QSGNode *old, UpdatePaintNodeData *)
{
    const Theme &theme = *Theme::create(nullptr, nullptr);
    const PixelGrid grid(*this);
    std::vector<ColoredRect> rects;
    if (m_inspector && m_inspector->frame()) {
        const editing::Frame &frame = *m_inspector->frame();
        for (int i = 0; i < frame.positions(); ++i) {
            const QRectF rect = grid.snapped(cellRect(i, size()));
            if (frame.marks[i] == '-') { // behind the end of the text
                rects.push_back({rect, theme.sunken()});
                continue;
            }
            const int level = Theme::entropyLevel(frame.entropy[static_cast<std::size_t>(i)] / 100.0);
            if (frame.marks[i] == '#') {
                rects.push_back({rect, theme.ink()});
                rects.push_back({rect.adjusted(2, 2, -2, -2), theme.entropyColor(0)});
            } else {
                rects.push_back({rect, theme.entropyColor(level)});
            }
        }
    } else {
        for (int i = 0; i < kColumns * kRows; ++i)
            rects.push_back({grid.snapped(cellRect(i, size())), theme.sunken()});
    }
    return rectangleNodes(old, *window(), rects);
}

} // namespace palimpsest::studio
