// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/scheduler_loop.h"

#include "engine/error.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

namespace palimpsest {

namespace {

using Clock = std::chrono::steady_clock;

/// Tokens of one encoder call. About one canvas: a prompt that is being read then slows running canvases to half their
/// pace at most, and a cancelled prefill ends as soon as a cancelled step.
constexpr std::size_t kEncodeChunkTokens = 256;

double millisecondsBetween(Clock::time_point begin, Clock::time_point end)
{
    return std::chrono::duration<double, std::milli>(end - begin).count();
}

/// The edge of the thread: whatever backends and observers throw becomes the error that ends a request.
template <typename Work>
std::optional<Error> attempt(Work &&work)
{
    try {
        work();
        return std::nullopt;
    } catch (const Error &error) {
        return error;
    } catch (const std::bad_alloc &) {
        return Error(ErrorKind::OutOfMemory, "There is not enough memory to go on with this request", "memory");
    } catch (const std::exception &error) {
        return Error(ErrorKind::Backend, std::string("The generation failed: ") + error.what(), "backend");
    }
}

} // namespace

struct SchedulerLoop::ActiveRequest
{
    ActiveRequest(std::unique_ptr<Submission> submission, Clock::time_point now)
        : control(std::move(submission->control)),
          generation(std::move(submission->generation)),
          observer(std::move(submission->observer)),
          completion(std::move(submission->completion)),
          submitted(submission->submitted),
          admitted(now)
    {
    }

    [[nodiscard]] bool readsPrompt() const { return !prefillEnd.has_value(); }

    std::shared_ptr<RequestControl> control;
    Generation generation;
    std::shared_ptr<GenerationObserver> observer; ///< may be null
    Scheduler::Completion completion;
    std::unique_ptr<Sequence> sequence;
    std::unique_ptr<SelfConditioning> conditioning;
    std::vector<TokenId> encodedIds;  ///< what `sequence` holds
    std::size_t encodedOfCurrent = 0; ///< of the generation's tokensToEncode
    std::int64_t reusedPromptTokens = 0;
    Clock::time_point submitted;
    Clock::time_point admitted;
    std::optional<Clock::time_point> prefillEnd;
    std::optional<Clock::time_point> firstDraft;
    bool ended = false;
};

SchedulerLoop::SchedulerLoop(Backend &backend, RequestQueue &queue, const SchedulerSettings &settings)
    : m_backend(backend), m_queue(queue), m_cache(backend, settings.prefixCacheBytes)
{
}

SchedulerLoop::~SchedulerLoop() = default;

void SchedulerLoop::run()
{
    while (true) {
        std::vector<RequestQueue::Running> running;
        running.reserve(m_running.size());
        for (const auto &request : m_running) {
            running.push_back({request->control.get(), request->generation.phase() == Generation::Phase::Encode});
        }
        RequestQueue::Turn turn = m_queue.nextTurn(running);
        if (turn.stopping) {
            cancelAll();
            return;
        }
        endWaiting(std::move(turn.cancelled)); // first: a cancelled request does not wait for another step
        follow(turn.orders);
        for (auto &submission : turn.admitted) {
            admit(std::move(submission));
        }
    }
}

void SchedulerLoop::follow(std::span<RequestQueue::Orders> orders)
{
    std::vector<ActiveRequest *> batch;
    std::vector<ActiveRequest *> encoding;
    for (std::size_t i = 0; i < orders.size(); ++i) {
        ActiveRequest &request = *m_running[i];
        const bool frozen = guarded(request, [&] {
            for (const FreezeOrder &freeze : orders[i].freezes) {
                request.generation.freeze(freeze.canvas, freeze.changes);
            }
        });
        if (!frozen) {
            continue;
        }
        if (orders[i].cancel) {
            cancel(request);
        } else if (request.generation.phase() == Generation::Phase::Encode) {
            encoding.push_back(&request);
        } else if (orders[i].mayStep) {
            batch.push_back(&request);
        }
    }
    for (ActiveRequest *request : encoding) {
        encodeChunk(*request);
    }
    if (!batch.empty()) {
        denoise(batch);
    }
    dropEnded();
}

void SchedulerLoop::admit(std::unique_ptr<Submission> submission)
{
    m_running.push_back(std::make_unique<ActiveRequest>(std::move(submission), Clock::now()));
    ActiveRequest &request = *m_running.back();
    guarded(request, [&] {
        const std::vector<TokenId> &prompt = request.generation.request().prompt;
        PrefixCache::Match match = m_cache.longestPrefix(prompt);
        request.sequence = std::move(match.sequence);
        request.conditioning = m_backend.newSelfConditioning();
        request.encodedOfCurrent = static_cast<std::size_t>(match.length);
        request.encodedIds.assign(prompt.begin(), prompt.begin() + match.length);
        request.reusedPromptTokens = match.length;
        if (request.observer != nullptr && match.length > 0) {
            request.observer->onPrefill(
                {request.control->id, match.length, static_cast<std::int64_t>(prompt.size()), match.length});
        }
        if (request.encodedOfCurrent == prompt.size()) {
            finishEncoding(request);
        }
    });
    dropEnded();
}

void SchedulerLoop::encodeChunk(ActiveRequest &request)
{
    guarded(request, [&] {
        const std::span<const TokenId> tokens = request.generation.tokensToEncode();
        const std::span<const TokenId> left = tokens.subspan(request.encodedOfCurrent);
        const std::span<const TokenId> chunk = left.first(std::min(left.size(), kEncodeChunkTokens));
        if (!m_backend.encode(*request.sequence, chunk, request.control->cancelled.get_token())) {
            return; // cancelled: the next turn ends it
        }
        request.encodedOfCurrent += chunk.size();
        request.encodedIds.insert(request.encodedIds.end(), chunk.begin(), chunk.end());
        if (request.observer != nullptr && request.readsPrompt()) {
            request.observer->onPrefill({request.control->id, static_cast<std::int64_t>(request.encodedOfCurrent),
                                         static_cast<std::int64_t>(tokens.size()), request.reusedPromptTokens});
        }
        if (request.encodedOfCurrent == tokens.size()) {
            m_cache.store(*request.sequence, request.encodedIds);
            finishEncoding(request);
        }
    });
}

void SchedulerLoop::finishEncoding(ActiveRequest &request)
{
    request.generation.encoded();
    request.encodedOfCurrent = 0;
    if (request.readsPrompt()) {
        request.prefillEnd = Clock::now();
    }
}

void SchedulerLoop::denoise(std::span<ActiveRequest *const> batch)
{
    const Clock::time_point begin = Clock::now();
    const std::optional<Error> error = attempt([&] {
        std::vector<DenoiseJob> jobs;
        jobs.reserve(batch.size());
        for (ActiveRequest *request : batch) {
            if (request->generation.startsCanvas()) {
                request->conditioning->reset();
            }
            DenoiseJob &job = jobs.emplace_back(request->generation.nextJob());
            job.prefix = request->sequence.get();
            job.conditioning = request->conditioning.get();
        }
        m_backend.denoise(jobs);
    });
    if (error) {
        for (ActiveRequest *request : batch) {
            end(*request, error);
        }
        return;
    }
    const double stepMs = millisecondsBetween(begin, Clock::now());
    m_queue.recordStep(stepMs);
    for (ActiveRequest *request : batch) {
        evaluateStep(*request, stepMs);
    }
}

void SchedulerLoop::evaluateStep(ActiveRequest &request, double stepMs)
{
    const bool evaluated = guarded(request, [&] {
        const Clock::time_point now = Clock::now();
        if (!request.firstDraft) {
            request.firstDraft = now;
        }
        const Generation::StepOutcome outcome =
            request.generation.denoised(stepMs, millisecondsBetween(request.admitted, now));
        if (request.observer == nullptr) {
            return;
        }
        request.observer->onStep(outcome.step);
        if (outcome.canvas) {
            request.observer->onCanvas(*outcome.canvas);
        }
    });
    if (evaluated && request.generation.phase() == Generation::Phase::Done) {
        end(request, std::nullopt);
    }
}

void SchedulerLoop::cancel(ActiveRequest &request)
{
    const bool told = guarded(request, [&] {
        const std::optional<CanvasEvent> event = request.generation.cancel();
        if (event && request.observer != nullptr) {
            request.observer->onCanvas(*event);
        }
    });
    if (told) {
        end(request, std::nullopt);
    }
}

void SchedulerLoop::endWaiting(std::vector<std::unique_ptr<Submission>> submissions)
{
    for (auto &submission : submissions) {
        ActiveRequest request(std::move(submission), Clock::now());
        request.generation.cancel();
        end(request, std::nullopt);
    }
}

template <typename Work>
bool SchedulerLoop::guarded(ActiveRequest &request, Work &&work)
{
    std::optional<Error> error = attempt(std::forward<Work>(work));
    if (!error) {
        return true;
    }
    end(request, std::move(error));
    return false;
}

void SchedulerLoop::end(ActiveRequest &request, std::optional<Error> error)
{
    request.ended = true;
    std::optional<Outcome> outcome;
    if (!error) {
        error = attempt([&] {
            GenerationResult result = request.generation.takeResult();
            const Clock::time_point now = Clock::now();
            const Clock::time_point prefillEnd = request.prefillEnd.value_or(now);
            result.reusedPromptTokens = request.reusedPromptTokens;
            result.queueMs = millisecondsBetween(request.submitted, request.admitted);
            result.prefillMs = millisecondsBetween(request.admitted, prefillEnd);
            result.denoiseMs = millisecondsBetween(prefillEnd, now);
            if (request.firstDraft) {
                result.firstDraftMs = millisecondsBetween(request.submitted, *request.firstDraft);
            }
            outcome.emplace(std::move(result));
        });
    }
    if (error) {
        outcome.emplace(*std::move(error));
    }
    // Freed before the completion is called: whoever it wakes finds the place and the memory free.
    request.sequence.reset();
    request.conditioning.reset();
    request.observer.reset();
    if (!request.control->finished) {
        m_queue.finished(*request.control);
    }
    if (request.completion) {
        const Scheduler::Completion completion = std::exchange(request.completion, nullptr);
        completion(*std::move(outcome));
    }
}

void SchedulerLoop::dropEnded()
{
    std::erase_if(m_running, [](const auto &request) { return request->ended; });
}

void SchedulerLoop::cancelAll()
{
    for (const auto &request : m_running) {
        cancel(*request);
    }
    m_running.clear();
    endWaiting(m_queue.takeWaiting());
}

} // namespace palimpsest
