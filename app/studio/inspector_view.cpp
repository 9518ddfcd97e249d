// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/inspector_view.h"

#include "app/studio/page_text.h"

#include <algorithm>

namespace palimpsest::studio {

using editing::CanvasCurve;
using editing::DraftSession;
using editing::Frame;
using editing::RunCurves;
using editing::RunInfo;

namespace {

constexpr int kPlayStepMs = 120;    // slow enough to read along
constexpr int kCurvesEveryMs = 100; // curves need no more than ten updates a second

} // namespace

InspectorView::InspectorView(QObject *parent) : QObject(parent)
{
    m_playTimer.setInterval(kPlayStepMs);
    connect(&m_playTimer, &QTimer::timeout, this, [this] {
        const bool atEnd = m_canvas + 1 >= canvases() && m_wantedStep >= steps();
        if (atEnd)
            pausePlaying();
        else
            stepBy(1);
    });
    m_curvesTimer.setSingleShot(true);
    m_curvesTimer.setInterval(kCurvesEveryMs);
    connect(&m_curvesTimer, &QTimer::timeout, this, &InspectorView::refreshCurves);
    connect(&m_frameTimer, &QTimer::timeout, this, &InspectorView::frameChanged);
}

void InspectorView::setSession(DraftSession *session)
{
    if (m_session)
        m_session->disconnect(this);
    m_session = session;
    if (m_session) {
        connect(m_session, &DraftSession::runChanged, this, &InspectorView::onRunChanged);
        connect(m_session, &DraftSession::frameReady, this, &InspectorView::onFrame);
    }
    const auto runs = m_session ? m_session->runs() : std::vector<RunInfo>();
    m_newestRun = runs.empty() ? QString() : runs.back().run;
    inspect(m_newestRun);
}

void InspectorView::inspect(const QString &run)
{
    pausePlaying();
    m_run = run;
    m_lane = 0;
    m_canvas = 0;
    m_wantedStep = 0;
    m_following = true;
    m_curves.clear();
    m_frame.reset();
    m_settledCanvas = -1;
    if (m_session && !m_run.isEmpty()) {
        const auto present = info();
        if (present)
            m_frame = m_session->newestFrame(m_run, m_lane);
        refreshCurves();
    }
    Q_EMIT runChanged();
    Q_EMIT curvesChanged();
    Q_EMIT frameChanged();
}

std::optional<RunInfo> InspectorView::info() const
{
    if (!m_session)
        return std::nullopt;
    const auto runs = m_session->runs();
    const auto found = std::find_if(runs.begin(), runs.end(), [this](const RunInfo &r) { return r.run == m_run; });
    return found == runs.end() ? std::nullopt : std::optional(*found);
}

void InspectorView::onRunChanged(const QString &run)
{
    if (run != m_run) {
        const auto runs = m_session->runs();
        if (runs.empty() || runs.back().run != run || run == m_newestRun)
            return;
        m_newestRun = run; // somebody started another one
        inspect(run);
        return;
    }
    const auto present = info();
    if (present && !editing::hasEnded(present->state)) { // only the curves are others
        refreshCurvesSoon();
        return;
    }
    refreshCurves();
    Q_EMIT runChanged();
}

void InspectorView::onFrame(const QString &run, int lane)
{
    if (run != m_run)
        return;
    refreshCurvesSoon(); // also of what goes on while a step is looked back at
    if (!m_following)
        return;
    // Follows the work: when a lane is done, the next one that moves.
    if (lane != m_lane) {
        const auto present = info();
        const auto index = static_cast<std::size_t>(m_lane);
        if (present && index < present->lanes.size() && !editing::hasEnded(present->lanes[index].state))
            return;
        m_lane = lane;
        Q_EMIT runChanged();
    }
    m_frame = m_session->newestFrame(m_run, m_lane);
    m_canvas = m_frame ? static_cast<int>(m_frame->canvas) : 0;
    m_wantedStep = step();
    m_frameTimer.request();
}

void InspectorView::refreshCurvesSoon()
{
    if (!m_curvesTimer.isActive())
        m_curvesTimer.start();
}

void InspectorView::refreshCurves()
{
    if (!m_session || m_run.isEmpty())
        return;
    m_session->history(m_run, [self = QPointer(this), run = m_run](const std::variant<RunCurves, Error> &answer) {
        if (!self || self->m_run != run)
            return;
        const auto *curves = std::get_if<RunCurves>(&answer);
        if (curves == nullptr)
            return; // a run of which nothing is kept: nothing to show
        self->m_curves = *curves;
        Q_EMIT self->curvesChanged();
        if (!self->m_frame && self->steps() > 0)
            self->loadFrame(self->m_canvas, self->steps());
    });
}

void InspectorView::setLane(int lane)
{
    if (lane == m_lane || lane < 0 || lane >= lanes())
        return;
    m_lane = lane;
    m_canvas = std::max(0, canvases() - 1);
    m_frame.reset();
    m_settledCanvas = -1;
    loadFrame(m_canvas, steps());
    Q_EMIT runChanged();
    Q_EMIT curvesChanged();
}

QString InspectorView::runTitle() const
{
    const auto present = info();
    return present ? editing::nameOf(present->action) : QString();
}

int InspectorView::lanes() const
{
    const auto present = info();
    return present ? static_cast<int>(present->lanes.size()) : static_cast<int>(m_curves.size());
}

const CanvasCurve *InspectorView::curve(int canvas) const
{
    const auto lane = static_cast<std::size_t>(m_lane);
    if (lane >= m_curves.size() || canvas < 0 || canvas >= static_cast<int>(m_curves[lane].size()))
        return nullptr;
    return &m_curves[lane][static_cast<std::size_t>(canvas)];
}

int InspectorView::canvases() const
{
    const auto lane = static_cast<std::size_t>(m_lane);
    return lane < m_curves.size() ? static_cast<int>(m_curves[lane].size()) : 0;
}

int InspectorView::steps() const
{
    const CanvasCurve *shown = curve(m_canvas);
    return shown == nullptr ? 0 : shown->steps;
}

int InspectorView::maxSteps() const
{
    const CanvasCurve *shown = curve(m_canvas);
    return shown == nullptr ? 0 : shown->maxSteps;
}

void InspectorView::loadFrame(int canvas, int step)
{
    if (!m_session || m_run.isEmpty() || step < 1)
        return;
    m_canvas = canvas;
    m_wantedStep = step;
    m_session->historyFrame(
        m_run, m_lane, canvas, step,
        [self = QPointer(this), run = m_run, lane = m_lane, canvas, step](const std::variant<Frame, Error> &answer) {
            if (!self || self->m_run != run || self->m_lane != lane || self->m_canvas != canvas ||
                self->m_wantedStep != step)
                return;
            if (const auto *frame = std::get_if<Frame>(&answer)) {
                self->m_frame = *frame;
                self->loadSettled();
                Q_EMIT self->frameChanged();
            } else {
                Q_EMIT self->problem(QString::fromUtf8(std::get<Error>(answer).what()));
            }
        });
    Q_EMIT curvesChanged();
}

/// What stands in front of the step shown, for the page.
void InspectorView::loadSettled()
{
    if (m_settledCanvas == m_canvas)
        return;
    m_settled.clear();
    m_settledCanvas = m_canvas;
    if (m_canvas == 0)
        return;
    m_session->historyText(m_run, m_lane, m_canvas, m_frame->step,
                           [self = QPointer(this), run = m_run, lane = m_lane, canvas = m_canvas,
                            length = m_frame->shownText().size()](const std::variant<QString, Error> &answer) {
                               const auto *text = std::get_if<QString>(&answer);
                               if (!self || text == nullptr || self->m_run != run || self->m_lane != lane ||
                                   self->m_canvas != canvas)
                                   return;
                               self->m_settled = text->chopped(std::min(length, text->size()));
                               Q_EMIT self->frameChanged();
                           });
}

std::optional<PageText::Preview> InspectorView::preview() const
{
    if (m_following || !m_frame || m_settledCanvas != m_canvas)
        return std::nullopt;
    return PageText::Preview{.run = m_run, .lane = m_lane, .frame = *m_frame, .settled = m_settled};
}

void InspectorView::goTo(int canvas, int step)
{
    if (canvases() == 0)
        return;
    m_following = false;
    m_canvas = std::clamp(canvas, 0, canvases() - 1);
    loadFrame(m_canvas, std::clamp(step, 1, std::max(1, steps())));
    Q_EMIT frameChanged();
}

void InspectorView::stepBy(int count)
{
    int canvas = m_canvas;
    int step = m_wantedStep + count;
    while (step < 1 && canvas > 0)
        step += curve(--canvas)->steps;
    while (curve(canvas) != nullptr && step > curve(canvas)->steps && canvas + 1 < canvases())
        step -= curve(canvas++)->steps;
    goTo(canvas, step);
}

void InspectorView::canvasBy(int count)
{
    goTo(m_canvas + count, 1);
}

void InspectorView::follow()
{
    pausePlaying();
    m_following = true;
    if (m_session && info())
        m_frame = m_session->newestFrame(m_run, m_lane);
    if (m_frame) {
        m_canvas = static_cast<int>(m_frame->canvas);
        m_wantedStep = m_frame->step;
    }
    Q_EMIT frameChanged();
    Q_EMIT curvesChanged();
}

void InspectorView::play()
{
    if (canvases() == 0)
        return;
    if (m_canvas + 1 >= canvases() && m_wantedStep >= steps())
        goTo(0, 1);
    m_following = false;
    m_playTimer.start();
    Q_EMIT playingChanged();
}

void InspectorView::pausePlaying()
{
    if (!m_playTimer.isActive())
        return;
    m_playTimer.stop();
    Q_EMIT playingChanged();
}

void InspectorView::branchHere()
{
    if (!m_session || !m_frame)
        return;
    try {
        m_session->branch(m_run, m_lane, m_frame->canvas, m_frame->step,
                          [self = QPointer(this)](const std::variant<editing::BranchInfo, Error> &answer) {
                              if (!self)
                                  return;
                              if (const auto *branch = std::get_if<editing::BranchInfo>(&answer)) {
                                  self->follow(); // the page has that step's words now
                                  Q_EMIT self->branched(branch->revision);
                              } else {
                                  Q_EMIT self->problem(QString::fromUtf8(std::get<Error>(answer).what()));
                              }
                          });
    } catch (const Error &error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
}

} // namespace palimpsest::studio
