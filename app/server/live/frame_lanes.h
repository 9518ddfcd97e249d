// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

namespace palimpsest::live {

/// One lane of a run: what frames replace each other in.
struct LaneKey
{
    QString run;
    int lane = 0;

    friend bool operator<(const LaneKey &a, const LaneKey &b)
    {
        return std::tie(a.run, a.lane) < std::tie(b.run, b.lane);
    }
    friend bool operator==(const LaneKey &, const LaneKey &) = default;
};

/// Which frame of a lane: later ones are greater.
struct FramePlace
{
    std::int64_t canvas = 0;
    int step = 0;

    friend bool operator<(const FramePlace &a, const FramePlace &b)
    {
        return std::tie(a.canvas, a.step) < std::tie(b.canvas, b.step);
    }
    friend bool operator<=(const FramePlace &a, const FramePlace &b) { return !(b < a); }
};

/// Which frames one window may get: only the newest of a lane, and no more than kMostUnconfirmed that it has not
/// confirmed. Knows places, not frames: a frame that is skipped is never made.
class FrameLanes
{
public:
    /// One under way, and one being drawn.
    static constexpr std::size_t kMostUnconfirmed = 2;

    /// A lane has a newer frame.
    void offer(const LaneKey &lane);
    [[nodiscard]] bool isDue(const LaneKey &lane) const;
    [[nodiscard]] std::vector<LaneKey> due() const;

    /// Whether the window still wants the frame: newer than the last one, and not of a canvas that has settled. If so,
    /// it counts as sent.
    [[nodiscard]] bool take(const LaneKey &lane, FramePlace place);
    /// The window has drawn this frame, or a later one than those before it.
    void confirm(const LaneKey &lane, FramePlace place);
    /// A canvas has settled: no frame of it, or of one before, any more.
    void settle(const LaneKey &lane, std::int64_t canvas);
    void forget(const QString &run);

    [[nodiscard]] std::uint64_t skipped() const noexcept { return m_skipped; } ///< offers that a newer one replaced

private:
    struct Lane
    {
        bool isFresh = false;
        FramePlace last{.canvas = -1, .step = 0};
        std::int64_t settledCanvas = -1;
        std::deque<FramePlace> unconfirmed; ///< rising
    };
    std::map<LaneKey, Lane> m_lanes;
    std::uint64_t m_skipped = 0;
};

} // namespace palimpsest::live
