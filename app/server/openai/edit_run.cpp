// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/edit_run.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace palimpsest::openai {

namespace {

using Outcome = std::variant<GenerationResult, Error>;

class StepObserver : public GenerationObserver
{
public:
    explicit StepObserver(std::function<void(const StepEvent &)> onStep) : m_onStep(std::move(onStep)) {}
    void onStep(const std::shared_ptr<const StepEvent> &event) override { m_onStep(*event); }

private:
    std::function<void(const StepEvent &)> m_onStep;
};

CanvasEditor editorOf(const RunningModel &model)
{
    if (!model.chat) {
        throw Error(ErrorKind::InvalidArgument,
                    "This model has no chat format, and edits are put to it as instructions; it can continue text only",
                    "model");
    }
    return CanvasEditor(model.tokenizer, *model.chat, model.config, model.defaults);
}

void cancelAll(std::vector<Ticket> tickets)
{
    for (Ticket &ticket : tickets)
        ticket.cancel();
}

} // namespace

std::string EditEnd::newText() const
{
    return outcome.problem.empty() ? std::string(outcome.replaced.of(outcome.document)) : std::string();
}

/// Guarded by the mutex, which is held over the writer: it only puts texts into a reply, and a reply never waits.
struct EditRun::State
{
    State(Setup theSetup, CanvasEditor theEditor, EditPlan thePlan)
        : setup(std::move(theSetup)),
          editor(std::move(theEditor)),
          plan(std::move(thePlan)),
          tickets(plan.candidates.size()),
          results(plan.candidates.size())
    {
    }

    Setup setup;
    CanvasEditor editor;
    EditPlan plan;
    std::unique_ptr<EditWriter> writer;
    std::mutex mutex;
    std::vector<Ticket> tickets;
    std::vector<std::optional<GenerationResult>> results;
    bool over = false;
    std::chrono::steady_clock::time_point nextDraft; ///< not before

    /// The candidate whose drafts are shown: the first that is not done.
    [[nodiscard]] std::size_t shown() const
    {
        const auto open = std::ranges::find_if(results, [](const auto &result) { return !result.has_value(); });
        return static_cast<std::size_t>(open - results.begin());
    }
    [[nodiscard]] std::string draftText(std::size_t index, const StepEvent &event) const;
};

std::string EditRun::State::draftText(std::size_t index, const StepEvent &event) const
{
    const EditCandidate &candidate = plan.candidates[index];
    const auto &ends = candidate.request.eosTokenIds;
    const bool fresh = plan.strategy == EditStrategy::FreshAnswer;
    const auto begin = event.argmax.begin() + (fresh ? 0 : static_cast<std::ptrdiff_t>(candidate.gapBegin));
    const auto limit =
        fresh ? event.argmax.end() : event.argmax.begin() + static_cast<std::ptrdiff_t>(candidate.gapEnd);
    const auto end = std::find_if(begin, limit, [&](TokenId id) { return std::ranges::find(ends, id) != ends.end(); });
    return setup.model->tokenizer->decode({begin, end}, DecodeSpecial::Skip);
}

EditRun::EditRun(std::unique_ptr<State> state) : m_state(std::move(state)) {}

EditRun::~EditRun() = default;

std::shared_ptr<EditRun> EditRun::make(Setup setup)
{
    CanvasEditor editor = editorOf(*setup.model);
    EditPlan plan = editor.plan(setup.request);
    return std::shared_ptr<EditRun>(
        new EditRun(std::make_unique<State>(std::move(setup), std::move(editor), std::move(plan))));
}

void EditRun::start(std::unique_ptr<EditWriter> writer)
{
    State &state = *m_state;
    state.writer = std::move(writer);
    state.writer->whenGone([weak = weak_from_this()] {
        if (const auto run = weak.lock())
            run->cancel();
    });
    std::vector<Ticket> doomed;
    {
        const std::lock_guard lock(state.mutex);
        if (state.over)
            return;
        try {
            for (std::size_t index = 0; index < state.tickets.size(); ++index)
                submit(index);
            state.writer->begin(state.tickets.front().queuePosition());
        } catch (const Error &error) {
            state.over = true;
            doomed = state.tickets;
            state.writer->onError(error);
        }
    }
    cancelAll(std::move(doomed));
}

void EditRun::submit(std::size_t index)
{
    State &state = *m_state;
    const auto self = shared_from_this();
    state.tickets[index] = state.setup.model->desk->submit(
        state.setup.client, state.plan.candidates[index].request,
        std::make_shared<StepObserver>([self, index](const StepEvent &event) { self->onStep(index, event); }),
        [self, index](Outcome outcome) { self->onEnded(index, std::move(outcome)); },
        [self, index](int position) {
            const std::lock_guard lock(self->m_state->mutex);
            if (index == 0 && !self->m_state->over)
                self->m_state->writer->onQueued(position);
        });
}

void EditRun::cancel()
{
    std::vector<Ticket> tickets;
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->over = true;
        tickets = m_state->tickets;
    }
    cancelAll(std::move(tickets));
}

void EditRun::onStep(std::size_t index, const StepEvent &event)
{
    State &state = *m_state;
    const std::lock_guard lock(state.mutex);
    const auto now = std::chrono::steady_clock::now();
    if (state.over || state.shown() != index || now < state.nextDraft || !state.writer->takesDrafts())
        return;
    // A draft is the whole document, made on the engine's thread: a long one comes seldom, so that it costs nothing.
    constexpr std::chrono::milliseconds kInterval{30};
    constexpr std::size_t kBytesForAMillisecond = 2'000;
    state.nextDraft =
        now + kInterval + std::chrono::milliseconds(state.setup.request.document.size() / kBytesForAMillisecond);
    state.writer->onDraft(CanvasEditor::splice(state.plan, state.draftText(index, event)), index, event);
}

void EditRun::onEnded(std::size_t index, Outcome outcome)
{
    State &state = *m_state;
    std::vector<Ticket> doomed;
    {
        const std::lock_guard lock(state.mutex);
        if (state.over)
            return;
        try {
            if (const auto *error = std::get_if<Error>(&outcome))
                throw Error(*error);
            endCandidate(index, std::get<GenerationResult>(std::move(outcome)));
        } catch (const Error &error) { // ends the edit: the client learns why
            state.over = true;
            doomed = state.tickets;
            state.writer->onError(error);
        }
    }
    cancelAll(std::move(doomed));
}

void EditRun::endCandidate(std::size_t index, GenerationResult result)
{
    State &state = *m_state;
    if (result.finish == FinishReason::Cancelled)
        throw Error(ErrorKind::Backend,
                    "The server gave the request up: it is shutting down, or the model was unloaded");
    EditPlan alone = state.plan;
    alone.candidates = {state.plan.candidates[index]};
    const EditOutcome outcome = state.editor.apply(alone, std::span(&result, 1));
    state.results[index] = std::move(result);
    if (outcome.problem.empty())
        state.writer->onCandidate(outcome.document, index);
    if (state.shown() < state.results.size())
        return;
    state.over = true;
    EditEnd end{state.plan, {}, {}};
    for (std::optional<GenerationResult> &each : state.results)
        end.results.push_back(*std::move(each));
    end.outcome = state.editor.apply(state.plan, end.results);
    state.writer->onDone(end);
}

} // namespace palimpsest::openai
