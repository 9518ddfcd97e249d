// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/run_history.h"

#include "engine/error.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace palimpsest::editing {

namespace {

/// More canvases than a context of a million tokens holds.
constexpr std::int64_t kCanvasesOfLane = 1LL << 16U;

/// Id, entropy, two flags; what waits for the disk is not counted.
constexpr std::size_t kBytesOfPosition = sizeof(TokenId) + sizeof(std::uint16_t) + 2;

constexpr float kHundredthsOfNat = 100.0F;

[[noreturn]] void notThere(const std::string &what, std::int64_t number, std::size_t count)
{
    throw Error(ErrorKind::NotFound,
                "the run's history has no " + what + " " + std::to_string(number) + "; there are " +
                    std::to_string(count),
                what);
}

} // namespace

RunHistory::RunHistory(std::vector<std::shared_ptr<const CanvasView>> lanes)
{
    for (std::shared_ptr<const CanvasView> &view : lanes)
        m_lanes.push_back({std::move(view), {}, {}});
}

std::int64_t RunHistory::storedCanvas(std::size_t lane, std::int64_t canvas) noexcept
{
    return static_cast<std::int64_t>(lane) * kCanvasesOfLane + canvas;
}

RunHistory::Canvas &RunHistory::canvasOf(std::size_t lane, std::int64_t canvas)
{
    std::vector<Canvas> &canvases = m_lanes[lane].canvases;
    if (canvases.size() <= static_cast<std::size_t>(canvas))
        canvases.resize(static_cast<std::size_t>(canvas) + 1);
    return canvases[static_cast<std::size_t>(canvas)];
}

void RunHistory::add(std::size_t lane, std::int64_t canvas, RecordedStep step)
{
    m_bytes += step.argmax.size() * kBytesOfPosition;
    canvasOf(lane, canvas).steps.push_back(std::move(step));
}

void RunHistory::settle(std::size_t lane, std::int64_t canvas, CanvasStop stop)
{
    canvasOf(lane, canvas).stop = stop;
}

void RunHistory::restore(std::size_t lane, std::int64_t canvas, std::vector<RecordedStep> steps)
{
    Canvas &place = canvasOf(lane, canvas);
    place.steps = std::move(steps);
    place.saved = place.steps.size();
    if (!place.steps.empty())
        place.steps.back().last = true;
}

RunCurves RunHistory::curves() const
{
    RunCurves curves;
    for (const Lane &lane : m_lanes) {
        std::vector<CanvasCurve> &ofLane = curves.emplace_back();
        for (const Canvas &canvas : lane.canvases) {
            CanvasCurve &curve = ofLane.emplace_back();
            curve.stop = canvas.stop;
            for (const RecordedStep &step : canvas.steps) {
                curve.steps = step.step;
                curve.maxSteps = step.maxSteps;
                curve.meanEntropy.push_back(step.meanEntropy);
                int accepted = 0;
                for (std::size_t i = 0; i < step.accepted.size(); ++i)
                    accepted += step.accepted[i] != 0 && step.frozen[i] == 0 ? 1 : 0;
                curve.accepted.push_back(accepted);
                curve.stepMs.push_back(step.stepMs);
            }
        }
    }
    return curves;
}

const RunHistory::Canvas &RunHistory::requireStep(int lane, std::int64_t canvas, int step) const
{
    if (lane < 0 || static_cast<std::size_t>(lane) >= m_lanes.size())
        notThere("lane", lane, m_lanes.size());
    const std::vector<Canvas> &canvases = m_lanes[static_cast<std::size_t>(lane)].canvases;
    if (canvas < 0 || static_cast<std::size_t>(canvas) >= canvases.size())
        notThere("canvas", canvas, canvases.size());
    const Canvas &found = canvases[static_cast<std::size_t>(canvas)];
    if (step < 1 || static_cast<std::size_t>(step) > found.steps.size())
        notThere("step", step, found.steps.size());
    return found;
}

Frame RunHistory::frame(int lane, std::int64_t canvas, int step) const
{
    const Canvas &steps = requireStep(lane, canvas, step);
    const auto index = static_cast<std::size_t>(step) - 1;
    Frame frame = view(static_cast<std::size_t>(lane))
                      .frame(canvas, steps.steps[index], index > 0 ? &steps.steps[index - 1] : nullptr);
    frame.lane = lane;
    return frame;
}

QString RunHistory::textAt(int lane, std::int64_t canvas, int step) const
{
    const Canvas &steps = requireStep(lane, canvas, step);
    const CanvasView &view = this->view(static_cast<std::size_t>(lane));
    QString text;
    for (std::int64_t before = 0; before < canvas; ++before) {
        const Canvas &settled = m_lanes[static_cast<std::size_t>(lane)].canvases[static_cast<std::size_t>(before)];
        if (settled.steps.empty())
            notThere("step", 1, 0);
        text += view.textOf(before, settled.steps.back().argmax);
    }
    return text + view.textOf(canvas, steps.steps[static_cast<std::size_t>(step) - 1].argmax);
}

std::optional<Frame> RunHistory::newestFrame(std::size_t lane) const
{
    const std::vector<Canvas> &canvases = m_lanes[lane].canvases;
    for (std::size_t canvas = canvases.size(); canvas > 0; --canvas) {
        const std::size_t steps = canvases[canvas - 1].steps.size();
        if (steps == 0)
            continue;
        std::optional<Frame> &known = m_lanes[lane].newest;
        if (!known || known->canvas != static_cast<std::int64_t>(canvas) - 1 || known->step != static_cast<int>(steps))
            known = frame(static_cast<int>(lane), static_cast<std::int64_t>(canvas) - 1, static_cast<int>(steps));
        return known;
    }
    return std::nullopt;
}

const RecordedStep *RunHistory::newestStep(std::size_t lane) const noexcept
{
    const std::vector<Canvas> &canvases = m_lanes[lane].canvases;
    return canvases.empty() || canvases.back().steps.empty() ? nullptr : &canvases.back().steps.back();
}

std::vector<RunHistory::Batch> RunHistory::takeUnsaved(bool all)
{
    std::vector<Batch> batches;
    for (std::size_t lane = 0; lane < m_lanes.size(); ++lane) {
        for (std::size_t number = 0; number < m_lanes[lane].canvases.size(); ++number) {
            Canvas &canvas = m_lanes[lane].canvases[number];
            const std::size_t unsaved = canvas.steps.size() - canvas.saved;
            if (unsaved == 0 || (!all && !canvas.stop && unsaved < kStepsOfBatch))
                continue;
            Batch &batch = batches.emplace_back(Batch{storedCanvas(lane, static_cast<std::int64_t>(number)), {}});
            for (; canvas.saved < canvas.steps.size(); ++canvas.saved) {
                RecordedStep &step = canvas.steps[canvas.saved];
                batch.steps.push_back(toStored(step));
                step.next = {}; // only the disk keeps it
            }
        }
    }
    return batches;
}

documents::StepRecord toStored(const RecordedStep &step)
{
    documents::StepRecord stored{.step = step.step,
                                 .ids = step.next,
                                 .argmax = step.argmax,
                                 .entropiesNats = {},
                                 .accepted = step.accepted,
                                 .frozen = step.frozen,
                                 .meanEntropyNats = step.meanEntropy,
                                 .stepMs = step.stepMs};
    stored.entropiesNats.reserve(step.entropy.size());
    for (const std::uint16_t entropy : step.entropy)
        stored.entropiesNats.push_back(static_cast<float>(entropy) / kHundredthsOfNat);
    return stored;
}

RecordedStep fromStored(const documents::StepRecord &stored, int maxSteps)
{
    RecordedStep step{.step = stored.step,
                      .maxSteps = maxSteps,
                      .argmax = stored.argmax,
                      .next = {},
                      .entropy = {},
                      .accepted = stored.accepted,
                      .frozen = stored.frozen,
                      .meanEntropy = stored.meanEntropyNats,
                      .stepMs = stored.stepMs};
    step.entropy.reserve(stored.entropiesNats.size());
    for (const float nats : stored.entropiesNats)
        step.entropy.push_back(static_cast<std::uint16_t>(std::lround(std::max(0.0F, nats) * kHundredthsOfNat)));
    step.accepted.resize(step.argmax.size(), 0);
    step.frozen.resize(step.argmax.size(), 0);
    return step;
}

} // namespace palimpsest::editing
