// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft_run.h"

#include "app/editing/run_figures.h"
#include "app/editing/run_offer.h"
#include "app/editing/utf8_text.h"
#include "engine/error.h"
#include "engine/text_boundaries.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace palimpsest::editing {

namespace {

/// Lanes handed in beyond those that can run at once, so that a batch never waits for the next one; more would only
/// fill the queue, for others too.
constexpr std::size_t kLanesAhead = 2;

/// Before lanes that found the queue full are handed in again.
constexpr std::chrono::milliseconds kRetryDelay{250};

/// Lanes of a run whose last canvas keeps its alternatives (12 KiB a step of 256 positions).
constexpr std::size_t kLanesWithAlternatives = 16;

/// A run of more lanes tells of their changes together, after a millisecond a lane: the news of a book's proofreading
/// are long, and change with every passage.
constexpr std::size_t kFewLanes = 8;
constexpr std::chrono::milliseconds kMostTellDelay{500};

std::vector<std::shared_ptr<const CanvasView>> viewsOf(const RunPlan &plan, const EditingModel &model)
{
    std::vector<std::shared_ptr<const CanvasView>> views;
    for (const LanePlan &lane : plan.lanes())
        views.push_back(std::make_shared<CanvasView>(model.running->tokenizer, lane.layout));
    return views;
}

} // namespace

DraftRun::DraftRun(Setup setup, QObject *parent)
    : QObject(parent),
      m_setup(std::move(setup)),
      m_plan(planRun(m_setup.input)),
      m_span(m_plan->span()),
      m_base(m_setup.input.text.mid(m_span.start, m_span.length())),
      m_lanes(m_plan->lanes().size()),
      m_history(viewsOf(*m_plan, *m_setup.input.model)),
      m_feed(std::make_shared<RunFeed>([this] { QMetaObject::invokeMethod(this, "drain", Qt::QueuedConnection); })),
      m_paused(m_setup.input.wish.paused)
{
    for (std::size_t lane = 0; lane < m_lanes.size(); ++lane)
        m_lanes[lane].span = m_plan->lanes()[lane].span;
    m_setup.input.text.clear(); // a long draft is not kept twice
    m_retry.setSingleShot(true);
    m_retry.setInterval(kRetryDelay);
    connect(&m_retry, &QTimer::timeout, this, [this] {
        submitMore();
        endIfDone();
    });
    m_tell.setSingleShot(true);
    m_tell.setInterval(std::min(kMostTellDelay, std::chrono::milliseconds(m_lanes.size())));
    connect(&m_tell, &QTimer::timeout, this, [this] {
        m_changed = false;
        Q_EMIT changed();
    });
    m_clock.start();
}

DraftRun::~DraftRun()
{
    m_feed->close();
    for (Lane &lane : m_lanes)
        lane.ticket.cancel();
}

void DraftRun::start()
{
    for (bool isIn = false; !isIn; ++m_nextLane) {
        try {
            submit(m_nextLane);
            isIn = true;
        } catch (const Error &error) { // what stands in the way of the first lane that counts, stands in the run's
            if (!isLeftOut(error) || m_nextLane + 1 == m_lanes.size())
                throw;
            m_lanes[m_nextLane].state = RunState::Failed;
        }
    }
    submitMore();
}

void DraftRun::submit(std::size_t lane)
{
    GenerationRequest request = m_plan->request(lane);
    request.startPaused = m_paused;
    const ClientId client = "window " + std::to_string(m_setup.startedBy);
    m_lanes[lane].ticket = m_setup.input.model->running->desk->submit(
        client, std::move(request), m_feed->observer(lane), m_feed->completion(lane), m_feed->positionObserver(lane));
    m_lanes[lane].submitted = true;
}

/// Keeps as many lanes at the desk as can run, and a few more.
void DraftRun::submitMore()
{
    const auto most = static_cast<std::size_t>(m_setup.input.model->running->desk->status().maxBatch) + kLanesAhead;
    auto underWay = static_cast<std::size_t>(
        std::count_if(m_lanes.begin(), m_lanes.end(), [](const Lane &lane) { return lane.isUnderWay(); }));
    while (!ended() && m_nextLane < m_lanes.size() && underWay < most) {
        Lane &lane = m_lanes[m_nextLane];
        try {
            if (!lane.overtaken) {
                submit(m_nextLane);
                ++underWay;
            }
        } catch (const Error &error) {
            if (error.kind() == ErrorKind::QueueFull) {
                m_retry.start();
                return;
            }
            handle(m_nextLane, error);
        }
        ++m_nextLane;
    }
}

void DraftRun::drain()
{
    std::vector<RunFeed::Event> events = m_feed->take();
    for (RunFeed::Event &event : events) {
        if (ended())
            break;
        if (m_lanes[event.lane].overtaken)
            continue;
        std::visit([this, lane = event.lane](auto &payload) { handle(lane, payload); }, event.payload);
    }
    for (std::size_t lane = 0; lane < m_lanes.size() && !ended(); ++lane)
        announceFrame(lane);
    if (!ended() && !events.empty())
        Q_EMIT stepsRecorded();
    if (!ended()) {
        submitMore();
        endIfDone();
    }
    tellChange();
}

void DraftRun::tellChange()
{
    if (!m_changed)
        return;
    if (!ended() && m_lanes.size() > kFewLanes) {
        if (!m_tell.isActive())
            m_tell.start();
        return;
    }
    m_tell.stop();
    m_changed = false;
    Q_EMIT changed();
}

void DraftRun::announceFrame(std::size_t lane)
{
    if (std::exchange(m_lanes[lane].fresh, false))
        Q_EMIT frameReady(static_cast<int>(lane));
}

void DraftRun::handle(std::size_t lane, RunFeed::Position position)
{
    m_lanes[lane].position = position.inFront;
    m_changed = true;
}

void DraftRun::handle(std::size_t lane, const PrefillEvent &event)
{
    m_lanes[lane].state = RunState::Prefill;
    m_lanes[lane].position = 0;
    m_lanes[lane].promptDone = event.done;
    m_lanes[lane].promptTotal = event.total;
    m_changed = true;
}

void DraftRun::handle(std::size_t lane, const std::shared_ptr<const StepEvent> &event)
{
    Lane &own = m_lanes[lane];
    if (own.state != RunState::Running) {
        own.state = RunState::Running;
        own.position = 0;
        own.promptDone = own.promptTotal;
        m_changed = true;
    }
    if (!m_firstDraftMs)
        m_firstDraftMs = static_cast<double>(m_clock.nsecsElapsed()) / 1e6;
    if (event->canvas != own.canvas || own.steps.empty()) {
        own.canvas = event->canvas;
        own.steps.clear();
        own.typedHolds.clear();
    }
    own.steps.push_back(event);
    own.fresh = true;
    m_history.add(lane, event->canvas, recorded(*event));
    if (m_typed && own.typedHolds.empty())
        holdTyped(lane);
}

void DraftRun::handle(std::size_t lane, const CanvasEvent &event)
{
    Lane &own = m_lanes[lane];
    m_history.settle(lane, event.canvas, event.stop);
    if (event.committed.empty())
        return;
    announceFrame(lane); // no frame of a canvas comes after its settled text
    if (ended())
        return;
    own.pieces.push_back({.lane = static_cast<int>(lane),
                          .canvas = event.canvas,
                          .text = m_history.view(lane).textOf(event.canvas, event.committed),
                          .steps = event.steps,
                          .stop = event.stop});
    m_changed = true;
    Q_EMIT pieceSettled(own.pieces.back());
}

void DraftRun::handle(std::size_t lane, GenerationResult &result)
{
    Lane &own = m_lanes[lane];
    if (own.overtaken)
        return;
    if (result.finish == FinishReason::Cancelled) { // by nobody here: the model was given up
        fail(QStringLiteral("The model was stopped while it was at work."));
    } else {
        own.state = RunState::Done;
        own.result = std::move(result);
        if (m_lanes.size() > kLanesWithAlternatives)
            own.steps.clear();
    }
    m_changed = true;
}

void DraftRun::handle(std::size_t lane, const Error &error)
{
    m_lanes[lane].state = RunState::Failed;
    m_changed = true;
    if (!isLeftOut(error))
        fail(QString::fromUtf8(error.what()));
}

/// A passage that is too long for the model is left as it is; any other error would meet the other lanes as well.
bool DraftRun::isLeftOut(const Error &error) const
{
    return wish().action == RunAction::Proofread && error.kind() == ErrorKind::ContextLength;
}

/// Passages that were proofread already are worth keeping; half an answer is not.
void DraftRun::fail(const QString &problem)
{
    end(RunState::Failed, problem, wish().action == RunAction::Proofread ? Offer::WhatIsThere : Offer::Nothing);
}

void DraftRun::endIfDone()
{
    if (ended() || m_nextLane < m_lanes.size())
        return;
    const bool allDone =
        std::all_of(m_lanes.begin(), m_lanes.end(), [](const Lane &lane) { return hasEnded(lane.state); });
    if (allDone)
        end(RunState::Done, {}, Offer::WhatIsThere);
}

/// Ends the run as it stands now: nothing that the engine still does for it is looked at any more.
void DraftRun::end(RunState state, const QString &problem, Offer offer)
{
    if (ended())
        return;
    m_ended = state;
    m_problem = problem;
    m_retry.stop();
    m_feed->close();
    std::vector<LaneOutcome> outcomes;
    for (std::size_t i = 0; i < m_lanes.size(); ++i) {
        Lane &lane = m_lanes[i];
        lane.ticket.cancel();
        LaneOutcome &outcome = outcomes.emplace_back();
        outcome.result = lane.result;
        if (!hasEnded(lane.state)) {
            outcome.kept = m_history.newestFrame(i);
            for (const SettledPiece &piece : lane.pieces) {
                if (!outcome.kept || piece.canvas < outcome.kept->canvas)
                    outcome.settled += piece.text;
            }
            if (m_history.canvases(i) > static_cast<std::size_t>(lane.canvas))
                m_history.settle(i, lane.canvas, CanvasStop::Cancelled);
            lane.state = state == RunState::Done ? RunState::Stopped : state;
        }
    }
    if (offer == Offer::WhatIsThere)
        m_texts = m_plan->conclude(outcomes);
    m_figures = figures();
    m_changed = true;
    Q_EMIT finished();
}

std::optional<Proposal> DraftRun::proposal(const StandingText &standing)
{
    if (m_texts.alternatives.empty()) {
        if (m_problem.isEmpty())
            m_problem = m_texts.problem;
        return std::nullopt;
    }
    Proposal proposal;
    proposal.run = m_setup.id;
    proposal.action = wish().action;
    proposal.span = m_span;
    proposal.original = standing.text;
    proposal.note = m_texts.note;
    proposal.origin = {.model = modelId(),
                       .seed = m_setup.input.seed,
                       .sampler = m_setup.input.sampler,
                       .instruction = wish().instruction,
                       .amount = wish().amount,
                       .steps = m_figures->steps,
                       .canvases = m_figures->canvases,
                       .stops = m_texts.alternatives.front().stops};
    const RunEnding ending{m_texts, m_plan->span().start, m_base, m_edits};
    if (offerTexts(proposal, ending, standing))
        return proposal;
    if (m_problem.isEmpty())
        m_problem = QStringLiteral("The model would leave the text as it is.");
    return std::nullopt;
}

RunFigures DraftRun::figures() const
{
    FiguresInput input{.curves = m_history.curves(),
                       .results = {},
                       .firstDraftMs = m_firstDraftMs.value_or(0.0),
                       .totalMs = static_cast<double>(m_clock.nsecsElapsed()) / 1e6,
                       .words = m_texts.words};
    if (input.words == 0 && !m_texts.alternatives.empty())
        input.words = countWords(toUtf8(m_texts.alternatives.front().text));
    for (const Lane &lane : m_lanes) {
        if (lane.result)
            input.results.push_back(&*lane.result);
    }
    return figuresOf(input);
}

RunState DraftRun::state() const
{
    if (m_ended)
        return *m_ended;
    if (m_paused)
        return RunState::Paused;
    const auto any = [this](RunState wanted) {
        return std::any_of(m_lanes.begin(), m_lanes.end(), [wanted](const Lane &lane) { return lane.state == wanted; });
    };
    if (any(RunState::Running) || any(RunState::Done))
        return RunState::Running;
    return any(RunState::Prefill) ? RunState::Prefill : RunState::Queued;
}

RunInfo DraftRun::info() const
{
    RunInfo info{.run = m_setup.id,
                 .document = m_setup.document,
                 .startedBy = m_setup.startedBy,
                 .action = wish().action,
                 .span = m_span,
                 .instruction = wish().instruction,
                 .amount = wish().amount,
                 .seed = m_setup.input.seed,
                 .sampler = m_setup.input.sampler,
                 .state = state(),
                 .position = 0,
                 .lanes = {},
                 .ahead = m_plan->ahead(),
                 .problem = m_problem,
                 .figures = m_figures,
                 .proposal = m_proposal};
    int position = std::numeric_limits<int>::max();
    for (const Lane &lane : m_lanes) {
        const bool isPaused = m_paused && !hasEnded(lane.state);
        info.lanes.push_back({.span = lane.span,
                              .state = isPaused ? RunState::Paused : lane.state,
                              .canvases = static_cast<int>(lane.pieces.size()),
                              .promptDone = lane.promptDone,
                              .promptTotal = lane.promptTotal});
        if (lane.submitted && !hasEnded(lane.state))
            position = std::min(position, lane.position);
    }
    info.position = info.state == RunState::Queued && position != std::numeric_limits<int>::max() ? position : 0;
    return info;
}

} // namespace palimpsest::editing
