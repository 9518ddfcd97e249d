// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft_session.h"

#include "app/documents/document_store.h"
#include "app/editing/session_state.h"
#include "app/editing/stored_proposal.h"
#include "app/editing/utf8_text.h"
#include "engine/text_boundaries.h"

#include <QJsonDocument>
#include <QUuid>

#include <algorithm>
#include <utility>

namespace palimpsest::editing {

namespace {

std::vector<TextSpan> spansOf(const std::vector<documents::LockedRange> &locks)
{
    std::vector<TextSpan> spans;
    spans.reserve(locks.size());
    for (const documents::LockedRange &lock : locks)
        spans.push_back({static_cast<qsizetype>(lock.begin), static_cast<qsizetype>(lock.end)});
    return spans;
}

QJsonObject objectOf(const std::string &json)
{
    return QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
}

template <typename Value>
void answerFrom(std::future<Value> &future, const Answer<Value> &answer)
{
    try {
        answer(future.get());
    } catch (const Error &error) { // the edge to the store's thread
        answer(error);
    }
}

} // namespace

QString newId()
{
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

DraftSession::State::State(DraftSession &theSession, Setup setup)
    : session(theSession),
      worker(setup.worker),
      model(std::move(setup.model)),
      document(QString::fromStdString(setup.stored.document.summary.id)),
      title(fromUtf8(setup.stored.document.summary.title)),
      draft(fromUtf8(setup.stored.document.text), spansOf(setup.stored.document.locks)),
      settings(objectOf(setup.stored.document.settings)),
      saver(
          setup.worker, setup.stored, [this] { return snapshot(); }, setup.timing),
      toldLocks(draft.locks())
{
    clock.start();
    for (const documents::Proposal &stored : setup.stored.proposals) {
        if (std::optional<Proposal> proposal = fromStored(stored, draft.text()))
            draft.addProposal(*std::move(proposal));
    }
    (void)draft.takeChangedProposals();
    QObject::connect(&saver, &DraftSaver::stateChanged, &session, &DraftSession::saveStateChanged);
    QObject::connect(&saver, &DraftSaver::revisionAdded, &session, [this](RevisionInfo revision) {
        if (revision.summary.run)
            revision.summary.run = saver.ownRun(QString::fromStdString(*revision.summary.run)).toStdString();
        revisionWords.insert(revision.summary.number, revision.words);
        Q_EMIT session.revisionAdded(revision);
    });
}

EditAuthor DraftSession::State::author(WindowId window, EditCause cause) const
{
    return {.window = window, .cause = cause, .nowMs = clock.elapsed()};
}

DraftSaver::Snapshot DraftSession::State::snapshot() const
{
    return {.title = title,
            .text = draft.text(),
            .locks = draft.locks(),
            .settings = QJsonDocument(settings).toJson(QJsonDocument::Compact),
            .proposals = draft.proposals()};
}

void DraftSession::State::afterEdits(const std::vector<AppliedEdit> &edits, WindowId by, EditCause cause)
{
    for (const AppliedEdit &edit : edits)
        Q_EMIT session.edited(edit, by, cause);
    // A run that ends by this is taken out only later, so that none goes while the list is walked through. By index:
    // one may come.
    for (std::size_t i = 0; i < runs.size(); ++i) // NOLINT(modernize-loop-convert)
        runs[i]->draftEdited(edits, draft.text());
    announce();
}

void DraftSession::State::announce()
{
    if (std::exchange(toldLocks, draft.locks()) != draft.locks())
        Q_EMIT session.locksChanged();
    for (const QString &proposal : draft.takeChangedProposals())
        Q_EMIT session.proposalChanged(proposal);
    const UndoLabels labels = draft.undoLabels();
    if (std::exchange(toldLabels, labels) != labels)
        Q_EMIT session.undoableChanged();
    if (!isFollowing)
        saver.touch();
}

DraftSession::DraftSession(Setup setup) : m_state(std::make_unique<State>(*this, std::move(setup))) {}

DraftSession::~DraftSession() = default;

const QString &DraftSession::document() const noexcept
{
    return m_state->document;
}

const QString &DraftSession::title() const noexcept
{
    return m_state->title;
}

const Draft &DraftSession::draft() const noexcept
{
    return m_state->draft;
}

const QJsonObject &DraftSession::settings() const noexcept
{
    return m_state->settings;
}

const SaveState &DraftSession::saveState() const noexcept
{
    return m_state->saver.state();
}

AppliedEdit DraftSession::edit(WindowId window, std::int64_t version, const TextEdit &edit, bool typing)
{
    const EditCause cause = typing ? EditCause::Typing : EditCause::Edit;
    AppliedEdit applied = m_state->draft.edit(edit, version, m_state->author(window, cause));
    m_state->afterEdits({applied}, window, cause);
    return applied;
}

void DraftSession::editAll(WindowId, const std::vector<TextEdit> &edits, const QString &label)
{
    m_state->afterEdits(m_state->draft.editAll(edits, label), kNobody, EditCause::Edit);
}

std::int64_t DraftSession::undo()
{
    if (!draft().undoLabels().undo)
        return draft().version();
    m_state->afterEdits(m_state->draft.undo(), kNobody, EditCause::Undo);
    return draft().version();
}

std::int64_t DraftSession::redo()
{
    if (!draft().undoLabels().redo)
        return draft().version();
    m_state->afterEdits(m_state->draft.redo(), kNobody, EditCause::Redo);
    return draft().version();
}

TextSpan DraftSession::setLocked(std::int64_t version, TextSpan span, bool locked)
{
    const TextSpan held = m_state->draft.setLocked(span, version, locked);
    m_state->announce();
    return held;
}

void DraftSession::unlockAll()
{
    m_state->draft.unlockAll();
    m_state->announce();
}

void DraftSession::rename(const QString &title)
{
    const QString wanted = cleaned(title);
    if (wanted == m_state->title)
        return;
    m_state->title = wanted;
    Q_EMIT titleChanged();
    m_state->saver.touch();
}

void DraftSession::mergeSettings(const QJsonObject &changes)
{
    QJsonObject merged = m_state->settings;
    for (auto field = changes.begin(); field != changes.end(); ++field) {
        if (field.value().isNull())
            merged.remove(field.key());
        else
            merged.insert(field.key(), field.value());
    }
    State::checkSettings(merged);
    if (merged == m_state->settings)
        return;
    m_state->settings = merged;
    Q_EMIT settingsChanged();
    m_state->saver.touch();
}

void DraftSession::followStore()
{
    m_state->saver.follow([this](const documents::Document &document) {
        State &state = *m_state;
        if (const QString theirs = fromUtf8(document.summary.title); theirs != state.title) {
            state.title = theirs;
            Q_EMIT titleChanged();
        }
        const QString text = fromUtf8(document.text);
        const std::vector<TextSpan> locks = spansOf(document.locks);
        if (text == state.draft.text() && locks == state.draft.locks())
            return;
        state.isFollowing = true;
        state.afterEdits(state.draft.restore(text, locks), kNobody, EditCause::Restore);
        state.isFollowing = false;
    });
}

void DraftSession::revisions(Answer<std::vector<RevisionInfo>> answer)
{
    using Revisions = std::vector<RevisionInfo>;
    const std::string document = m_state->document.toStdString();
    m_state->worker.run(
        [document, known = m_state->revisionWords](documents::DocumentStore &store) {
            Revisions revisions;
            for (const documents::RevisionSummary &summary : store.revisions(document)) {
                const auto words = known.constFind(summary.number);
                revisions.push_back({summary, words != known.constEnd()
                                                  ? *words
                                                  : countWords(store.revision(document, summary.number).text)});
            }
            return revisions;
        },
        m_state->saver.replies(),
        [this, answer = std::move(answer)](std::future<Revisions> future) {
            answerFrom<Revisions>(future, [this, &answer](std::variant<Revisions, Error> outcome) {
                if (auto *revisions = std::get_if<Revisions>(&outcome)) {
                    for (RevisionInfo &revision : *revisions) {
                        m_state->revisionWords.insert(revision.summary.number, revision.words);
                        if (std::optional<std::string> &run = revision.summary.run)
                            run = m_state->saver.ownRun(QString::fromStdString(*run)).toStdString();
                    }
                }
                answer(std::move(outcome));
            });
        });
}

void DraftSession::revisionText(std::int64_t revision, Answer<QString> answer)
{
    m_state->worker.run(
        [document = m_state->document.toStdString(), revision](documents::DocumentStore &store) {
            return fromUtf8(store.revision(document, revision).text);
        },
        m_state->saver.replies(),
        [answer = std::move(answer)](std::future<QString> future) { answerFrom(future, answer); });
}

void DraftSession::restoreRevision(std::int64_t revision, Answer<std::int64_t> answer)
{
    m_state->worker.run(
        [document = m_state->document.toStdString(), revision](documents::DocumentStore &store) {
            return store.revision(document, revision);
        },
        m_state->saver.replies(),
        [this, answer = std::move(answer)](std::future<documents::Revision> future) {
            answerFrom<documents::Revision>(future, [this, &answer](std::variant<documents::Revision, Error> outcome) {
                if (const auto *error = std::get_if<Error>(&outcome)) {
                    answer(*error);
                    return;
                }
                const auto &stored = std::get<documents::Revision>(outcome);
                m_state->saver.reviseWriting();
                m_state->afterEdits(m_state->draft.restore(fromUtf8(stored.text), spansOf(stored.locks)), kNobody,
                                    EditCause::Restore);
                m_state->saver.makeRevision({.origin = documents::Origin::Restored,
                                             .parent = stored.summary.number,
                                             .label = "Revision " + std::to_string(stored.summary.number),
                                             .model = stored.summary.model});
                answer(draft().version());
            });
        });
}

void DraftSession::addRevision(const QString &label, Answer<std::int64_t> answer)
{
    m_state->saver.makeRevision({.label = toUtf8(cleaned(label))}, {},
                                [answer = std::move(answer)](std::variant<RevisionInfo, Error> outcome) {
                                    if (const auto *error = std::get_if<Error>(&outcome))
                                        answer(*error);
                                    else
                                        answer(std::get<RevisionInfo>(outcome).summary.number);
                                });
}

} // namespace palimpsest::editing
