// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/run_wish.h"
#include "app/editing/text_edit.h"
#include "engine/events.h"
#include "engine/sampler.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace palimpsest::editing {

/// "converged", "cap", "cancelled".
[[nodiscard]] QString nameOf(CanvasStop stop);

enum class ChangeState { Open, Accepted, Rejected };
[[nodiscard]] QString nameOf(ChangeState state);

/// One place where the chosen alternative differs from the draft.
struct ProposalChange
{
    TextSpan span;    ///< where it stands in the draft: what would go, or, once accepted, what came
    QString text;     ///< what would come
    QString original; ///< what stood there when the change was made up
    ChangeState state = ChangeState::Open;

    friend bool operator==(const ProposalChange &, const ProposalChange &) = default;
};

/// One of several texts for the same place.
struct ProposalAlternative
{
    QString text;
    std::uint64_t seed = 0;
    std::optional<double> meanEntropy; ///< nats; absent for what the writer put together or wrote
    std::vector<CanvasStop> stops;     ///< one a canvas

    friend bool operator==(const ProposalAlternative &, const ProposalAlternative &) = default;
};

/// How a proposal came about: enough to make it again.
struct ProposalOrigin
{
    QString model;
    std::uint64_t seed = 0;
    SamplerSettings sampler;
    QString instruction;
    NoiseAmount amount = NoiseAmount::Medium; ///< of Renoise
    std::int64_t steps = 0;
    std::int64_t canvases = 0;
    std::vector<CanvasStop> stops; ///< of the alternative that was the best
};

enum class ProposalState {
    Open,
    Accepted, ///< some of it at least
    Rejected,
    Dropped, ///< its original was edited meanwhile
};
[[nodiscard]] QString nameOf(ProposalState state);

/// What a model offers for a span of the draft, which does not hold it yet. A value; the draft moves its positions.
struct Proposal
{
    QString id;
    QString run;
    RunAction action = RunAction::Rewrite;
    TextSpan span;    ///< in the draft
    QString original; ///< what stood there when the run ended
    std::size_t chosen = 0;
    std::vector<ProposalAlternative> alternatives; ///< at least one
    std::vector<ProposalChange> changes;           ///< of the chosen one, ascending, apart from each other
    ProposalOrigin origin;
    ProposalState state = ProposalState::Open;
    QString note; ///< for people: what was held back, why it was dropped

    [[nodiscard]] bool isOpen() const noexcept { return state == ProposalState::Open; }
};

/// What an acceptance does: edits to the draft in the order in which they are to be made (each in the positions that
/// the one before left behind), and the proposal behind them.
struct Acceptance
{
    std::vector<TextEdit> edits;
    Proposal proposal;
};

/// Takes all open changes, or the change with this index. Throws Error InvalidArgument ("change") if there is no such
/// change or it is not open.
[[nodiscard]] Acceptance accepted(const Proposal &proposal, std::optional<std::size_t> change = std::nullopt);
/// Takes the first `words` words of an open change; what is left of it stays open behind them.
[[nodiscard]] Acceptance acceptedWords(const Proposal &proposal, std::size_t change, int words);
/// Turns down all open changes, or one. Throws as `accepted`.
[[nodiscard]] Proposal rejected(const Proposal &proposal, std::optional<std::size_t> change = std::nullopt);

/// What stands in the draft where a proposal wants to stand.
struct StandingText
{
    QString text;                ///< of the proposal's span
    std::vector<TextSpan> locks; ///< positions in `text`
};

/// Makes up the changes from what stands to the chosen alternative anew; all of them are open.
[[nodiscard]] Proposal withChanges(Proposal proposal, const StandingText &standing);
/// Shows another alternative. Throws Error InvalidArgument ("alternative").
[[nodiscard]] Proposal choosing(const Proposal &proposal, std::size_t alternative, const StandingText &standing);
/// Puts words of another alternative (a span of its text, widened to whole words) into the place that they have in the
/// chosen one; the result is an alternative of its own, and the chosen one. Throws Error InvalidArgument.
[[nodiscard]] Proposal taking(const Proposal &proposal, std::size_t alternative, TextSpan words,
                              const StandingText &standing);
/// Makes a text of the writer's own the chosen alternative.
[[nodiscard]] Proposal withOwnText(const Proposal &proposal, const QString &text, const StandingText &standing);

/// The proposal after an edit that somebody made to the draft. An edit beside it moves it. One that touches it drops
/// it; but of a proofreading, only the corrections that are touched are turned down.
[[nodiscard]] Proposal movedOver(const Proposal &proposal, const TextEdit &edit);

} // namespace palimpsest::editing
