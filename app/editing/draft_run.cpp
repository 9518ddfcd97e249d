// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft_run.h"

#include "app/editing/locked_words.h"
#include "app/editing/typed_words.h"
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

/// Over a shorter time, a rate says nothing.
constexpr double kShortestRatedMs = 50.0;

std::vector<std::shared_ptr<const CanvasView>> viewsOf(const RunPlan &plan, const EditingModel &model)
{
    std::vector<std::shared_ptr<const CanvasView>> views;
    for (const LanePlan &lane : plan.lanes())
        views.push_back(std::make_shared<CanvasView>(model.running->tokenizer, lane.layout));
    return views;
}

const QString kLeftOutLocked = QStringLiteral("Changes of locked words were left out.");

QString withSentence(const QString &note, const QString &sentence)
{
    if (note.contains(sentence))
        return note;
    return note.isEmpty() ? sentence : note + u' ' + sentence;
}

[[noreturn]] void refuseStale(const std::string &message)
{
    throw Error(ErrorKind::InvalidArgument, message, kStaleSubject);
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
      m_feed(std::make_shared<RunFeed>([this] {
          QMetaObject::invokeMethod(
              this, [this] { drain(); }, Qt::QueuedConnection);
      })),
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
    submit(0);
    m_nextLane = 1;
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
    // A passage that is too long for the model is left as it is; any other error would meet the other lanes as well.
    if (wish().action != RunAction::Proofread || error.kind() != ErrorKind::ContextLength)
        fail(QString::fromUtf8(error.what()));
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

void DraftRun::requireRunning() const
{
    if (ended())
        refuseStale("the run has ended already");
}

DraftRun::Lane &DraftRun::requireLane(int lane, std::int64_t canvas)
{
    if (lane < 0 || static_cast<std::size_t>(lane) >= m_lanes.size())
        throw Error(ErrorKind::NotFound,
                    "the run has no lane " + std::to_string(lane) + "; it has " + std::to_string(m_lanes.size()),
                    "lane");
    Lane &found = m_lanes[static_cast<std::size_t>(lane)];
    if (canvas != found.canvas)
        refuseStale("canvas " + std::to_string(canvas) + " is not under way; canvas " + std::to_string(found.canvas) +
                    " is");
    return found;
}

void DraftRun::pause()
{
    requireRunning();
    m_paused = true;
    for (Lane &lane : m_lanes)
        lane.ticket.pause();
    Q_EMIT changed();
}

void DraftRun::resume()
{
    requireRunning();
    m_paused = false;
    for (Lane &lane : m_lanes)
        lane.ticket.resume();
    Q_EMIT changed();
}

void DraftRun::step()
{
    requireRunning();
    if (!m_paused)
        pause();
    for (Lane &lane : m_lanes)
        lane.ticket.step();
}

void DraftRun::stop(bool keepSettled)
{
    requireRunning();
    if (keepSettled) {
        drain(); // what has come in counts
        if (ended())
            return;
    }
    end(RunState::Stopped, {}, keepSettled ? Offer::WhatIsThere : Offer::Nothing);
    tellChange();
}

void DraftRun::hold(int lane, std::int64_t canvas, const std::vector<HoldChange> &changes)
{
    requireRunning();
    std::vector<Generation::Freeze> freezes;
    for (const HoldChange &change : changes)
        freezes.push_back({change.position, change.id});
    requireLane(lane, canvas).ticket.freeze(canvas, std::move(freezes));
}

std::vector<std::int64_t> DraftRun::holdWord(int lane, std::int64_t canvas, std::int64_t position, bool held)
{
    requireRunning();
    (void)requireLane(lane, canvas);
    const RecordedStep *newest = m_history.newestStep(static_cast<std::size_t>(lane));
    if (newest == nullptr)
        refuseStale("the canvas has no words yet");
    if (position < 0 || position >= static_cast<std::int64_t>(newest->argmax.size()))
        throw Error(ErrorKind::InvalidArgument,
                    "position is " + std::to_string(position) + ", wanted 0 to " +
                        std::to_string(newest->argmax.size() - 1),
                    "position");
    const std::vector<std::int64_t> positions =
        m_history.view(static_cast<std::size_t>(lane)).wordAround(canvas, newest->argmax, position);
    std::vector<HoldChange> changes;
    for (const std::int64_t each : positions)
        changes.push_back({each, held ? std::optional(newest->argmax[static_cast<std::size_t>(each)]) : std::nullopt});
    hold(lane, canvas, changes);
    return positions;
}

PositionAlternatives DraftRun::alternatives(int lane, std::int64_t canvas, std::int64_t position, int step) const
{
    if (lane < 0 || static_cast<std::size_t>(lane) >= m_lanes.size())
        throw Error(ErrorKind::NotFound, "the run has no lane " + std::to_string(lane), "lane");
    const Lane &own = m_lanes[static_cast<std::size_t>(lane)];
    const auto found = std::find_if(own.steps.rbegin(), own.steps.rend(), [canvas, step](const auto &event) {
        return event->canvas == canvas && (step == 0 || event->step == step);
    });
    if (found == own.steps.rend())
        throw Error(ErrorKind::NotFound, "the alternatives of that step are not kept", "step");
    const std::vector<PositionResult> &positions = (*found)->positions;
    if (position < 0 || static_cast<std::size_t>(position) >= positions.size())
        throw Error(ErrorKind::NotFound, "the canvas has no position " + std::to_string(position), "position");
    const PositionResult &result = positions[static_cast<std::size_t>(position)];
    PositionAlternatives alternatives{.entropy = static_cast<double>(result.entropyNats), .choices = {}};
    for (const Alternative &choice : result.alternatives)
        alternatives.choices.push_back({choice.id, m_history.view(static_cast<std::size_t>(lane)).tokenText(choice.id),
                                        static_cast<double>(choice.probability)});
    return alternatives;
}

void DraftRun::draftEdited(const std::vector<AppliedEdit> &edits, const QString &text)
{
    bool isInside = false;
    bool takesAway = false;
    for (const AppliedEdit &applied : edits) {
        if (!ended())
            m_edits.push_back(applied.edit);
        isInside = isInside || touches(applied.edit, m_span);
        takesAway = takesAway || (touches(applied.edit, m_span) && moved(m_span, applied.edit).empty());
        m_span = moved(m_span, applied.edit);
        for (Lane &lane : m_lanes) {
            if (touches(applied.edit, lane.span))
                overtake(lane);
            lane.span = moved(lane.span, applied.edit);
        }
    }
    if (ended() || !isInside)
        return;
    if (takesAway) {
        stop(false);
        return;
    }
    m_typed = text.mid(m_span.start, m_span.length());
    for (std::size_t lane = 0; lane < m_lanes.size(); ++lane)
        holdTyped(lane);
    endIfDone();
    tellChange();
}

/// A passage that the writer works on is the writer's: what the model makes of it is not looked at.
void DraftRun::overtake(Lane &lane)
{
    if (ended() || wish().action != RunAction::Proofread || hasEnded(lane.state))
        return;
    lane.overtaken = true;
    lane.state = RunState::Stopped;
    lane.ticket.cancel();
    m_changed = true;
}

/// Has the canvas under way take over what was typed. Words that are typed letter by letter come again and again.
void DraftRun::holdTyped(std::size_t lane)
{
    Lane &own = m_lanes[lane];
    const std::optional<Frame> frame = m_history.newestFrame(lane);
    const bool canHold = wish().action == RunAction::Rewrite || wish().action == RunAction::Renoise;
    if (!canHold || !m_typed || !frame || frame->canvas != own.canvas || own.state != RunState::Running)
        return;
    std::vector<HoldChange> changes;
    for (const std::int64_t position : own.typedHolds)
        changes.push_back({position, std::nullopt});
    own.typedHolds.clear();
    for (const HoldChange &held : holdsForTyping(m_base, *m_typed, *frame, *m_setup.input.model->running->tokenizer)) {
        changes.push_back(held);
        own.typedHolds.push_back(held.position);
    }
    if (!changes.empty())
        hold(static_cast<int>(lane), own.canvas, changes);
}

Proposal DraftRun::emptyProposal(const StandingText &standing) const
{
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
    return proposal;
}

/// The corrections of a proofreading, moved over what was typed meanwhile. Passages that were typed in have none.
void DraftRun::addCorrections(Proposal &proposal, const StandingText &standing) const
{
    const qsizetype start = m_plan->span().start;
    std::vector<TextEdit> corrections;
    for (TextEdit correction : *m_texts.corrections) {
        correction.span = {correction.span.start + start, correction.span.end + start};
        bool isTouched = false;
        for (const TextEdit &edit : m_edits) {
            isTouched = isTouched || touches(edit, correction.span);
            correction = moved(correction, edit, EditOrder::Later);
        }
        correction.span = {correction.span.start - m_span.start, correction.span.end - m_span.start};
        if (isTouched)
            continue;
        if (touchesAny(correction, standing.locks))
            proposal.note = withSentence(proposal.note, kLeftOutLocked);
        else
            corrections.push_back(std::move(correction));
    }
    if (corrections.empty())
        return;
    ProposalAlternative alternative = m_texts.alternatives.front();
    alternative.text = withEdits(standing.text, corrections);
    proposal.alternatives.push_back(std::move(alternative));
    for (TextEdit &correction : corrections) {
        const QString original = standing.text.mid(correction.span.start, correction.span.length());
        proposal.changes.push_back({{correction.span.start + m_span.start, correction.span.end + m_span.start},
                                    std::move(correction.text),
                                    original,
                                    ChangeState::Open});
    }
}

void DraftRun::addAlternatives(Proposal &proposal, const StandingText &standing) const
{
    bool keptLocks = true;
    for (ProposalAlternative alternative : m_texts.alternatives) {
        const QString merged = mergedTyping(m_base, standing.text, alternative.text);
        alternative.text = withEdits(standing.text, changesAround(standing.locks, standing.text, merged));
        keptLocks = keptLocks && alternative.text == merged;
        const bool isNew = alternative.text != standing.text &&
                           std::none_of(proposal.alternatives.begin(), proposal.alternatives.end(),
                                        [&alternative](const auto &other) { return other.text == alternative.text; });
        if (isNew)
            proposal.alternatives.push_back(std::move(alternative));
    }
    if (!keptLocks)
        proposal.note = withSentence(proposal.note, kLeftOutLocked);
    if (!proposal.alternatives.empty())
        proposal = withChanges(std::move(proposal), standing);
}

std::optional<Proposal> DraftRun::proposal(const StandingText &standing)
{
    if (m_texts.alternatives.empty()) {
        if (m_problem.isEmpty())
            m_problem = m_texts.problem;
        return std::nullopt;
    }
    Proposal proposal = emptyProposal(standing);
    if (m_texts.corrections)
        addCorrections(proposal, standing);
    else
        addAlternatives(proposal, standing);
    if (!proposal.alternatives.empty())
        return proposal;
    if (m_problem.isEmpty())
        m_problem = QStringLiteral("The model would leave the text as it is.");
    return std::nullopt;
}

RunFigures DraftRun::figures() const
{
    RunFigures figures;
    double stepMs = 0.0;
    for (const std::vector<CanvasCurve> &lane : m_history.curves()) {
        for (const CanvasCurve &canvas : lane) {
            figures.steps += static_cast<std::int64_t>(canvas.stepMs.size());
            figures.canvases += canvas.steps > 0 ? 1 : 0;
            for (const float ms : canvas.stepMs)
                stepMs += static_cast<double>(ms);
        }
    }
    std::int64_t tokens = 0;
    for (const Lane &lane : m_lanes) {
        if (!lane.result)
            continue;
        tokens += static_cast<std::int64_t>(lane.result->tokens.size());
        figures.promptTokens += lane.result->promptTokens;
        figures.reusedTokens += lane.result->reusedPromptTokens;
    }
    figures.stepMs = figures.steps > 0 ? stepMs / static_cast<double>(figures.steps) : 0.0;
    figures.firstDraftMs = m_firstDraftMs.value_or(0.0);
    figures.totalMs = static_cast<double>(m_clock.nsecsElapsed()) / 1e6;
    if (figures.totalMs >= kShortestRatedMs) {
        const double seconds = figures.totalMs / 1000.0;
        if (!m_texts.alternatives.empty()) {
            const std::int64_t words =
                m_texts.words > 0 ? m_texts.words : countWords(toUtf8(m_texts.alternatives.front().text));
            figures.wordsPerSecond = static_cast<double>(words) / seconds;
        }
        figures.tokensPerSecond = static_cast<double>(tokens) / seconds;
    }
    return figures;
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
