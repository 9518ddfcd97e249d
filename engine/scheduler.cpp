// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/scheduler.h"

#include "engine/request_check.h"
#include "engine/request_queue.h"
#include "engine/scheduler_loop.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace palimpsest {

namespace {

void requireAtLeast(const char *field, std::int64_t value, std::int64_t lowest)
{
    if (value < lowest) {
        throw Error(ErrorKind::InvalidArgument,
                    std::string(field) + " is " + std::to_string(value) + ", but must be at least " +
                        std::to_string(lowest),
                    field);
    }
}

SchedulerSettings checked(const SchedulerSettings &settings)
{
    requireAtLeast("maxBatch", settings.maxBatch, 1);
    requireAtLeast("queueCapacity", settings.queueCapacity, 0);
    requireAtLeast("prefixCacheBytes", settings.prefixCacheBytes, 0);
    return settings;
}

} // namespace

struct RequestHandle::Shared
{
    std::shared_ptr<RequestQueue> queue;
    std::shared_ptr<RequestControl> control;
};

RequestId RequestHandle::id() const noexcept
{
    return m_shared->control->id;
}

void RequestHandle::cancel()
{
    m_shared->queue->cancel(*m_shared->control);
}

void RequestHandle::pause()
{
    m_shared->queue->pause(*m_shared->control);
}

void RequestHandle::resume()
{
    m_shared->queue->resume(*m_shared->control);
}

void RequestHandle::step()
{
    m_shared->queue->step(*m_shared->control);
}

void RequestHandle::freeze(std::int64_t canvas, std::vector<Generation::Freeze> changes)
{
    const RequestControl &control = *m_shared->control;
    if (canvas < 0 || canvas >= static_cast<std::int64_t>(control.canvasLengths.size())) {
        return; // never the running one
    }
    checkFreezes(changes, control.canvasLengths[static_cast<std::size_t>(canvas)], control.vocabSize);
    m_shared->queue->freeze(*m_shared->control, {canvas, std::move(changes)});
}

int RequestHandle::queuePosition() const
{
    return m_shared->queue->position(*m_shared->control);
}

struct Scheduler::State
{
    State(std::unique_ptr<Backend> theBackend, std::shared_ptr<const Tokenizer> theTokenizer,
          const SchedulerSettings &settings)
        : backend(std::move(theBackend)),
          tokenizer(std::move(theTokenizer)),
          queue(std::make_shared<RequestQueue>(settings.maxBatch, settings.queueCapacity)),
          thread([this, settings] { SchedulerLoop(*backend, *queue, settings).run(); })
    {
    }

    std::unique_ptr<Backend> backend;
    std::shared_ptr<const Tokenizer> tokenizer;
    std::shared_ptr<RequestQueue> queue;
    std::atomic<RequestId> lastId = 0;
    std::thread thread; ///< last: it uses the others
};

Scheduler::Scheduler(std::unique_ptr<Backend> backend, std::shared_ptr<const Tokenizer> tokenizer,
                     SchedulerSettings settings)
    : m_state(std::make_unique<State>(std::move(backend), std::move(tokenizer), checked(settings)))
{
}

Scheduler::~Scheduler()
{
    m_state->queue->stop();
    m_state->thread.join();
}

RequestHandle Scheduler::submit(GenerationRequest request, std::shared_ptr<GenerationObserver> observer,
                                Completion completion)
{
    const bool startsPaused = request.startPaused;
    const RequestId id = ++m_state->lastId;
    Generation generation(id, std::move(request), config(), m_state->tokenizer);

    auto control = std::make_shared<RequestControl>();
    control->id = id;
    control->canvasLengths.assign(generation.canvasLengths().begin(), generation.canvasLengths().end());
    control->vocabSize = config().vocabSize;
    control->paused = startsPaused;

    RequestHandle handle;
    handle.m_shared = std::make_shared<RequestHandle::Shared>(RequestHandle::Shared{m_state->queue, control});
    m_state->queue->submit(
        std::make_unique<Submission>(Submission{std::move(control), std::move(generation), std::move(observer),
                                                std::move(completion), std::chrono::steady_clock::now()}));
    return handle;
}

GenerationResult Scheduler::run(GenerationRequest request, std::shared_ptr<GenerationObserver> observer)
{
    using Outcome = std::variant<GenerationResult, Error>;
    const auto promise = std::make_shared<std::promise<Outcome>>();
    std::future<Outcome> future = promise->get_future();
    submit(std::move(request), std::move(observer),
           [promise](Outcome outcome) { promise->set_value(std::move(outcome)); });
    Outcome outcome = future.get();
    if (const Error *const error = std::get_if<Error>(&outcome)) {
        throw *error;
    }
    return std::get<GenerationResult>(std::move(outcome));
}

SchedulerStatus Scheduler::status() const
{
    return m_state->queue->status();
}

const ModelConfig &Scheduler::config() const noexcept
{
    return m_state->backend->config();
}

const BackendInfo &Scheduler::backendInfo() const noexcept
{
    return m_state->backend->info();
}

const std::shared_ptr<const Tokenizer> &Scheduler::tokenizer() const noexcept
{
    return m_state->tokenizer;
}

} // namespace palimpsest
