// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/frame_lanes.h"

#include <algorithm>

namespace palimpsest::live {

void FrameLanes::offer(const LaneKey &lane)
{
    Lane &known = m_lanes[lane];
    if (known.isFresh)
        ++m_skipped;
    known.isFresh = true;
}

bool FrameLanes::isDue(const LaneKey &lane) const
{
    const auto known = m_lanes.find(lane);
    return known != m_lanes.end() && known->second.isFresh && known->second.unconfirmed.size() < kMostUnconfirmed;
}

std::vector<LaneKey> FrameLanes::due() const
{
    std::vector<LaneKey> lanes;
    for (const auto &[key, lane] : m_lanes) {
        if (lane.isFresh && lane.unconfirmed.size() < kMostUnconfirmed)
            lanes.push_back(key);
    }
    return lanes;
}

bool FrameLanes::take(const LaneKey &lane, FramePlace place)
{
    Lane &known = m_lanes[lane];
    known.isFresh = false;
    if (place <= known.last || place.canvas <= known.settledCanvas)
        return false;
    known.last = place;
    known.unconfirmed.push_back(place);
    return true;
}

void FrameLanes::confirm(const LaneKey &lane, FramePlace place)
{
    const auto known = m_lanes.find(lane);
    if (known == m_lanes.end())
        return; // of a run that has ended
    std::deque<FramePlace> &unconfirmed = known->second.unconfirmed;
    while (!unconfirmed.empty() && unconfirmed.front() <= place)
        unconfirmed.pop_front();
}

void FrameLanes::settle(const LaneKey &lane, std::int64_t canvas)
{
    Lane &known = m_lanes[lane];
    known.isFresh = false;
    known.settledCanvas = std::max(known.settledCanvas, canvas);
}

void FrameLanes::forget(const QString &run)
{
    std::erase_if(m_lanes, [&](const auto &entry) { return entry.first.run == run; });
}

} // namespace palimpsest::live
