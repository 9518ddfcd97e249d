// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/revision_rule.h"

#include <algorithm>

namespace palimpsest::documents {

std::optional<std::int64_t> humanRevisionDueMs(const std::optional<WritingStretch> &stretch)
{
    if (!stretch)
        return std::nullopt;
    return std::min(stretch->lastEditMs + kWritingPauseMs, stretch->firstEditMs + kLongestStretchMs);
}

bool humanRevisionDue(const std::optional<WritingStretch> &stretch, RevisionMoment moment, std::int64_t nowMs)
{
    if (!stretch)
        return false;
    // A clock that was set back would put the pause off for as long.
    const bool clockWentBack = nowMs < stretch->firstEditMs;
    return moment != RevisionMoment::Timer || clockWentBack || nowMs >= *humanRevisionDueMs(stretch);
}

} // namespace palimpsest::documents
