// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/rectangle_nodes.h"

#include <QQuickWindow>
#include <QSGNode>
#include <QSGRectangleNode>

#include <utility>

namespace palimpsest::studio {

QSGNode *rectangleNodes(QSGNode *old, QQuickWindow &window, std::span<const ColoredRect> rects)
{
    // The software renderer drops an item's position unless its root node is a transform node.
    QSGNode *root = old != nullptr ? old : new QSGTransformNode;
    QSGNode *node = root->firstChild();
    const auto removeNode = [root, &node] {
        QSGNode *gone = std::exchange(node, node->nextSibling());
        root->removeChildNode(gone);
        delete gone;
    };
    for (const ColoredRect &colored : rects) {
        if (node != nullptr && static_cast<QSGRectangleNode *>(node)->rect() == colored.rect) {
            auto *kept = static_cast<QSGRectangleNode *>(std::exchange(node, node->nextSibling()));
            if (kept->color() != colored.color)
                kept->setColor(colored.color);
            continue;
        }
        // Not moved: Qt's software renderer (seen with 6.4.2) leaves the old place of a node on the screen if something
        // opaque covers all of the new one.
        QSGRectangleNode *made = window.createRectangleNode();
        made->setRect(colored.rect);
        made->setColor(colored.color);
        if (node != nullptr) {
            root->insertChildNodeBefore(made, node);
            removeNode();
        } else {
            root->appendChildNode(made);
        }
    }
    while (node != nullptr)
        removeNode();
    return root;
}

} // namespace palimpsest::studio
