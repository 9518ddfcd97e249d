// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QString>

#include <cstdint>
#include <vector>

namespace palimpsest::editing {

/// One denoising step of a canvas, ready to be shown: all that a studio draws.
struct Frame
{
    int lane = 0;
    std::int64_t canvas = 0;
    int step = 0; ///< from 1
    int maxSteps = 0;
    /// Canvas positions [showBegin, showEnd) are what the span under way would become; the rest is text around it, or
    /// lies behind the end of the answer.
    int showBegin = 0;
    int showEnd = 0;
    /// One string a position: its argmax token's text. A character of several tokens stands at its first one; positions
    /// behind the end of the answer, and special tokens, are "".
    std::vector<QString> text;
    std::vector<std::uint16_t> entropy; ///< hundredths of a nat, one a position
    /// One character a position: '.' unsettled, '+' accepted in this step, '=' accepted as in the step before, '#'
    /// held,
    /// '-' padding.
    QByteArray marks;
    double meanEntropy = 0.0; ///< nats
    int accepted = 0;         ///< positions with '+' or '='
    int settled = 0;          ///< positions with '='
    int held = 0;             ///< positions with '#'
    double stepMs = 0.0;
    double elapsedMs = 0.0;
    bool last = false; ///< the canvas ended with this step

    [[nodiscard]] int positions() const noexcept { return static_cast<int>(text.size()); }
    /// The text of positions [showBegin, showEnd).
    [[nodiscard]] QString shownText() const;
};

} // namespace palimpsest::editing
