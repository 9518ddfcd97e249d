// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QElapsedTimer>
#include <QObject>

#include <vector>

namespace palimpsest::bench {

using Times = std::vector<double>; ///< ms

[[nodiscard]] double milliseconds(const QElapsedTimer &timer);

/// What this thread has computed so far: unlike the clock on the wall, this leaves out what other programs take.
[[nodiscard]] double computedMs();

/// What each turn of this thread's event loop computes, as long as it lives: all that is done before the next key can
/// be looked at. Of loops that wait for events, as the program's does.
class Turns : public QObject
{
public:
    Turns();

    Times times;

private:
    double m_before = computedMs();
};

/// Runs the event loop for a while.
void spin(int forMs);

/// One line: how many, median, 99 %, worst, and how many are over the time of a frame.
void print(const char *what, Times times);

[[nodiscard]] QByteArray processorName();

} // namespace palimpsest::bench
