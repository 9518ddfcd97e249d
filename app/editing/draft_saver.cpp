// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft_saver.h"

#include "app/documents/document_store.h"
#include "app/editing/stored_proposal.h"
#include "app/editing/utf8_text.h"
#include "engine/text_boundaries.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace palimpsest::editing {

using Clock = std::chrono::steady_clock;

struct DraftSaver::StoreSide
{
    documents::OpaqueId document;
    std::int64_t version = 0;
    std::string title;
    std::string settings;
    std::map<QString, documents::OpaqueId> runs;
    std::map<QString, documents::Proposal> proposals; ///< as they are on the disk
};

namespace {

std::vector<documents::LockedRange> lockedRanges(const QString &text, const std::vector<TextSpan> &locks)
{
    std::vector<documents::LockedRange> ranges;
    ranges.reserve(locks.size());
    for (const TextSpan &lock : locks)
        ranges.push_back({lock.start, lock.end, toUtf8(QStringView(text).mid(lock.start, lock.length()))});
    return ranges;
}

RevisionInfo infoOf(const documents::DocumentStore &store, const documents::OpaqueId &document, std::int64_t number)
{
    const documents::Revision revision = store.revision(document, number);
    return {revision.summary, countWords(revision.text)};
}

} // namespace

DraftSaver::Stored DraftSaver::load(documents::DocumentStore &store, const documents::OpaqueId &document)
{
    Stored stored;
    stored.document = store.document(document);
    stored.revisedText = store.revision(document, stored.document.summary.lastRevision).text;
    for (documents::Proposal &proposal : store.proposals(document)) {
        if (proposal.state == documents::ProposalState::Open)
            stored.proposals.push_back(std::move(proposal));
        else
            store.eraseProposal(proposal.id);
    }
    return stored;
}

DraftSaver::DraftSaver(documents::DocumentWorker &worker, const Stored &stored, Source source, const Timing &timing)
    : m_worker(worker),
      m_source(std::move(source)),
      m_timing(timing),
      m_side(std::make_shared<StoreSide>()),
      m_state{.revision = stored.document.summary.lastRevision, .saved = true, .problem = {}},
      m_revisedText(fromUtf8(stored.revisedText)),
      m_revisedAt(Clock::now())
{
    m_side->document = stored.document.summary.id;
    m_side->version = stored.document.summary.version;
    m_side->title = stored.document.summary.title;
    m_side->settings = stored.document.settings;
    const QString text = fromUtf8(stored.document.text);
    for (const documents::Proposal &proposal : stored.proposals) {
        if (const std::optional<Proposal> read = fromStored(proposal, text))
            m_side->proposals.emplace(read->id, proposal);
    }
    m_delay.setSingleShot(true);
    m_delay.setInterval(timing.saveDelay);
    connect(&m_delay, &QTimer::timeout, this, &DraftSaver::saveNow);
    m_retry.setSingleShot(true);
    m_retry.setInterval(timing.retryDelay);
    connect(&m_retry, &QTimer::timeout, this, &DraftSaver::next);
}

void DraftSaver::touch()
{
    if (m_abandoned)
        return;
    if (!m_delay.isActive()) // not put off by what comes after: typing without a pause is saved as well
        m_delay.start();
    setState(false, m_state.problem);
}

void DraftSaver::saveNow()
{
    m_delay.stop();
    if (m_abandoned)
        return;
    Save save{m_source(), std::nullopt, {}, {}};
    const bool isDue = Clock::now() - m_revisedAt >= m_timing.revisionEvery && save.snapshot.text != m_revisedText;
    if (isDue)
        save.revision = documents::NewRevision{};
    enqueue(std::move(save));
}

void DraftSaver::makeRevision(documents::NewRevision revision, const QString &run, Answer<RevisionInfo> answer)
{
    m_delay.stop();
    if (!m_abandoned)
        enqueue({m_source(), std::move(revision), run, std::move(answer)});
}

void DraftSaver::reviseWriting()
{
    if (!m_abandoned && m_source().text != m_revisedText)
        makeRevision({});
}

void DraftSaver::finish()
{
    if (m_abandoned)
        return;
    const bool isUnsaved = m_delay.isActive();
    m_delay.stop();
    if (m_source().text != m_revisedText)
        makeRevision({});
    else if (isUnsaved)
        saveNow();
}

void DraftSaver::finishAndWait()
{
    finish();
    m_retry.stop();
    if (m_abandoned || m_saves.empty())
        return;
    if (m_underWay) // how it ends will not be heard any more, so its text is saved once more
        m_saves.front().revision.reset();
    for (const Save &save : m_saves) {
        try {
            m_worker.run([side = m_side, &save](documents::DocumentStore &store) { return write(store, *side, save); })
                .get();
        } catch (const Error &error) {
            spdlog::error("the draft could not be saved at the end: {}", error.what());
        }
    }
    m_saves.clear();
}

void DraftSaver::abandon()
{
    m_abandoned = true;
    m_delay.stop();
    m_retry.stop();
    m_saves.clear();
}

void DraftSaver::follow(std::function<void(const documents::Document &)> take)
{
    const auto isClean = [this] {
        return !m_abandoned && m_state.saved && m_saves.empty();
    };
    if (!isClean())
        return;
    using Found = std::optional<documents::Document>;
    m_worker.run(
        [side = m_side](documents::DocumentStore &store) {
            documents::Document document = store.document(side->document);
            return document.summary.version == side->version && document.summary.title == side->title
                       ? std::nullopt
                       : Found(std::move(document));
        },
        m_replies,
        [this, isClean, take = std::move(take)](std::future<Found> future) {
            try {
                const Found found = future.get();
                if (!found || !isClean())
                    return; // what was written here meanwhile is saved as always: the other text becomes a revision
                (void)m_worker.run([side = m_side, version = found->summary.version,
                                    title = found->summary.title](documents::DocumentStore &) {
                    side->version = version;
                    side->title = title;
                });
                take(*found);
            } catch (const Error &error) { // the disk, or the document is deleted: the next save says it
                spdlog::debug("the draft could not be looked at: {}", error.what());
            }
        });
}

void DraftSaver::enqueue(Save save)
{
    if (save.revision) {
        m_revisedText = save.snapshot.text;
        m_revisedAt = Clock::now();
    }
    // Nobody needs a state between that no revision asks for. The first one may be under way.
    const bool replacesLast = m_saves.size() > (m_underWay ? 1U : 0U) && !m_saves.back().revision;
    if (replacesLast)
        m_saves.back() = std::move(save);
    else
        m_saves.push_back(std::move(save));
    setState(false, m_state.problem);
    next();
}

void DraftSaver::next()
{
    if (m_underWay || m_saves.empty())
        return;
    m_retry.stop();
    m_underWay = true;
    Save save = m_saves.front();
    save.answer = {}; // stays here
    m_worker.run(
        [side = m_side, save = std::move(save)](documents::DocumentStore &store) { return write(store, *side, save); },
        m_replies, [this](std::future<Outcome> future) { handle(std::move(future)); });
}

void DraftSaver::handle(std::future<Outcome> future)
{
    m_underWay = false;
    if (m_abandoned)
        return;
    Outcome outcome;
    try {
        outcome = future.get();
    } catch (const Error &error) { // the edge to the store: said to the writer, and tried again
        spdlog::warn("the draft could not be saved: {}", error.what());
        setState(false, QString::fromUtf8(error.what()));
        if (error.kind() != ErrorKind::NotFound) // deleted by another program: trying again does not bring it back
            m_retry.start();
        return;
    }
    Save done = std::move(m_saves.front());
    m_saves.pop_front();
    for (const std::optional<RevisionInfo> &revision : {outcome.foreign, outcome.revision}) {
        if (!revision)
            continue;
        m_state.revision = revision->summary.number;
        Q_EMIT revisionAdded(*revision);
    }
    setState(m_saves.empty() && !m_delay.isActive(), {});
    Q_EMIT saved();
    if (done.answer && outcome.revision)
        done.answer(*outcome.revision);
    next();
}

void DraftSaver::setState(bool saved, const QString &problem)
{
    const SaveState now{.revision = m_state.revision, .saved = saved, .problem = problem};
    if (std::exchange(m_state, now) != now)
        Q_EMIT stateChanged();
}

DraftSaver::Outcome DraftSaver::write(documents::DocumentStore &store, StoreSide &side, const Save &save)
{
    const Snapshot &snapshot = save.snapshot;
    documents::DocumentChange change;
    // Only what was changed here: another program may have changed the other.
    if (std::string title = toUtf8(snapshot.title); title != side.title)
        change.title = std::move(title);
    if (snapshot.settings.toStdString() != side.settings)
        change.settings = snapshot.settings.toStdString();
    change.text = toUtf8(snapshot.text);
    change.locks = lockedRanges(snapshot.text, snapshot.locks);
    change.revision = save.revision;
    if (const auto run = side.runs.find(save.run); change.revision && run != side.runs.end())
        change.revision->run = run->second;
    change.expectedVersion = side.version;
    Outcome outcome;
    documents::SaveOutcome written = store.save(side.document, change);
    if (!written.saved) {
        const documents::RevisionSummary foreign =
            store.addRevision(side.document, {.label = "Saved by another program"});
        outcome.foreign = infoOf(store, side.document, foreign.number);
        change.expectedVersion.reset();
        written = store.save(side.document, change);
    }
    side.version = written.document.version;
    side.title = change.title.value_or(side.title);
    side.settings = change.settings.value_or(side.settings);
    if (written.revision)
        outcome.revision = infoOf(store, side.document, *written.revision);
    writeProposals(store, side, snapshot);
    return outcome;
}

void DraftSaver::writeProposals(documents::DocumentStore &store, StoreSide &side, const Snapshot &snapshot)
{
    for (const Proposal &proposal : snapshot.proposals) {
        documents::Proposal wanted = toStored(proposal, snapshot.text.mid(proposal.span.start, proposal.span.length()));
        if (const auto run = side.runs.find(proposal.run); run != side.runs.end())
            wanted.run = run->second;
        const auto known = side.proposals.find(proposal.id);
        if (known == side.proposals.end()) {
            if (proposal.isOpen())
                side.proposals.emplace(proposal.id, store.addProposal(side.document, std::move(wanted)));
            continue;
        }
        wanted.id = known->second.id;
        wanted.createdMs = known->second.createdMs;
        if (!wanted.run)
            wanted.run = known->second.run;
        if (wanted == known->second)
            continue;
        store.updateProposal(wanted);
        known->second = std::move(wanted);
    }
}

void DraftSaver::beginRun(const QString &run, std::string metadata)
{
    m_worker.run(
        [side = m_side, run, metadata = std::move(metadata)](documents::DocumentStore &store) {
            documents::OpaqueId id = store.beginRun(side->document, metadata);
            side->runs.emplace(run, id);
            return id;
        },
        m_replies,
        [this, run](std::future<documents::OpaqueId> future) {
            try {
                m_storedRuns.insert(run, QString::fromStdString(future.get()));
            } catch (const Error &error) { // the run itself goes on: it is its history that will not be there later
                spdlog::warn("the history of a run cannot be kept: {}", error.what());
            }
        });
}

void DraftSaver::keepSteps(const QString &run, std::vector<RunHistory::Batch> batches)
{
    if (batches.empty())
        return;
    m_worker.run(
        [side = m_side, run, batches = std::move(batches)](documents::DocumentStore &store) {
            const auto id = side->runs.find(run);
            if (id == side->runs.end())
                return; // could not be begun, which was said then
            for (const RunHistory::Batch &batch : batches)
                store.appendSteps(id->second, batch.canvas, batch.steps);
        },
        m_replies,
        [](std::future<void> future) {
            try {
                future.get();
            } catch (const Error &error) {
                spdlog::warn("steps of a run's history could not be kept: {}", error.what());
            }
        });
}

void DraftSaver::endRun(const QString &run, std::string metadata)
{
    m_worker.run(
        [side = m_side, run, metadata = std::move(metadata)](documents::DocumentStore &store) {
            if (const auto id = side->runs.find(run); id != side->runs.end())
                store.setRunMetadata(id->second, metadata);
        },
        m_replies,
        [](std::future<void> future) {
            try {
                future.get();
            } catch (const Error &error) {
                spdlog::warn("how a run ended could not be kept: {}", error.what());
            }
        });
}

QString DraftSaver::ownRun(const QString &stored) const
{
    return m_storedRuns.key(stored, stored);
}

} // namespace palimpsest::editing
