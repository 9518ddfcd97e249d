// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/line_ends.h"

#include <algorithm>

namespace palimpsest {

LineEndView::LineEndView(std::string_view text)
{
    m_text.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
            m_lineFeeds.push_back(static_cast<std::int64_t>(m_text.size()));
        } else {
            m_text += text[i];
        }
    }
}

std::int64_t LineEndView::toView(std::int64_t originalOffset) const noexcept
{
    // The CR of line feed number i is at m_lineFeeds[i] + i in the original: find how many lie in front.
    std::int64_t low = 0;
    auto high = static_cast<std::int64_t>(m_lineFeeds.size());
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (m_lineFeeds[static_cast<std::size_t>(middle)] + middle < originalOffset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return originalOffset - low;
}

std::int64_t LineEndView::toOriginal(std::int64_t viewOffset) const noexcept
{
    const auto inFront = std::lower_bound(m_lineFeeds.begin(), m_lineFeeds.end(), viewOffset);
    return viewOffset + (inFront - m_lineFeeds.begin());
}

bool mostlyCrLf(std::string_view text) noexcept
{
    std::int64_t lineFeeds = 0;
    std::int64_t crLfs = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n') {
            ++lineFeeds;
            crLfs += i > 0 && text[i - 1] == '\r' ? 1 : 0;
        }
    }
    return 2 * crLfs > lineFeeds;
}

std::string withCrLf(std::string_view text)
{
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) {
            result += '\r';
        }
        result += text[i];
    }
    return result;
}

} // namespace palimpsest
