// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QQuickItem>

#include <utility>

namespace palimpsest::test {

/// An item that shows `content` by what a test makes of it in updatePaintNode().
template <typename Content>
class NodeItem : public QQuickItem
{
public:
    explicit NodeItem(QQuickItem *parent) : QQuickItem(parent) { setFlag(ItemHasContents); }

    void show(Content content)
    {
        m_content = std::move(content);
        update();
    }

protected:
    [[nodiscard]] const Content &content() const { return m_content; }

private:
    Content m_content;
};

} // namespace palimpsest::test
