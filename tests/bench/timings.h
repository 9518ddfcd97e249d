// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QElapsedTimer>

#include <vector>

namespace palimpsest::bench {

using Times = std::vector<double>; ///< ms

[[nodiscard]] double milliseconds(const QElapsedTimer &timer);

/// What this thread has computed so far: unlike the clock on the wall, this leaves out what other programs take.
[[nodiscard]] double computedMs();

/// One line: how many, median, 99 %, worst, and how many are over the time of a frame.
void print(const char *what, Times times);

[[nodiscard]] QByteArray processorName();

} // namespace palimpsest::bench
