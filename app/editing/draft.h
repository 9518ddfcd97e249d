// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/proposal.h"
#include "app/editing/run_wish.h"
#include "app/editing/text_edit.h"

#include <QString>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace palimpsest::editing {

/// Why a draft changed.
enum class EditCause { Typing, Edit, Accept, Undo, Redo, Restore, Branch, Direct };
/// "typing", "edit", ...
[[nodiscard]] QString nameOf(EditCause cause);

/// Who changes a draft, and when: what typing is joined by.
struct EditAuthor
{
    WindowId window = kNobody;
    EditCause cause = EditCause::Edit;
    std::int64_t nowMs = 0; ///< of any steady clock
};

/// An edit as it was applied; `version` is that of the text behind it.
struct AppliedEdit
{
    TextEdit edit;
    std::int64_t version = 0;
};

/// One entry of the undo list, as far as people are told.
struct UndoLabels
{
    std::optional<QString> undo; ///< what undoing would take back: "Typing", "Accept"; absent: nothing
    std::optional<QString> redo;

    friend bool operator==(const UndoLabels &, const UndoLabels &) = default;
};

/// A text with its locked words, its proposals, and the way back and forth through its changes.
///
/// The text has a version that each edit raises by one; an edit of an older version is moved over what came in since
/// (text_edit.h). Every acceptance, rejection, lock, restore and branch is one step of the undo list, and so is a run
/// of typing by one window: letters put in (or taken away) at one place, each within kTypingPauseMs of the one before,
/// up to a line end. Undoing and redoing return text, locks and the states of proposals. Locks bind the model, not the
/// writer: an edit inside a locked word changes the word and leaves it locked.
///
/// A value without threads, clocks and files. Throws Error InvalidArgument for what a caller got wrong; its subject
/// names the field, or is kStaleSubject for positions of a version that is forgotten or yet to come.
class Draft
{
public:
    static constexpr std::int64_t kTypingPauseMs = 2000;
    static constexpr qsizetype kTypingLetters = 80;
    static constexpr qsizetype kMostUnits = 8LL << 20; ///< UTF-16 code units of a draft; what the store takes at least
    static constexpr std::size_t kRememberedEdits = 4096; ///< how far back a version may be
    static constexpr std::size_t kUndoSteps = 2000;

    explicit Draft(QString text = {}, const std::vector<TextSpan> &locks = {});

    [[nodiscard]] const QString &text() const noexcept { return m_text; }
    [[nodiscard]] std::int64_t version() const noexcept { return m_version; }
    [[nodiscard]] const std::vector<TextSpan> &locks() const noexcept { return m_locks; }
    [[nodiscard]] const std::vector<Proposal> &proposals() const noexcept { return m_proposals; }
    [[nodiscard]] const Proposal *proposal(QStringView id) const noexcept;
    [[nodiscard]] UndoLabels undoLabels() const;
    [[nodiscard]] QString textOf(TextSpan span) const { return m_text.mid(span.start, span.length()); }

    /// Where an edit or span of an older version lies in the text of today. Checks it against nothing but the version.
    [[nodiscard]] TextEdit brought(TextEdit edit, std::int64_t version) const;
    [[nodiscard]] TextSpan brought(TextSpan span, std::int64_t version) const;

    // Each returns what was done to the text, in order.

    AppliedEdit edit(const TextEdit &edit, std::int64_t version, const EditAuthor &author);
    /// Several edits, each in the positions that the one before left behind, as one step.
    std::vector<AppliedEdit> editAll(const std::vector<TextEdit> &edits, const QString &label);
    /// The text and locks of a revision, as one step; only the words that differ are edited.
    std::vector<AppliedEdit> restore(const QString &text, const std::vector<TextSpan> &locks);
    /// Nothing if there is no step.
    std::vector<AppliedEdit> undo();
    std::vector<AppliedEdit> redo();

    /// Locks or releases whole words; returns the span as held. One step. Throws Error InvalidArgument ("start") where
    /// there is no word to lock.
    TextSpan setLocked(TextSpan span, std::int64_t version, bool locked);
    void unlockAll();

    /// No step of its own.
    void addProposal(Proposal proposal);
    std::vector<AppliedEdit> accept(const QString &id, std::optional<std::size_t> change, std::optional<int> words,
                                    const EditAuthor &author);
    void reject(const QString &id, std::optional<std::size_t> change);
    // What follows is no step: it changes what is offered, not what was written.
    void choose(const QString &id, std::size_t alternative);
    void take(const QString &id, std::size_t alternative, TextSpan words);
    void writeOwn(const QString &id, const QString &text);
    /// Replaces an open proposal by one of the same id (which has more alternatives, for instance).
    void replaceOpen(const Proposal &proposal);

    /// Ids of the proposals of which more than the positions changed since the last call.
    [[nodiscard]] std::vector<QString> takeChangedProposals();

private:
    struct ProposalStep
    {
        Proposal before;
        Proposal after;
    };
    /// The typing that a step was made of, for what may still join it.
    struct Typing
    {
        EditAuthor author;
        qsizetype caret = 0;
        qsizetype letters = 0;
        bool deletes = false;
        bool closed = false; ///< a line end was typed
    };
    /// Both directions of one change of text, locks and proposals.
    struct Step
    {
        QString label;
        std::vector<TextEdit> forward;
        std::vector<TextEdit> backward; ///< in the order in which they are applied
        std::vector<TextSpan> locksBefore;
        std::vector<TextSpan> locksAfter;
        std::vector<ProposalStep> proposals; ///< whose state the step changed
        std::optional<Typing> typing;
    };

    [[nodiscard]] Step newStep(QString label) const;
    void push(Step step);
    AppliedEdit apply(const TextEdit &edit, Step &step);
    std::vector<AppliedEdit> replay(Step &step, bool forward);
    void replaceLocks(std::vector<TextSpan> locks, QString label);
    enum class Remember { Decisions, Places };
    void replaceProposal(const Proposal &proposal, Step *step, Remember remember = Remember::Decisions);
    [[nodiscard]] static Proposal beforeStep(Proposal proposal, const Step &step);
    [[nodiscard]] const Proposal &requireProposal(QStringView id) const;
    [[nodiscard]] StandingText standingOf(const Proposal &proposal) const;
    [[nodiscard]] Proposal withoutLockedChanges(const Proposal &proposal, std::optional<std::size_t> change) const;
    [[nodiscard]] bool joins(const TextEdit &edit, const EditAuthor &author) const;
    void noteTyping(const TextEdit &edit, const EditAuthor &author);
    void requireVersion(std::int64_t version) const;

    QString m_text;
    std::int64_t m_version = 0;
    std::vector<TextSpan> m_locks; ///< ascending, apart
    std::vector<Proposal> m_proposals;
    std::vector<QString> m_changedProposals;
    std::deque<TextEdit> m_log; ///< the last edits; the newest led to m_version
    std::deque<Step> m_undo;
    std::vector<Step> m_redo;
};

} // namespace palimpsest::editing
