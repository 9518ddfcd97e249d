// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document_worker.h"
#include "app/editing/draft_run.h"
#include "app/editing/draft_saver.h"
#include "app/editing/draft_session.h"
#include "app/editing/model_cache.h"

#include <QElapsedTimer>
#include <QHash>
#include <QPointer>

#include <cstddef>
#include <memory>
#include <vector>

namespace palimpsest::editing {

// The inside of DraftSession, for the files that it is made of and for SessionRegistry.

struct DraftSession::Setup
{
    DraftSaver::Stored stored;
    documents::DocumentWorker &worker;
    std::shared_ptr<ModelCache> model;
    DraftSaver::Timing timing;
};

struct DraftSession::State
{
    State(DraftSession &theSession, Setup setup);

    // What every change of the draft is followed by.

    void afterEdits(const std::vector<AppliedEdit> &edits, WindowId by, EditCause cause);
    /// Tells of locks, proposals and the undo list as far as they changed, and has the draft saved.
    void announce();
    [[nodiscard]] EditAuthor author(WindowId window, EditCause cause) const;
    [[nodiscard]] DraftSaver::Snapshot snapshot() const;

    // Runs

    /// Throws Error NotFound.
    [[nodiscard]] DraftRun &require(const QString &run) const;
    [[nodiscard]] DraftRun *find(const QString &run) const;
    QString start(DraftRun::Setup setup);
    [[nodiscard]] PlanInput inputFor(const RunWish &wish, std::optional<std::uint64_t> seed) const;
    void runFinished(DraftRun &run);
    /// The proposal that a run's texts join: an open one for the same place, as it was when that run began.
    [[nodiscard]] const Proposal *openSibling(const Proposal &proposal) const;
    void offer(DraftRun &run, Proposal proposal);
    void keepSteps(DraftRun &run, bool all);
    void forgetOldRuns();

    // History

    void withHistory(const QString &run, Answer<std::shared_ptr<const RunHistory>> answer);
    [[nodiscard]] std::optional<TextSpan> findPlace(const QString &run, int lane) const;
    /// Where a run's text stands now. Throws Error NotFound, or kStaleSubject if it stands nowhere any more.
    [[nodiscard]] TextSpan placeOf(const QString &run, int lane) const;
    void branch(const QString &run, int lane, const QString &text, int step, Answer<BranchInfo> answer);

    /// Settings that are known here. Throws Error InvalidArgument.
    static void checkSettings(const QJsonObject &settings);
    [[nodiscard]] std::optional<std::uint64_t> settledSeed() const;

    DraftSession &session;
    documents::DocumentWorker &worker;
    std::shared_ptr<ModelCache> model;
    QString document;
    QString title;
    Draft draft;
    QJsonObject settings;
    DraftSaver saver;
    QElapsedTimer clock;
    std::vector<TextSpan> toldLocks;
    UndoLabels toldLabels;
    std::vector<std::unique_ptr<DraftRun>> runs; ///< oldest first
    QHash<QString, std::shared_ptr<const RunHistory>> loadedHistories;
    QHash<std::int64_t, std::int64_t> revisionWords;
    bool isGone = false;
    bool isFollowing = false; ///< what is being done to the draft comes from the store, and need not be saved
};

/// A new random name for a run or a proposal.
[[nodiscard]] QString newId();
/// A text for a span of a draft, with a space at a border where two words would run together.
[[nodiscard]] QString spaced(const QString &text, const QString &draft, TextSpan span);
[[nodiscard]] documents::ModelOrigin modelOriginOf(const Proposal &proposal);
[[nodiscard]] documents::ModelOrigin modelOriginOf(const DraftRun &run);

} // namespace palimpsest::editing
