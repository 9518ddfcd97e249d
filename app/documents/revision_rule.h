// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cstdint>
#include <optional>

namespace palimpsest::documents {

// When a writer's own changes become a revision. The text itself is saved as it is typed; a revision for each save
// would bury those that matter, so there is one for a stretch of writing.

/// A stretch of writing ends with a pause this long.
inline constexpr std::int64_t kWritingPauseMs = 30'000;
/// Somebody who never pauses gets a revision this often.
inline constexpr std::int64_t kLongestStretchMs = 300'000;

/// The writer's changes since the latest revision; nothing if the text is that of the latest revision.
struct WritingStretch
{
    std::int64_t firstEditMs = 0;
    std::int64_t lastEditMs = 0;
};

enum class RevisionMoment {
    Timer,             ///< nothing special
    BeforeModelChange, ///< a model's text is about to go in: what was there has to be found again
    BeforeRestore,     ///< likewise for an older revision
    Closing,           ///< the document is closed, or the program ends
};

/// The time of the next look, or nothing if there is nothing to keep.
[[nodiscard]] std::optional<std::int64_t> humanRevisionDueMs(const std::optional<WritingStretch> &stretch);

/// Whether the writer's changes become a revision now.
[[nodiscard]] bool humanRevisionDue(const std::optional<WritingStretch> &stretch, RevisionMoment moment,
                                    std::int64_t nowMs);

} // namespace palimpsest::documents
