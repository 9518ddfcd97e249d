// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/run_offer.h"

#include "app/editing/locked_words.h"
#include "app/editing/typed_words.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace palimpsest::editing {

namespace {

void noteLocks(QString &note)
{
    const QString sentence = QStringLiteral("Changes of locked words were left out.");
    if (!note.contains(sentence))
        note += (note.isEmpty() ? QString() : QStringLiteral(" ")) + sentence;
}

/// A correction where it belongs after the edits; nothing if one of them touched it.
std::optional<TextEdit> carriedOn(TextEdit correction, const std::vector<TextEdit> &edits)
{
    for (const TextEdit &edit : edits) {
        if (touches(edit, correction.span))
            return std::nullopt;
        correction = moved(correction, edit, EditOrder::Later);
    }
    return correction;
}

/// The corrections of a proofreading. Passages that were typed in have none.
void addCorrections(Proposal &proposal, const RunEnding &ending, const StandingText &standing)
{
    const qsizetype start = proposal.span.start;
    std::vector<TextEdit> corrections; // in the text that stands there
    for (TextEdit correction : *ending.texts.corrections) {
        correction.span = {correction.span.start + ending.start, correction.span.end + ending.start};
        correction.text = cleaned(correction.text);
        std::optional<TextEdit> now = carriedOn(std::move(correction), ending.edits);
        if (!now)
            continue;
        now->span = {now->span.start - start, now->span.end - start};
        if (touchesAny(*now, standing.locks))
            noteLocks(proposal.note);
        else
            corrections.push_back(*std::move(now));
    }
    if (corrections.empty())
        return;
    ProposalAlternative alternative = ending.texts.alternatives.front();
    alternative.text = withEdits(standing.text, corrections);
    proposal.alternatives.push_back(std::move(alternative));
    for (TextEdit &correction : corrections) {
        const QString original = standing.text.mid(correction.span.start, correction.span.length());
        proposal.changes.push_back({{correction.span.start + start, correction.span.end + start},
                                    std::move(correction.text),
                                    original,
                                    ChangeState::Open});
    }
}

void addAlternatives(Proposal &proposal, const RunEnding &ending, const StandingText &standing)
{
    for (ProposalAlternative alternative : ending.texts.alternatives) {
        const QString merged = mergedTyping(ending.base, standing.text, cleaned(alternative.text));
        alternative.text = withEdits(standing.text, changesAround(standing.locks, standing.text, merged));
        if (alternative.text != merged)
            noteLocks(proposal.note);
        const bool isNew = alternative.text != standing.text &&
                           std::none_of(proposal.alternatives.begin(), proposal.alternatives.end(),
                                        [&alternative](const auto &other) { return other.text == alternative.text; });
        if (isNew)
            proposal.alternatives.push_back(std::move(alternative));
    }
    if (!proposal.alternatives.empty())
        proposal = withChanges(std::move(proposal), standing);
}

} // namespace

bool offerTexts(Proposal &proposal, const RunEnding &ending, const StandingText &standing)
{
    if (ending.texts.corrections)
        addCorrections(proposal, ending, standing);
    else
        addAlternatives(proposal, ending, standing);
    return !proposal.alternatives.empty();
}

} // namespace palimpsest::editing
