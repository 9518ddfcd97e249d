// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/proposal.h"
#include "app/editing/run_plan.h"
#include "app/editing/text_edit.h"

#include <QString>

#include <vector>

namespace palimpsest::editing {

/// How a run ended, in a draft that went on meanwhile.
struct RunEnding
{
    const RunTexts &texts;
    qsizetype start = 0;                ///< of its span when it began
    const QString &base;                ///< what stood in the span then
    const std::vector<TextEdit> &edits; ///< of the draft since then, in order
};

/// Gives a proposal (whose span is where it stands now) the alternatives and changes that the run's texts come to in
/// the text that stands there: what was typed meanwhile stays, and so do locked words. False if nothing new is left.
[[nodiscard]] bool offerTexts(Proposal &proposal, const RunEnding &ending, const StandingText &standing);

} // namespace palimpsest::editing
