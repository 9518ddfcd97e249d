// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/proposal.h"

#include "app/editing/locked_words.h"
#include "app/editing/utf8_text.h"
#include "engine/error.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace palimpsest::editing {

namespace {

[[noreturn]] void refuse(const std::string &message, const char *field)
{
    throw Error(ErrorKind::InvalidArgument, message, field);
}

void requireOpen(const Proposal &proposal)
{
    if (!proposal.isOpen())
        refuse("the proposal is " + nameOf(proposal.state).toStdString() + " already", kStaleSubject);
}

void requireOpenChange(const Proposal &proposal, std::size_t change)
{
    requireOpen(proposal);
    if (change >= proposal.changes.size())
        refuse("there is no change " + std::to_string(change) + ": the proposal has " +
                   std::to_string(proposal.changes.size()),
               "change");
    if (proposal.changes[change].state != ChangeState::Open)
        refuse("the change is " + nameOf(proposal.changes[change].state).toStdString() + " already", kStaleSubject);
}

/// Open as long as one of its changes is; then what became of them.
void settleState(Proposal &proposal)
{
    const auto has = [&proposal](ChangeState state) {
        return std::any_of(proposal.changes.begin(), proposal.changes.end(),
                           [state](const ProposalChange &change) { return change.state == state; });
    };
    if (has(ChangeState::Open))
        proposal.state = ProposalState::Open;
    else
        proposal.state = has(ChangeState::Accepted) ? ProposalState::Accepted : ProposalState::Rejected;
}

/// Makes the changes that `isWanted` names part of the text.
Acceptance acceptedChanges(const Proposal &proposal, const std::function<bool(std::size_t)> &isWanted)
{
    Acceptance result{.edits = {}, .proposal = proposal};
    qsizetype shift = 0;
    for (std::size_t i = 0; i < proposal.changes.size(); ++i) {
        ProposalChange &change = result.proposal.changes[i];
        change.span = {change.span.start + shift, change.span.end + shift};
        if (change.state != ChangeState::Open || !isWanted(i))
            continue;
        result.edits.push_back({change.span, change.text});
        shift += change.text.size() - change.span.length();
        change.span.end = change.span.start + change.text.size();
        change.state = ChangeState::Accepted;
    }
    result.proposal.span.end += shift;
    settleState(result.proposal);
    return result;
}

/// Where the first so many words of a text end, with the white space behind them, so that what follows begins with a
/// word; but where the text itself begins with white space, without it. The whole text if it has no more words.
qsizetype endOfWords(const QString &text, int words)
{
    qsizetype at = 0;
    const auto skip = [&](bool spaces) {
        while (at < text.size() && text.at(at).isSpace() == spaces)
            ++at;
    };
    const bool opensWithSpace = !text.isEmpty() && text.front().isSpace();
    for (int word = 0; word < words && at < text.size(); ++word) {
        skip(true);
        skip(false);
    }
    if (!opensWithSpace)
        skip(true);
    else if (QStringView(text).mid(at).trimmed().isEmpty())
        at = text.size();
    return at;
}

/// Carries a position of one text over to the other; inside a change to its start or end.
qsizetype carried(qsizetype position, const std::vector<TextEdit> &changes, bool toEnd)
{
    qsizetype shift = 0; // of the revised text against the original one, so far
    for (const TextEdit &change : changes) {
        const TextSpan revised{change.span.start + shift, change.span.start + shift + change.text.size()};
        const bool isBefore = toEnd ? position <= revised.start : position < revised.start;
        if (isBefore)
            break;
        const bool isInside = toEnd ? position <= revised.end : position < revised.end;
        if (isInside)
            return toEnd ? change.span.end : change.span.start;
        shift += change.text.size() - change.span.length();
    }
    return position - shift;
}

/// Puts a space where two words would run together.
QString joined(const QString &front, const QString &back)
{
    const bool runTogether =
        !front.isEmpty() && !back.isEmpty() && front.back().isLetterOrNumber() && back.front().isLetterOrNumber();
    return runTogether ? front + u' ' + back : front + back;
}

ProposalAlternative &addAlternative(Proposal &proposal, QString text)
{
    const std::uint64_t seed = proposal.alternatives[proposal.chosen].seed;
    proposal.chosen = proposal.alternatives.size();
    return proposal.alternatives.emplace_back(ProposalAlternative{std::move(text), seed, std::nullopt, {}});
}

void dropTouchedCorrections(Proposal &proposal, const TextEdit &edit)
{
    const auto isLetter = [](QChar unit) {
        return unit.isLetterOrNumber() || unit.isSurrogate();
    };
    bool dropped = false;
    for (ProposalChange &change : proposal.changes) {
        if (change.state != ChangeState::Open)
            continue;
        // Letters that are put to a wrong word make another word of it, for which the correction was not meant.
        const bool extends = !change.span.empty() && !edit.text.isEmpty() &&
                             ((edit.span.start == change.span.end && isLetter(edit.text.front())) ||
                              (edit.span.end == change.span.start && isLetter(edit.text.back())));
        if (!touches(edit, change.span) && !extends)
            continue;
        change.state = ChangeState::Rejected;
        dropped = true;
    }
    if (!dropped)
        return;
    proposal.note = QStringLiteral("Corrections of words that were edited meanwhile were dropped.");
    settleState(proposal);
    if (proposal.state == ProposalState::Rejected)
        proposal.state = ProposalState::Dropped;
}

} // namespace

QString nameOf(CanvasStop stop)
{
    switch (stop) {
    case CanvasStop::Converged:
        return QStringLiteral("converged");
    case CanvasStop::StepCap:
        return QStringLiteral("cap");
    case CanvasStop::Cancelled:
        break;
    }
    return QStringLiteral("cancelled");
}

QString nameOf(ChangeState state)
{
    switch (state) {
    case ChangeState::Open:
        return QStringLiteral("open");
    case ChangeState::Accepted:
        return QStringLiteral("accepted");
    case ChangeState::Rejected:
        break;
    }
    return QStringLiteral("rejected");
}

QString nameOf(ProposalState state)
{
    switch (state) {
    case ProposalState::Open:
        return QStringLiteral("open");
    case ProposalState::Accepted:
        return QStringLiteral("accepted");
    case ProposalState::Rejected:
        return QStringLiteral("rejected");
    case ProposalState::Dropped:
        break;
    }
    return QStringLiteral("dropped");
}

Acceptance accepted(const Proposal &proposal, std::optional<std::size_t> change)
{
    if (change)
        requireOpenChange(proposal, *change);
    else
        requireOpen(proposal);
    return acceptedChanges(proposal, [change](std::size_t index) { return !change || index == *change; });
}

Acceptance acceptedWords(const Proposal &proposal, std::size_t change, int words)
{
    requireOpenChange(proposal, change);
    if (words < 1)
        refuse("words is " + std::to_string(words) + ", wanted at least 1", "words");
    const QString text = proposal.changes[change].text;
    const qsizetype end = endOfWords(text, words);
    if (end == text.size())
        return accepted(proposal, change);
    // The words that come now are a change of their own, in front of what is left.
    Proposal divided = proposal;
    const ProposalChange whole = divided.changes[change];
    const auto place = divided.changes.begin() + static_cast<std::ptrdiff_t>(change);
    place->text = text.mid(end);
    divided.changes.insert(place, {{whole.span.start, whole.span.start}, text.left(end), QString(), ChangeState::Open});
    return accepted(divided, change);
}

Proposal rejected(const Proposal &proposal, std::optional<std::size_t> change)
{
    if (change)
        requireOpenChange(proposal, *change);
    else
        requireOpen(proposal);
    Proposal result = proposal;
    for (std::size_t i = 0; i < result.changes.size(); ++i) {
        if (result.changes[i].state == ChangeState::Open && (!change || i == *change))
            result.changes[i].state = ChangeState::Rejected;
    }
    settleState(result);
    return result;
}

Proposal withChanges(Proposal proposal, const StandingText &standing)
{
    const QString &revised = proposal.alternatives[proposal.chosen].text;
    proposal.changes.clear();
    for (TextEdit &edit : changesAround(standing.locks, standing.text, revised)) {
        const QString original = standing.text.mid(edit.span.start, edit.span.length());
        proposal.changes.push_back({{edit.span.start + proposal.span.start, edit.span.end + proposal.span.start},
                                    std::move(edit.text),
                                    original,
                                    ChangeState::Open});
    }
    return proposal;
}

Proposal choosing(const Proposal &proposal, std::size_t alternative, const StandingText &standing)
{
    requireOpen(proposal);
    if (alternative >= proposal.alternatives.size())
        refuse("there is no alternative " + std::to_string(alternative) + ": the proposal has " +
                   std::to_string(proposal.alternatives.size()),
               "alternative");
    Proposal result = proposal;
    result.chosen = alternative;
    return withChanges(std::move(result), standing);
}

Proposal taking(const Proposal &proposal, std::size_t alternative, TextSpan words, const StandingText &standing)
{
    requireOpen(proposal);
    if (alternative >= proposal.alternatives.size() || alternative == proposal.chosen)
        refuse("words are taken from another alternative than the one that is shown", "alternative");
    const QString &from = proposal.alternatives[alternative].text;
    const QString &into = proposal.alternatives[proposal.chosen].text;
    const TextSpan whole = snappedToWords(words, from);
    if (whole.empty())
        refuse("there are no words to take there", "start");
    const std::vector<TextEdit> changes = wordChanges(into, from);
    const TextSpan place{carried(whole.start, changes, false), carried(whole.end, changes, true)};
    const QString text =
        joined(joined(into.left(place.start), from.mid(whole.start, whole.length())), into.mid(place.end));
    Proposal result = proposal;
    addAlternative(result, text);
    return withChanges(std::move(result), standing);
}

Proposal withOwnText(const Proposal &proposal, const QString &text, const StandingText &standing)
{
    requireOpen(proposal);
    Proposal result = proposal;
    ProposalAlternative &shown = result.alternatives[result.chosen];
    const bool isOwn = !shown.meanEntropy && shown.stops.empty();
    if (isOwn)
        shown.text = cleaned(text);
    else
        addAlternative(result, cleaned(text));
    return withChanges(std::move(result), standing);
}

Proposal movedOver(const Proposal &proposal, const TextEdit &edit)
{
    Proposal result = proposal;
    if (result.isOpen() && result.action == RunAction::Proofread)
        dropTouchedCorrections(result, edit);
    if (result.isOpen() && result.action != RunAction::Proofread && touches(edit, result.span)) {
        result.state = ProposalState::Dropped;
        result.note = QStringLiteral("The text that this was meant for was edited meanwhile.");
    }
    result.span = moved(result.span, edit);
    for (ProposalChange &change : result.changes)
        change.span = moved(change.span, edit);
    return result;
}

} // namespace palimpsest::editing
