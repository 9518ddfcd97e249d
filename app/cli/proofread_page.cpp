// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/proofread_page.h"

#include "app/cli/marked_text.h"
#include "app/cli/run_progress.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace palimpsest::cli {

namespace {

/// What of a long text is laid out around the passages at work: more than any terminal shows.
constexpr std::int64_t kShownBytesBefore = 12'000;
constexpr std::int64_t kShownBytesAfter = 24'000;

/// A piece of the page begins and ends on whole lines.
std::int64_t lineBeginBefore(const std::string &text, std::int64_t offset)
{
    if (offset <= 0)
        return 0;
    const std::size_t lineEnd = text.rfind('\n', static_cast<std::size_t>(offset));
    return lineEnd == std::string::npos ? 0 : static_cast<std::int64_t>(lineEnd) + 1;
}

} // namespace

ProofreadPage::ProofreadPage(const std::string &text, const std::vector<ProofreadSegment> &segments,
                             std::vector<std::size_t> prose)
    : m_text(text), m_segments(segments), m_prose(std::move(prose)), m_finished(m_prose.size())
{
}

void ProofreadPage::finish(std::size_t slot, const ProofreadReply &reply)
{
    // The passage alone, by the same rules that put the whole text together later.
    const ProofreadSegment &segment = m_segments[m_prose[slot]];
    const std::string_view original = segment.range.of(m_text);
    ProofreadSegment whole = segment;
    whole.range = {0, segment.range.length()};
    const ProofreadMerge merge = mergeProofread(original, {&whole, 1}, {&reply, 1});
    std::vector<StyledText> marked = markChanges(merge.text, merge.changes);
    const std::lock_guard lock(m_mutex);
    m_finished[slot] = std::move(marked);
}

ProgressSource ProofreadPage::source(const RunBoard &board) const
{
    const auto line = [this, &board, last = std::string()]() mutable {
        std::string text = fmt::format("{}", fmt::join(status(board), ", "));
        if (text == last)
            return std::string();
        last = text;
        return text;
    };
    return {[this, &board] { return page(board); }, line};
}

std::vector<std::string> ProofreadPage::status(const RunBoard &board) const
{
    std::vector<std::string> parts{fmt::format("{} of {} passages", board.doneCount(), m_prose.size())};
    const std::size_t current = board.firstUnfinished();
    if (current < m_prose.size()) {
        const std::vector<std::string> running = statusOf(board.slot(current), board.stepMs());
        parts.insert(parts.end(), running.begin(), running.end());
    }
    return parts;
}

LivePage ProofreadPage::page(const RunBoard &board) const
{
    LivePage result;
    result.status = status(board);
    result.status.emplace_back("Ctrl-C stops");
    const std::size_t focus = board.firstUnfinished();
    const auto size = static_cast<std::int64_t>(m_text.size());
    const std::int64_t focusByte = focus < m_prose.size() ? m_segments[m_prose[focus]].range.begin : size;
    std::int64_t done = lineBeginBefore(m_text, focusByte - kShownBytesBefore);
    const std::int64_t end = std::min(size, focusByte + kShownBytesAfter);
    for (std::size_t slot = 0; slot < m_prose.size(); ++slot) {
        const ByteRange range = m_segments[m_prose[slot]].range;
        if (range.begin < done)
            continue;
        if (range.begin >= end)
            break;
        result.pieces.emplace_back(StyledText{std::string(ByteRange{done, range.begin}.of(m_text)), {}});
        if (slot == focus)
            result.focus = result.pieces.size();
        addPassage(result, board, slot);
        done = range.end;
    }
    if (done < end)
        result.pieces.emplace_back(StyledText{std::string(ByteRange{done, end}.of(m_text)), {}});
    return result;
}

void ProofreadPage::addPassage(LivePage &page, const RunBoard &board, std::size_t slot) const
{
    {
        const std::lock_guard lock(m_mutex);
        if (!m_finished[slot].empty()) {
            page.pieces.insert(page.pieces.end(), m_finished[slot].begin(), m_finished[slot].end());
            return;
        }
    }
    const SlotState state = board.slot(slot);
    if (!state.event && state.settled.empty()) {
        page.pieces.emplace_back(StyledText{std::string(m_segments[m_prose[slot]].range.of(m_text)), {Ink::Faint, 0}});
        return;
    }
    page.pieces.emplace_back(StyledText{state.settled, {}});
    if (state.event)
        page.pieces.emplace_back(LiveCanvas{.event = state.event, .begin = 0, .end = std::nullopt});
}

} // namespace palimpsest::cli
