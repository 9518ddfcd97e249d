// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/progress_display.h"
#include "app/cli/run_board.h"
#include "engine/proofreading.h"

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace palimpsest::cli {

/// The page of a text that is being proofread: every passage in its place, faint before its turn, settling while it
/// runs, with its changed words marked when it is done.
///
/// Replies come in on the scheduler's thread, displays ask on theirs.
class ProofreadPage
{
public:
    /// `prose` lists the segments that go to the model, in the order of the board's slots. The text and the segments
    /// outlive the page.
    ProofreadPage(const std::string &text, const std::vector<ProofreadSegment> &segments,
                  std::vector<std::size_t> prose);

    void finish(std::size_t slot, const ProofreadReply &reply); ///< any thread

    [[nodiscard]] ProgressSource source(const RunBoard &board) const;

private:
    [[nodiscard]] LivePage page(const RunBoard &board) const;
    void addPassage(LivePage &page, const RunBoard &board, std::size_t slot) const;
    [[nodiscard]] std::vector<std::string> status(const RunBoard &board) const;

    const std::string &m_text;
    const std::vector<ProofreadSegment> &m_segments;
    std::vector<std::size_t> m_prose;
    mutable std::mutex m_mutex;
    std::vector<std::vector<StyledText>> m_finished; ///< by slot; empty until done; guarded by m_mutex
};

} // namespace palimpsest::cli
