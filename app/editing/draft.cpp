// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft.h"

#include "app/editing/locked_words.h"
#include "app/editing/utf8_text.h"
#include "engine/error.h"

#include <algorithm>
#include <utility>

namespace palimpsest::editing {

namespace {

[[noreturn]] void refuse(const std::string &message, const char *field)
{
    throw Error(ErrorKind::InvalidArgument, message, field);
}

/// Beyond so many places, a restored text is put in as one piece: nobody follows that many single changes.
constexpr std::size_t kMostRestoredEdits = 200;

/// One edit that makes `revised` of `original`: what both begin and end with stays.
TextEdit singleEdit(QStringView original, const QString &revised)
{
    const qsizetype most = std::min(original.size(), revised.size());
    qsizetype front = 0;
    while (front < most && original[front] == revised[front])
        ++front;
    qsizetype back = 0;
    while (back < most - front && original[original.size() - 1 - back] == revised[revised.size() - 1 - back])
        ++back;
    const TextSpan span = snappedToCodePoints({front, original.size() - back}, original);
    const qsizetype end = revised.size() - (original.size() - span.end);
    return {span, revised.mid(span.start, end - span.start)};
}

/// Edits that are ascending and apart, as edits one behind the other.
std::vector<TextEdit> inSequence(std::vector<TextEdit> edits)
{
    qsizetype shift = 0;
    for (TextEdit &edit : edits) {
        const qsizetype growth = edit.text.size() - edit.span.length();
        edit.span = {edit.span.start + shift, edit.span.end + shift};
        shift += growth;
    }
    return edits;
}

/// Whether the writer's decisions are the same in both.
bool isSameState(const Proposal &a, const Proposal &b)
{
    return a.state == b.state &&
           std::equal(a.changes.begin(), a.changes.end(), b.changes.begin(), b.changes.end(),
                      [](const ProposalChange &x, const ProposalChange &y) { return x.state == y.state; });
}

/// Whether both stand at the same places. An empty place between letters that are deleted and come back is found again
/// only by remembering it.
bool samePlaces(const Proposal &a, const Proposal &b)
{
    return a.span == b.span &&
           std::equal(a.changes.begin(), a.changes.end(), b.changes.begin(), b.changes.end(),
                      [](const ProposalChange &x, const ProposalChange &y) { return x.span == y.span; });
}

/// Whether both offer the same, apart from where it stands.
bool isSameOffer(const Proposal &a, const Proposal &b)
{
    return a.chosen == b.chosen && a.alternatives == b.alternatives && a.note == b.note;
}

} // namespace

QString nameOf(EditCause cause)
{
    switch (cause) {
    case EditCause::Typing:
        return QStringLiteral("typing");
    case EditCause::Edit:
        return QStringLiteral("edit");
    case EditCause::Accept:
        return QStringLiteral("accept");
    case EditCause::Undo:
        return QStringLiteral("undo");
    case EditCause::Redo:
        return QStringLiteral("redo");
    case EditCause::Restore:
        return QStringLiteral("restore");
    case EditCause::Branch:
        return QStringLiteral("branch");
    case EditCause::Direct:
        break;
    }
    return QStringLiteral("direct");
}

Draft::Draft(QString text, const std::vector<TextSpan> &locks) : m_text(cleaned(std::move(text)))
{
    for (const TextSpan &lock : locks) {
        if (!lock.empty())
            m_locks = withLock(m_locks, snappedToCodePoints(lock, m_text));
    }
}

const Proposal *Draft::proposal(QStringView id) const noexcept
{
    const auto found = std::find_if(m_proposals.begin(), m_proposals.end(),
                                    [id](const Proposal &proposal) { return proposal.id == id; });
    return found == m_proposals.end() ? nullptr : &*found;
}

UndoLabels Draft::undoLabels() const
{
    UndoLabels labels;
    if (!m_undo.empty())
        labels.undo = m_undo.back().label;
    if (!m_redo.empty())
        labels.redo = m_redo.back().label;
    return labels;
}

void Draft::requireVersion(std::int64_t version) const
{
    if (version > m_version || version < m_version - static_cast<std::int64_t>(m_log.size()))
        refuse("the text has version " + std::to_string(m_version) + ", and what was made for version " +
                   std::to_string(version) + " cannot be carried over to it",
               kStaleSubject);
}

TextEdit Draft::brought(TextEdit edit, std::int64_t version) const
{
    requireVersion(version);
    const auto first = m_log.end() - static_cast<std::ptrdiff_t>(m_version - version);
    qsizetype length = m_text.size(); // of the text that the edit was made for
    for (auto later = first; later != m_log.end(); ++later)
        length -= later->text.size() - later->span.length();
    if (edit.span.start < 0 || edit.span.end < edit.span.start || edit.span.end > length)
        refuse("the span " + std::to_string(edit.span.start) + ":" + std::to_string(edit.span.end) +
                   " does not lie in a text of " + std::to_string(length) + " UTF-16 code units",
               edit.span.start < 0 || edit.span.start > length ? "start" : "end");
    for (auto later = first; later != m_log.end(); ++later)
        edit = moved(edit, *later, EditOrder::Later);
    return edit;
}

TextSpan Draft::brought(TextSpan span, std::int64_t version) const
{
    // As a stretch of text and not as an edit: what was written inside belongs to it.
    (void)brought(TextEdit{span, {}}, version);
    for (auto later = m_log.end() - static_cast<std::ptrdiff_t>(m_version - version); later != m_log.end(); ++later)
        span = moved(span, *later);
    return span;
}

Draft::Step Draft::newStep(QString label) const
{
    Step step;
    step.label = std::move(label);
    step.locksBefore = m_locks;
    return step;
}

void Draft::push(Step step)
{
    step.locksAfter = m_locks;
    m_redo.clear();
    m_undo.push_back(std::move(step));
    if (m_undo.size() > kUndoSteps)
        m_undo.pop_front();
}

AppliedEdit Draft::apply(const TextEdit &edit, Step &step)
{
    step.forward.push_back(edit);
    step.backward.insert(step.backward.begin(), inverse(edit, m_text));
    editing::apply(m_text, edit);
    ++m_version;
    m_log.push_back(edit);
    if (m_log.size() > kRememberedEdits)
        m_log.pop_front();
    m_locks = movedLocks(m_locks, edit);
    for (const Proposal &offered : m_proposals) { // each is replaced in its place
        const Proposal now = movedOver(offered, edit);
        const Proposal back = movedOver(now, step.backward.front());
        const bool findsBack = samePlaces(back, offered) && isSameState(back, now);
        replaceProposal(now, &step, findsBack ? Remember::Decisions : Remember::Places);
    }
    return {edit, m_version};
}

/// A proposal as it was before a step whose newest edit is the first one that it does not find back from.
Proposal Draft::beforeStep(Proposal proposal, const Step &step)
{
    for (std::size_t i = 1; i < step.backward.size(); ++i)
        proposal = movedOver(proposal, step.backward[i]);
    return proposal;
}

/// Puts a proposal in the place of its old self. If `step` is given, and there is something that the step has to bring
/// back (the state, or that of a change; a place that does not find back by itself), it remembers both.
void Draft::replaceProposal(const Proposal &proposal, Step *step, Remember remember)
{
    const auto place = std::find_if(m_proposals.begin(), m_proposals.end(),
                                    [&proposal](const Proposal &old) { return old.id == proposal.id; });
    if (place == m_proposals.end())
        return;
    const bool changesState = !isSameState(*place, proposal);
    if (changesState || !isSameOffer(*place, proposal))
        m_changedProposals.push_back(proposal.id);
    if (step != nullptr) {
        const auto known =
            std::find_if(step->proposals.begin(), step->proposals.end(),
                         [&proposal](const ProposalStep &entry) { return entry.after.id == proposal.id; });
        if (known != step->proposals.end())
            known->after = proposal;
        else if (changesState || remember == Remember::Places)
            step->proposals.push_back({beforeStep(*place, *step), proposal});
    }
    *place = proposal;
}

AppliedEdit Draft::edit(const TextEdit &edit, std::int64_t version, const EditAuthor &author)
{
    TextEdit now = brought(TextEdit{edit.span, cleaned(edit.text)}, version);
    now.span = snappedToCodePoints(now.span, m_text);
    if (m_text.size() - now.span.length() + now.text.size() > kMostUnits)
        refuse("the text would be longer than " + std::to_string(kMostUnits) + " UTF-16 code units", "text");
    if (!joins(now, author)) {
        Step step = newStep(author.cause == EditCause::Typing ? QStringLiteral("Typing") : QStringLiteral("Edit"));
        AppliedEdit applied = apply(now, step);
        push(std::move(step));
        noteTyping(now, author);
        return applied;
    }
    AppliedEdit applied = apply(now, m_undo.back());
    m_undo.back().locksAfter = m_locks;
    noteTyping(now, author);
    return applied;
}

bool Draft::joins(const TextEdit &edit, const EditAuthor &author) const
{
    if (author.cause != EditCause::Typing || !m_redo.empty() || m_undo.empty() || !m_undo.back().typing)
        return false;
    const Typing &typing = *m_undo.back().typing;
    const bool isSamePlace = edit.span.start <= typing.caret && typing.caret <= edit.span.end;
    const bool beginsWord = typing.letters > kTypingLetters && typing.caret > 0 && m_text[typing.caret - 1].isSpace();
    return !typing.closed && isSamePlace && !beginsWord && typing.author.window == author.window &&
           typing.deletes == edit.text.isEmpty() && author.nowMs - typing.author.nowMs <= kTypingPauseMs;
}

/// Notes an edit of the newest step, if it was typing.
void Draft::noteTyping(const TextEdit &edit, const EditAuthor &author)
{
    if (author.cause != EditCause::Typing)
        return;
    std::optional<Typing> &typing = m_undo.back().typing;
    const qsizetype lettersBefore = typing ? typing->letters : 0;
    typing = Typing{.author = author,
                    .caret = edit.span.start + edit.text.size(),
                    .letters = lettersBefore + edit.text.size(),
                    .deletes = edit.text.isEmpty(),
                    .closed = edit.text.contains(u'\n')};
}

std::vector<AppliedEdit> Draft::editAll(const std::vector<TextEdit> &edits, const QString &label)
{
    Step step = newStep(label);
    std::vector<AppliedEdit> applied;
    applied.reserve(edits.size());
    for (const TextEdit &edit : edits)
        applied.push_back(apply({snappedToCodePoints(edit.span, m_text), cleaned(edit.text)}, step));
    push(std::move(step));
    return applied;
}

std::vector<AppliedEdit> Draft::restore(const QString &text, const std::vector<TextSpan> &locks)
{
    const QString wanted = cleaned(text);
    std::vector<TextEdit> edits = inSequence(wordChanges(m_text, wanted));
    if (edits.size() > kMostRestoredEdits)
        edits = {singleEdit(m_text, wanted)};
    Step step = newStep(QStringLiteral("Restore"));
    std::vector<AppliedEdit> applied;
    applied.reserve(edits.size());
    for (const TextEdit &edit : edits)
        applied.push_back(apply(edit, step));
    m_locks.clear();
    for (const TextSpan &lock : locks)
        m_locks = withLock(m_locks, snappedToCodePoints(lock, m_text));
    push(std::move(step));
    return applied;
}

/// Applies one direction of a step. Proposals that only this very change of the text affects (they were made after the
/// step, for instance) are noted in it, so that the way back brings them back.
std::vector<AppliedEdit> Draft::replay(Step &step, bool forward)
{
    Step scratch;
    std::vector<AppliedEdit> applied;
    for (const TextEdit &edit : forward ? step.forward : step.backward)
        applied.push_back(apply(edit, scratch));
    m_locks = forward ? step.locksAfter : step.locksBefore;
    for (ProposalStep &entry : step.proposals) {
        Proposal wanted = forward ? entry.after : entry.before;
        const Proposal *now = proposal(wanted.id);
        // Which alternative is shown is no part of a step: what was chosen or put together since stays.
        if (now != nullptr && (now->chosen != wanted.chosen || now->alternatives != wanted.alternatives)) {
            wanted.alternatives = now->alternatives;
            wanted.chosen = now->chosen;
            if (wanted.isOpen())
                wanted = withChanges(wanted, standingOf(wanted));
        }
        replaceProposal(wanted, nullptr);
    }
    for (const ProposalStep &entry : scratch.proposals) {
        const bool isKnown = std::any_of(step.proposals.begin(), step.proposals.end(),
                                         [&entry](const ProposalStep &old) { return old.after.id == entry.after.id; });
        if (!isKnown)
            step.proposals.push_back(forward ? entry : ProposalStep{.before = entry.after, .after = entry.before});
    }
    return applied;
}

std::vector<AppliedEdit> Draft::undo()
{
    if (m_undo.empty())
        return {};
    Step step = std::move(m_undo.back());
    m_undo.pop_back();
    step.typing.reset();
    std::vector<AppliedEdit> applied = replay(step, false);
    m_redo.push_back(std::move(step));
    return applied;
}

std::vector<AppliedEdit> Draft::redo()
{
    if (m_redo.empty())
        return {};
    Step step = std::move(m_redo.back());
    m_redo.pop_back();
    std::vector<AppliedEdit> applied = replay(step, true);
    m_undo.push_back(std::move(step));
    return applied;
}

void Draft::replaceLocks(std::vector<TextSpan> locks, QString label)
{
    if (locks == m_locks)
        return;
    Step step = newStep(std::move(label));
    m_locks = std::move(locks);
    push(std::move(step));
}

TextSpan Draft::setLocked(TextSpan span, std::int64_t version, bool locked)
{
    const TextSpan words = snappedToWords(brought(span, version), m_text);
    if (words.empty())
        refuse("there is no word at " + std::to_string(span.start) + ":" + std::to_string(span.end), "start");
    if (locked)
        replaceLocks(withLock(m_locks, words), QStringLiteral("Lock"));
    else
        replaceLocks(withoutLock(m_locks, words, m_text), QStringLiteral("Unlock"));
    return words;
}

void Draft::unlockAll()
{
    replaceLocks({}, QStringLiteral("Unlock all"));
}

} // namespace palimpsest::editing
