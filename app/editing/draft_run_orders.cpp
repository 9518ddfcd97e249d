// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What people tell a run while it is under way, by orders and by typing.

#include "app/editing/draft_run.h"

#include "app/editing/typed_words.h"
#include "engine/error.h"

#include <algorithm>
#include <utility>

namespace palimpsest::editing {

namespace {

[[noreturn]] void refuseStale(const std::string &message)
{
    throw Error(ErrorKind::InvalidArgument, message, kStaleSubject);
}

} // namespace

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
    freezes.reserve(changes.size());
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
    std::vector<std::int64_t> positions =
        m_history.view(static_cast<std::size_t>(lane)).wordAround(canvas, newest->argmax, position);
    std::vector<HoldChange> changes;
    changes.reserve(positions.size());
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

} // namespace palimpsest::editing
