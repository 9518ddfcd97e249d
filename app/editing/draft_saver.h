// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"
#include "app/documents/document_worker.h"
#include "app/editing/draft_session.h"
#include "app/editing/proposal.h"
#include "app/editing/run_history.h"

#include <QByteArray>
#include <QHash>
#include <QObject>
#include <QString>
#include <QTimer>

#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace palimpsest::editing {

/// Brings one draft to the disk: what is typed, soon after it was typed; revisions, proposals and the steps of runs as
/// they come. Goes on trying when the disk refuses, and says so.
///
/// Lives on its session's thread; the store's thread does the work. Saves are made in order, one at a time. If another
/// program has changed the document meanwhile, its text is kept as a revision before this one is saved over it.
class DraftSaver : public QObject
{
    Q_OBJECT

public:
    struct Timing
    {
        std::chrono::milliseconds saveDelay{600};
        std::chrono::milliseconds retryDelay{3'000};
        std::chrono::milliseconds revisionEvery{600'000};
    };
    /// The draft as it is to be saved. Texts are shared, not copied.
    struct Snapshot
    {
        QString title;
        QString text;
        std::vector<TextSpan> locks;
        QByteArray settings; ///< JSON
        std::vector<Proposal> proposals;
    };
    using Source = std::function<Snapshot()>;

    /// The document as the store has it.
    struct Stored
    {
        documents::Document document;
        std::string revisedText;                    ///< text of its last revision
        std::vector<documents::Proposal> proposals; ///< those that are open
    };
    /// Reads it; proposals that are settled, or whose run never ended, are erased. For the store's thread.
    [[nodiscard]] static Stored load(documents::DocumentStore &store, const documents::OpaqueId &document);

    DraftSaver(documents::DocumentWorker &worker, const Stored &stored, Source source, const Timing &timing);

    /// Something of the draft has changed: saves it soon.
    void touch();
    /// The same at once.
    void saveNow();
    /// Saves the draft as it is now, as a revision. `run` is a run's id ("" = none). The answer comes when it is on the
    /// disk, at last; or never, if the program ends before.
    void makeRevision(documents::NewRevision revision, const QString &run = {}, Answer<RevisionInfo> answer = {});
    /// A revision of what the writer wrote since the last one, if that is anything: before a model changes the text.
    void reviseWriting();
    /// The last save of a document that is closed; a revision, if the text has changed since the last one.
    void finish();
    /// The same, waiting for the disk: at the end of the program.
    void finishAndWait();
    /// Nothing is saved any more: the document is deleted.
    void abandon();
    /// Looks whether somebody else has saved the document since this session did. If so, and if nothing of this session
    /// is unsaved, `take` gets it, and later saves count from there; else nothing happens.
    void follow(std::function<void(const documents::Document &)> take);

    void beginRun(const QString &run, std::string metadata);
    void keepSteps(const QString &run, std::vector<RunHistory::Batch> batches);
    void endRun(const QString &run, std::string metadata);
    /// The name that the store has given a run; "" = none yet.
    [[nodiscard]] QString storedRun(const QString &run) const { return m_storedRuns.value(run); }
    /// The way back; the store's name itself if the run is not one of this session.
    [[nodiscard]] QString ownRun(const QString &stored) const;

    [[nodiscard]] const SaveState &state() const noexcept { return m_state; }
    [[nodiscard]] bool idle() const noexcept { return m_saves.empty() && !m_delay.isActive(); }
    [[nodiscard]] documents::DocumentReplies &replies() noexcept { return m_replies; }

Q_SIGNALS:
    void stateChanged();
    void revisionAdded(const palimpsest::editing::RevisionInfo &revision);
    void saved(); ///< something is on the disk now

private:
    struct Save
    {
        Snapshot snapshot;
        std::optional<documents::NewRevision> revision;
        QString run;
        Answer<RevisionInfo> answer;
    };
    /// What the store calls things. Touched by the store's thread alone.
    struct StoreSide;
    struct Outcome
    {
        std::optional<RevisionInfo> revision;
        std::optional<RevisionInfo> foreign; ///< another program's text, kept as a revision
    };

    void enqueue(Save save);
    void next();
    void handle(std::future<Outcome> future);
    void setState(bool saved, const QString &problem);
    static Outcome write(documents::DocumentStore &store, StoreSide &side, const Save &save);
    static void writeProposals(documents::DocumentStore &store, StoreSide &side, const Snapshot &snapshot);

    documents::DocumentWorker &m_worker;
    documents::DocumentReplies m_replies;
    Source m_source;
    Timing m_timing;
    std::shared_ptr<StoreSide> m_side;
    QTimer m_delay;
    QTimer m_retry;
    std::deque<Save> m_saves; ///< the first is under way, or waits to be tried again
    bool m_underWay = false;
    bool m_abandoned = false;
    SaveState m_state;
    QString m_revisedText; ///< text of the last revision
    std::chrono::steady_clock::time_point m_revisedAt;
    QHash<QString, QString> m_storedRuns;
};

} // namespace palimpsest::editing
