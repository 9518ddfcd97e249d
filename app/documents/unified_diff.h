// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace palimpsest::documents {

/// What the two sides of a diff are called; on one line each.
struct DiffNames
{
    std::string original;
    std::string revised;
};

inline constexpr std::int64_t kDiffContextLines = 3;

/// The difference of two texts line by line, as `diff -u` writes it and `patch` reads it; empty if they are equal.
/// Lines end with LF; a CR in front of it, or a byte-order mark, belongs to the line. The shortest script, unless the
/// texts differ in more lines than `matchSequences` (engine/word_diff.h) follows up: then the rest is one change.
[[nodiscard]] std::string unifiedDiff(std::string_view original, std::string_view revised, const DiffNames &names);

} // namespace palimpsest::documents
