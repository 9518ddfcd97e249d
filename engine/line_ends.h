// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// A text as the model sees it: every CR LF is a single LF. Offsets can be carried over in both directions.
class LineEndView
{
public:
    explicit LineEndView(std::string_view text);

    [[nodiscard]] const std::string &text() const noexcept { return m_text; }
    /// The offset in the view of a byte of the original; that of a CR that is left out is its LF's.
    [[nodiscard]] std::int64_t toView(std::int64_t originalOffset) const noexcept;
    /// The offset in the original of a byte of the view; a line end's is that of its CR.
    [[nodiscard]] std::int64_t toOriginal(std::int64_t viewOffset) const noexcept;

private:
    std::string m_text;
    std::vector<std::int64_t> m_lineFeeds; ///< offsets in the view of the LFs that stand for a CR LF
};

/// Whether most of the text's line ends are CR LF.
[[nodiscard]] bool mostlyCrLf(std::string_view text) noexcept;

/// The text with every LF that has no CR in front written as CR LF.
[[nodiscard]] std::string withCrLf(std::string_view text);

} // namespace palimpsest
