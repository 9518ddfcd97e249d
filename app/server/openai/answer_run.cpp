// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/answer_run.h"

#include "app/server/openai/choice_run.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <variant>

namespace palimpsest::openai {

namespace {

using Outcome = std::variant<GenerationResult, Error>;

} // namespace

/// All of it is guarded by the mutex, which is held over the writer: the writer only puts texts into a reply, and a
/// reply never waits.
struct AnswerRun::State
{
    struct Choice
    {
        ChoiceRun run;
        Ticket ticket;
    };

    Setup setup;
    std::unique_ptr<AnswerWriter> writer;
    std::mutex mutex;
    std::vector<Choice> choices;
    std::size_t left = 0; ///< choices that have not ended
    bool over = false;    ///< the writer is called no more

    [[nodiscard]] bool draftsWanted() const { return setup.prompts.front().drafts; }
    [[nodiscard]] std::vector<Ticket> tickets() const
    {
        std::vector<Ticket> all;
        for (const Choice &choice : choices)
            all.push_back(choice.ticket);
        return all;
    }
};

namespace {

void cancelAll(std::vector<Ticket> tickets)
{
    for (Ticket &ticket : tickets)
        ticket.cancel();
}

/// Passes a request's events on to its run. Keeps the run alive, which ends with the request.
class ChoiceObserver : public GenerationObserver
{
public:
    using OnCanvas = std::function<void(const CanvasEvent &)>;
    using OnStep = std::function<void(const std::shared_ptr<const StepEvent> &)>;

    ChoiceObserver(OnCanvas onCanvas, OnStep onStep) : m_onCanvas(std::move(onCanvas)), m_onStep(std::move(onStep)) {}

    void onCanvas(const CanvasEvent &event) override { m_onCanvas(event); }
    void onStep(const std::shared_ptr<const StepEvent> &event) override
    {
        if (m_onStep)
            m_onStep(event);
    }

private:
    OnCanvas m_onCanvas;
    OnStep m_onStep;
};

} // namespace

AnswerRun::AnswerRun(std::unique_ptr<State> state) : m_state(std::move(state)) {}

AnswerRun::~AnswerRun() = default;

std::shared_ptr<AnswerRun> AnswerRun::make(Setup setup, std::unique_ptr<AnswerWriter> writer)
{
    auto state = std::make_unique<State>();
    for (const PreparedAnswer &prompt : setup.prompts) {
        const auto prepared = std::make_shared<const PreparedAnswer>(prompt);
        for (int i = 0; i < setup.choicesEach; ++i) {
            const std::uint64_t seed = seedOfChoice(prompt.request.seed, static_cast<std::size_t>(i));
            state->choices.push_back({ChoiceRun(state->choices.size(), prepared, seed, setup.model), {}});
        }
    }
    state->left = state->choices.size();
    state->setup = std::move(setup);
    state->writer = std::move(writer);
    return std::shared_ptr<AnswerRun>(new AnswerRun(std::move(state)));
}

void AnswerRun::start()
{
    State &state = *m_state;
    state.writer->whenGone([weak = weak_from_this()] {
        if (const auto run = weak.lock())
            run->cancel();
    });
    std::vector<Ticket> doomed;
    {
        // Held until the writer has begun: nothing that happens meanwhile overtakes it.
        const std::lock_guard lock(state.mutex);
        if (state.over)
            return;
        try {
            for (std::size_t index = 0; index < state.choices.size(); ++index)
                submit(index, state.choices[index].run.request(), Pass::First);
            state.writer->begin(state.choices.front().ticket.queuePosition());
        } catch (const Error &error) {
            state.over = true;
            doomed = state.tickets();
            state.writer->onError(inApiWords(error));
        }
    }
    cancelAll(std::move(doomed));
}

void AnswerRun::submit(std::size_t index, GenerationRequest request, Pass pass)
{
    State &state = *m_state;
    const auto self = shared_from_this();
    std::shared_ptr<GenerationObserver> observer;
    if (pass == Pass::First) {
        ChoiceObserver::OnStep onStep;
        if (state.draftsWanted())
            onStep = [self, index](const auto &event) {
                self->onStep(index, *event);
            };
        observer = std::make_shared<ChoiceObserver>(
            [self, index](const CanvasEvent &event) { self->onCanvas(index, event); }, std::move(onStep));
    }
    state.choices[index].ticket = state.setup.model->desk->submit(
        state.setup.client, std::move(request), std::move(observer),
        [self, index](Outcome outcome) { self->onEnded(index, std::move(outcome)); },
        [self, index](int position) { self->onQueued(index, position); });
}

void AnswerRun::cancel()
{
    std::vector<Ticket> tickets;
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->over = true;
        tickets = m_state->tickets();
    }
    cancelAll(std::move(tickets));
}

void AnswerRun::onQueued(std::size_t index, int position)
{
    const std::lock_guard lock(m_state->mutex);
    if (!m_state->over && index == 0)
        m_state->writer->onQueued(position);
}

void AnswerRun::onStep(std::size_t index, const StepEvent &event)
{
    const std::lock_guard lock(m_state->mutex);
    if (!m_state->over)
        m_state->writer->onDraft(index, m_state->choices[index].run.draftText(event), event);
}

void AnswerRun::onCanvas(std::size_t index, const CanvasEvent &event)
{
    Ticket stopped;
    {
        const std::lock_guard lock(m_state->mutex);
        if (m_state->over)
            return;
        ChoiceRun &run = m_state->choices[index].run;
        const AnswerDelta delta = run.onCanvas(event);
        if (!delta.pieces.empty() || !delta.tokens.empty())
            m_state->writer->onDelta(index, delta);
        if (run.stopped())
            stopped = m_state->choices[index].ticket;
    }
    stopped.cancel();
}

void AnswerRun::onEnded(std::size_t index, Outcome outcome)
{
    std::vector<Ticket> doomed;
    {
        const std::lock_guard lock(m_state->mutex);
        if (m_state->over)
            return;
        try {
            if (const auto *error = std::get_if<Error>(&outcome))
                throw Error(*error);
            endPass(index, std::get<GenerationResult>(std::move(outcome)));
        } catch (const Error &error) { // ends the answer: the client learns why
            m_state->over = true;
            doomed = m_state->tickets();
            m_state->writer->onError(inApiWords(error));
        }
    }
    cancelAll(std::move(doomed));
}

void AnswerRun::endPass(std::size_t index, GenerationResult result)
{
    State &state = *m_state;
    ChoiceRun &run = state.choices[index].run;
    if (result.finish == FinishReason::Cancelled && !run.stopped())
        throw Error(ErrorKind::Backend,
                    "The server gave the request up: it is shutting down, or the model was unloaded");
    ChoiceRun::Ending ending = run.onResult(std::move(result));
    if (ending.next) {
        submit(index, *std::move(ending.next), Pass::Repair);
        return;
    }
    if (!ending.rest.pieces.empty() || !ending.rest.tokens.empty())
        state.writer->onDelta(index, ending.rest);
    --state.left;
    state.writer->onChoice(run.outcome(), state.left == 0);
    if (state.left > 0)
        return;
    state.over = true;
    std::vector<ChoiceOutcome> outcomes;
    for (const State::Choice &choice : state.choices)
        outcomes.push_back(choice.run.outcome());
    state.writer->onDone(outcomes);
}

} // namespace palimpsest::openai
