// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/run_board.h"

#include <utility>

namespace palimpsest::cli {

namespace {

/// Weight of the newest step in the shown milliseconds a step: enough to follow, too little to flicker.
constexpr double kStepSmoothing = 0.2;

} // namespace

class RunBoard::Observer : public GenerationObserver
{
public:
    Observer(RunBoard &board, std::size_t slot) : m_board(board), m_slot(slot) {}

    void onPrefill(const PrefillEvent &event) override
    {
        m_board.update(m_slot, [&event](SlotState &slot) {
            slot.promptDone = event.done;
            slot.promptTotal = event.total;
        });
    }

    void onStep(const std::shared_ptr<const StepEvent> &event) override
    {
        m_board.update(m_slot, [this, &event](SlotState &slot) {
            slot.event = event;
            m_board.m_stepMsSum += event->stepMs;
            ++m_board.m_stepCount;
            double &shown = m_board.m_stepMs;
            shown = shown == 0.0 ? event->stepMs : shown + kStepSmoothing * (event->stepMs - shown);
        });
    }

    void onCanvas(const CanvasEvent &event) override
    {
        m_board.update(m_slot, [&event](SlotState &slot) {
            slot.settled += event.settledText;
            slot.canvasesDone = event.canvas + 1;
            slot.event.reset();
        });
    }

private:
    RunBoard &m_board;
    std::size_t m_slot;
};

RunBoard::RunBoard(std::size_t slots, std::function<void()> onChange) : m_slots(slots), m_onChange(std::move(onChange))
{
}

std::shared_ptr<GenerationObserver> RunBoard::observer(std::size_t slot)
{
    return std::make_shared<Observer>(*this, slot);
}

void RunBoard::update(std::size_t slot, const std::function<void(SlotState &)> &change)
{
    {
        const std::lock_guard lock(m_mutex);
        change(m_slots[slot]);
    }
    m_onChange();
}

void RunBoard::finish(std::size_t slot)
{
    update(slot, [this](SlotState &state) {
        state.event.reset();
        state.done = true;
        ++m_done;
        while (m_firstUnfinished < m_slots.size() && m_slots[m_firstUnfinished].done)
            ++m_firstUnfinished;
    });
}

SlotState RunBoard::slot(std::size_t index) const
{
    const std::lock_guard lock(m_mutex);
    return m_slots[index];
}

std::size_t RunBoard::doneCount() const
{
    const std::lock_guard lock(m_mutex);
    return m_done;
}

std::size_t RunBoard::firstUnfinished() const
{
    const std::lock_guard lock(m_mutex);
    return m_firstUnfinished;
}

double RunBoard::meanStepMs() const
{
    const std::lock_guard lock(m_mutex);
    return m_stepCount == 0 ? 0.0 : m_stepMsSum / static_cast<double>(m_stepCount);
}

double RunBoard::stepMs() const
{
    const std::lock_guard lock(m_mutex);
    return m_stepMs;
}

} // namespace palimpsest::cli
