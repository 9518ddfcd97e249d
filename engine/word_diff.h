// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/byte_range.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace palimpsest {

/// One place where two texts differ: these bytes of the original became those of the revision; one of the two may be
/// empty (an insertion, a deletion).
struct TextChange
{
    ByteRange original;
    ByteRange revised;

    friend bool operator==(const TextChange &, const TextChange &) = default;
};

/// What has to be changed, word by word, to make `revised` out of `original`: ascending, apart from each other, and
/// between the changes both texts hold the same bytes. Words, punctuation marks and runs of white space count one each,
/// and the script is the shortest in these (Myers 1986, "An O(ND) difference algorithm"), unless the texts differ in
/// more than `kMaxWordDifferences` pieces: then the rest counts as one change.
[[nodiscard]] std::vector<TextChange> diffWords(std::string_view original, std::string_view revised);

/// Memory of the search grows with the square of this: 17 MiB.
inline constexpr std::int64_t kMaxWordDifferences = 2048;

/// `length` elements from `originalBegin` on equal those from `revisedBegin` on.
struct SequenceMatch
{
    std::int64_t originalBegin = 0;
    std::int64_t revisedBegin = 0;
    std::int64_t length = 0;

    friend bool operator==(const SequenceMatch &, const SequenceMatch &) = default;
};

/// The longest common subsequence of two sequences as ascending, maximal runs; same limit as `diffWords`.
[[nodiscard]] std::vector<SequenceMatch> matchSequences(std::span<const std::int32_t> original,
                                                        std::span<const std::int32_t> revised);
/// The same for sequences of words.
[[nodiscard]] std::vector<SequenceMatch> matchWords(std::span<const std::string_view> original,
                                                    std::span<const std::string_view> revised);

} // namespace palimpsest
