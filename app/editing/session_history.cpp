// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What a session does with the steps of its runs, and with proposals.

#include "app/editing/session_state.h"

#include "app/documents/document_store.h"
#include "app/editing/locked_words.h"
#include "app/editing/stored_run.h"
#include "engine/error.h"

#include <utility>

namespace palimpsest::editing {

namespace {

/// Histories that were read back from the disk, kept for the next frame.
constexpr qsizetype kLoadedHistories = 4;

/// Hands on what `make` makes of a history, or the error.
template <typename Value, typename Make>
Answer<std::shared_ptr<const RunHistory>> thenAnswer(Answer<Value> answer, Make make)
{
    return [answer = std::move(answer), make](std::variant<std::shared_ptr<const RunHistory>, Error> outcome) {
        if (const auto *error = std::get_if<Error>(&outcome)) {
            answer(*error);
            return;
        }
        std::optional<Value> value;
        try {
            value = make(*std::get<std::shared_ptr<const RunHistory>>(outcome));
        } catch (const Error &error) { // a step that is not there
            answer(error);
            return;
        }
        answer(*std::move(value));
    };
}

} // namespace

void DraftSession::State::withHistory(const QString &run, Answer<std::shared_ptr<const RunHistory>> answer)
{
    if (const DraftRun *found = find(run)) {
        // Not owned: used up before anything can happen to the run.
        answer(std::shared_ptr<const RunHistory>(std::shared_ptr<const RunHistory>(), &found->history()));
        return;
    }
    if (const auto loaded = loadedHistories.constFind(run); loaded != loadedHistories.constEnd()) {
        answer(*loaded);
        return;
    }
    const std::shared_ptr<const EditingModel> running = model->require();
    using Loaded = std::shared_ptr<RunHistory>;
    worker.run(
        [document = document.toStdString(), run = run.toStdString(), running](documents::DocumentStore &store) {
            return loadHistory(store, document, run, running->running->id, running->running->tokenizer);
        },
        saver.replies(),
        [this, run, answer = std::move(answer)](std::future<Loaded> future) {
            std::shared_ptr<const RunHistory> history;
            try {
                history = future.get();
            } catch (const Error &error) { // the edge to the store's thread
                answer(error);
                return;
            }
            if (loadedHistories.size() >= kLoadedHistories)
                loadedHistories.clear();
            loadedHistories.insert(run, history);
            answer(history);
        });
}

std::optional<TextSpan> DraftSession::State::findPlace(const QString &run, int lane) const
{
    std::optional<TextSpan> place;
    const DraftRun *found = find(run);
    if (found != nullptr && lane >= 0 && static_cast<std::size_t>(lane) < found->history().lanes())
        place = found->laneSpan(static_cast<std::size_t>(lane));
    for (const Proposal &proposal : draft.proposals()) {
        const bool isWhole = proposal.run == run && proposal.action != RunAction::Proofread;
        if (isWhole && proposal.state != ProposalState::Dropped)
            place = proposal.span; // knows of what was accepted
    }
    return place;
}

TextSpan DraftSession::State::placeOf(const QString &run, int lane) const
{
    const std::optional<TextSpan> place = findPlace(run, lane);
    if (!place)
        throw Error(ErrorKind::InvalidArgument, "the text that the run was meant for is no longer there",
                    kStaleSubject);
    return *place;
}

void DraftSession::history(const QString &run, Answer<RunCurves> answer)
{
    m_state->withHistory(
        run, thenAnswer<RunCurves>(std::move(answer), [](const RunHistory &history) { return history.curves(); }));
}

void DraftSession::historyFrame(const QString &run, int lane, std::int64_t canvas, int step, Answer<Frame> answer)
{
    m_state->withHistory(run, thenAnswer<Frame>(std::move(answer), [lane, canvas, step](const RunHistory &history) {
                             return history.frame(lane, canvas, step);
                         }));
}

void DraftSession::historyText(const QString &run, int lane, std::int64_t canvas, int step, Answer<QString> answer)
{
    m_state->withHistory(run, thenAnswer<QString>(std::move(answer), [lane, canvas, step](const RunHistory &history) {
                             return history.textAt(lane, canvas, step);
                         }));
}

std::optional<TextSpan> DraftSession::placeOfRun(const QString &run, int lane) const
{
    return m_state->findPlace(run, lane);
}

void DraftSession::branch(const QString &run, int lane, std::int64_t canvas, int step, Answer<BranchInfo> answer)
{
    m_state->withHistory(run, [this, run, lane, canvas, step, answer = std::move(answer)](
                                  std::variant<std::shared_ptr<const RunHistory>, Error> outcome) {
        if (const auto *error = std::get_if<Error>(&outcome)) {
            answer(*error);
            return;
        }
        try {
            const QString text = std::get<std::shared_ptr<const RunHistory>>(outcome)->textAt(lane, canvas, step);
            m_state->branch(run, lane, text, step, answer);
        } catch (const Error &error) { // a step or a place that is not there
            answer(error);
        }
    });
}

void DraftSession::acceptProposal(WindowId window, const QString &proposal, std::optional<std::size_t> change,
                                  std::optional<int> words)
{
    const Proposal *before = draft().proposal(proposal);
    if (before != nullptr && before->isOpen())
        m_state->saver.reviseWriting();
    m_state->afterEdits(m_state->draft.accept(proposal, change, words, m_state->author(window, EditCause::Accept)),
                        kNobody, EditCause::Accept);
    // One revision for a proposal, not one for each of its changes.
    if (const Proposal *now = draft().proposal(proposal); !now->isOpen())
        m_state->saver.makeRevision({.origin = documents::Origin::Model, .model = modelOriginOf(*now)}, now->run);
}

void DraftSession::rejectProposal(const QString &proposal, std::optional<std::size_t> change)
{
    m_state->draft.reject(proposal, change);
    m_state->announce();
}

void DraftSession::chooseAlternative(const QString &proposal, std::size_t alternative)
{
    m_state->draft.choose(proposal, alternative);
    m_state->announce();
}

void DraftSession::takeWords(const QString &proposal, std::size_t alternative, TextSpan words)
{
    m_state->draft.take(proposal, alternative, words);
    m_state->announce();
}

void DraftSession::writeOwn(const QString &proposal, const QString &text)
{
    m_state->draft.writeOwn(proposal, text);
    m_state->announce();
}

QString DraftSession::offerText(std::int64_t version, TextSpan span, const QString &text, const ProposalOrigin &origin)
{
    Draft &draft = m_state->draft;
    Proposal proposal;
    proposal.id = newId();
    proposal.action = RunAction::Fill;
    proposal.span = draft.brought(span, version);
    proposal.origin = origin;
    proposal.original = draft.textOf(proposal.span);
    const QString offered = spaced(cleaned(text), draft.text(), proposal.span);
    if (offered.isEmpty() || offered == proposal.original)
        throw Error(ErrorKind::InvalidArgument, "there is nothing in it to put into the draft", "text");
    ProposalAlternative &alternative = proposal.alternatives.emplace_back();
    alternative.text = offered;
    alternative.seed = origin.seed;
    QString id = proposal.id;
    StandingText standing{draft.textOf(proposal.span), locksInside(draft.locks(), proposal.span)};
    draft.addProposal(withChanges(std::move(proposal), standing));
    m_state->announce();
    return id;
}

} // namespace palimpsest::editing
