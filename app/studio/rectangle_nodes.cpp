// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/rectangle_nodes.h"

#include <QQuickWindow>
#include <QSGNode>
#include <QSGRectangleNode>

namespace palimpsest::studio {

QSGNode *rectangleNodes(QSGNode *old, QQuickWindow &window, std::span<const ColoredRect> rects)
{
    // The software renderer drops an item's position unless its root node is a transform node.
    QSGNode *root = old != nullptr ? old : new QSGTransformNode;
    QSGNode *node = root->firstChild();
    for (const ColoredRect &colored : rects) {
        QSGRectangleNode *rectangle = nullptr;
        if (node != nullptr) {
            rectangle = static_cast<QSGRectangleNode *>(node);
            node = node->nextSibling();
        } else {
            rectangle = window.createRectangleNode();
            root->appendChildNode(rectangle);
        }
        if (rectangle->rect() != colored.rect)
            rectangle->setRect(colored.rect);
        if (rectangle->color() != colored.color)
            rectangle->setColor(colored.color);
    }
    while (node != nullptr) {
        QSGNode *next = node->nextSibling();
        root->removeChildNode(node);
        delete node;
        node = next;
    }
    return root;
}

} // namespace palimpsest::studio
