// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QTimer>

namespace palimpsest::studio {

/// The pace at which the window shows what changes: however often it is asked for, `timeout` comes once a frame.
class FrameTimer : public QTimer
{
public:
    static constexpr int kFrameMs = 16;

    FrameTimer()
    {
        setSingleShot(true);
        setTimerType(Qt::PreciseTimer);
        setInterval(kFrameMs);
    }

    /// Asks for the next frame.
    void request()
    {
        if (!isActive()) // a start would put it off
            start();
    }
};

} // namespace palimpsest::studio
