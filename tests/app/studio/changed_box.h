// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QImage>
#include <QRect>

#include <algorithm>

namespace palimpsest::test {

/// The least box that holds every pixel in which two pictures differ, as far as both reach.
[[nodiscard]] inline QRect changedBox(const QImage &before, const QImage &after)
{
    QRect box;
    for (int y = 0; y < std::min(before.height(), after.height()); ++y) {
        for (int x = 0; x < std::min(before.width(), after.width()); ++x) {
            if (before.pixel(x, y) != after.pixel(x, y))
                box |= QRect(x, y, 1, 1);
        }
    }
    return box;
}

} // namespace palimpsest::test
