// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/studio/inspector_view.h"

#include <QPointer>
#include <QQuickItem>
#include <QtQml/qqmlregistration.h>

namespace palimpsest::studio {

/// The canvas as a map of cells, sixteen a row: shade by entropy, held cells with an outline; no cell for what lies
/// behind the end of the answer. Whole pixels, rectangles only.
class CellMapItem : public QQuickItem
{
    Q_OBJECT
    QML_ELEMENT

    Q_PROPERTY(
        palimpsest::studio::InspectorView *inspector READ inspector WRITE setInspector NOTIFY inspectorChanged REQUIRED)

public:
    static constexpr int kColumns = 16;

    explicit CellMapItem(QQuickItem *parent = nullptr);

    [[nodiscard]] InspectorView *inspector() const { return m_inspector; }
    void setInspector(InspectorView *inspector);

    /// The canvas position under a point of the item; -1 if there is none.
    Q_INVOKABLE [[nodiscard]] int positionAt(double x, double y) const;
    /// "payments: 1.42 nats, not settled", for a tooltip.
    Q_INVOKABLE [[nodiscard]] QString describe(int position) const;

Q_SIGNALS:
    void inspectorChanged();

protected:
    QSGNode *updatePaintNode(QSGNode *old, UpdatePaintNodeData *data) override;
    void geometryChange(const QRectF &current, const QRectF &old) override;

private:
    QPointer<InspectorView> m_inspector;
};

} // namespace palimpsest::studio
