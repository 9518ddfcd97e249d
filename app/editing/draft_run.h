// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft.h"
#include "app/editing/editing_model.h"
#include "app/editing/frame.h"
#include "app/editing/proposal.h"
#include "app/editing/run_feed.h"
#include "app/editing/run_history.h"
#include "app/editing/run_info.h"
#include "app/editing/run_plan.h"

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace palimpsest::editing {

/// One run of the model over a span of a draft: hands its lanes to the desk, follows what the engine does, takes orders
/// from people, and ends in the texts that it has to offer.
///
/// Lives on one thread and does not block it. The engine's thread only puts events into the run's feed.
class DraftRun : public QObject
{
    Q_OBJECT

public:
    struct Setup
    {
        QString id;
        QString document;
        WindowId startedBy = kNobody;
        PlanInput input;
    };

    /// Plans it. Throws as planRun.
    explicit DraftRun(Setup setup, QObject *parent = nullptr);
    ~DraftRun() override; ///< cancels what runs

    /// Hands the first lanes in. Throws what RequestDesk::submit says to the first of them.
    void start();

    [[nodiscard]] const RunWish &wish() const noexcept { return m_setup.input.wish; }
    [[nodiscard]] const QString &id() const noexcept { return m_setup.id; }
    [[nodiscard]] QString modelId() const { return QString::fromStdString(m_setup.input.model->running->id); }
    [[nodiscard]] TextSpan span() const noexcept { return m_span; }
    [[nodiscard]] TextSpan laneSpan(std::size_t lane) const { return m_lanes.at(lane).span; }
    [[nodiscard]] bool ended() const noexcept { return m_ended.has_value(); }
    [[nodiscard]] RunInfo info() const;
    [[nodiscard]] RunHistory &history() noexcept { return m_history; }
    [[nodiscard]] const RunHistory &history() const noexcept { return m_history; }
    [[nodiscard]] const std::vector<SettledPiece> &pieces(std::size_t lane) const { return m_lanes.at(lane).pieces; }
    [[nodiscard]] const RunPlan &plan() const noexcept { return *m_plan; }

    // Orders; they throw Error InvalidArgument (kStaleSubject) for a run that has ended, NotFound for a lane that is
    // not there.

    void pause();
    void resume();
    void step();
    /// At once, however long a step of the engine takes.
    void stop(bool keepSettled);
    void hold(int lane, std::int64_t canvas, const std::vector<HoldChange> &changes);
    std::vector<std::int64_t> holdWord(int lane, std::int64_t canvas, std::int64_t position, bool held);
    [[nodiscard]] PositionAlternatives alternatives(int lane, std::int64_t canvas, std::int64_t position,
                                                    int step) const;

    /// Somebody edited the draft, one edit behind the other, and `text` is what came of it: the run's places move.
    /// Typing inside the span is held to for the rest of the run; passages of a proofreading that were typed in are
    /// left alone; taking the span away stops the run.
    void draftEdited(const std::vector<AppliedEdit> &edits, const QString &text);

    /// What the ended run offers, for the text that stands in its span now; nothing if that is nothing new.
    [[nodiscard]] std::optional<Proposal> proposal(const StandingText &standing);
    void noteProposal(const QString &proposal) { m_proposal = proposal; }

Q_SIGNALS:
    void changed();
    void stepsRecorded(); ///< the history has more, perhaps enough to be saved
    void frameReady(int lane);
    void pieceSettled(const palimpsest::editing::SettledPiece &piece);
    void finished(); ///< after the last `changed`'s cause, before it is emitted

private:
    struct Lane
    {
        TextSpan span;
        RunState state = RunState::Queued;
        Ticket ticket;
        bool submitted = false;
        bool overtaken = false; ///< the writer has changed the passage
        bool fresh = false;     ///< has steps that nobody was told of
        int position = 0;
        std::int64_t promptDone = 0;
        std::int64_t promptTotal = 0;
        std::vector<SettledPiece> pieces;
        std::int64_t canvas = 0;                             ///< the one under way
        std::vector<std::shared_ptr<const StepEvent>> steps; ///< of that canvas, for their alternatives
        std::vector<std::int64_t> typedHolds;                ///< positions of that canvas, held for the writer
        std::optional<GenerationResult> result;

        [[nodiscard]] bool isUnderWay() const noexcept { return submitted && !hasEnded(state); }
    };

    /// Takes what has come in. Called by its name: then nothing but the feed is touched by two threads.
    Q_INVOKABLE void drain();
    void tellChange();
    void handle(std::size_t lane, RunFeed::Position position);
    void handle(std::size_t lane, const PrefillEvent &event);
    void handle(std::size_t lane, const std::shared_ptr<const StepEvent> &event);
    void handle(std::size_t lane, const CanvasEvent &event);
    void handle(std::size_t lane, GenerationResult &result);
    void handle(std::size_t lane, const Error &error);
    [[nodiscard]] bool isLeftOut(const Error &error) const;
    void overtake(Lane &lane);
    void submitMore();
    void submit(std::size_t lane);
    void announceFrame(std::size_t lane);
    void endIfDone();
    enum class Offer { Nothing, WhatIsThere };
    void end(RunState state, const QString &problem, Offer offer);
    void fail(const QString &problem);
    void requireRunning() const;
    [[nodiscard]] Lane &requireLane(int lane, std::int64_t canvas);
    [[nodiscard]] RunState state() const;
    [[nodiscard]] RunFigures figures() const;
    void holdTyped(std::size_t lane);

    Setup m_setup;
    std::unique_ptr<const RunPlan> m_plan;
    TextSpan m_span;
    QString m_base; ///< what stood in the span when the run began
    std::vector<Lane> m_lanes;
    RunHistory m_history;
    std::shared_ptr<RunFeed> m_feed;
    QTimer m_retry; ///< for lanes that found the queue full
    QTimer m_tell;  ///< for changes of many lanes, told together
    QElapsedTimer m_clock;
    std::optional<double> m_firstDraftMs;
    std::size_t m_nextLane = 0; ///< not handed in yet, like those behind it
    bool m_paused = false;
    std::vector<TextEdit> m_edits;  ///< what was done to the draft since the run began, in order
    std::optional<QString> m_typed; ///< what stands in the span since somebody has typed there
    bool m_changed = false;
    std::optional<RunState> m_ended;
    RunTexts m_texts; ///< once it has ended
    QString m_problem;
    std::optional<RunFigures> m_figures;
    QString m_proposal;
};

} // namespace palimpsest::editing
