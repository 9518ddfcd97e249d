// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "app/server/openai/prepared_answer.h"
#include "app/server/openai/token_ledger.h"
#include "engine/error.h"
#include "engine/events.h"

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace palimpsest::openai {

/// Something of a choice that will never be taken back.
struct AnswerDelta
{
    ReplyPieces pieces;
    std::vector<VisibleToken> tokens; ///< if log-probabilities were asked for: those that settled meanwhile
};

enum class EndReason { Stop, Length, ToolCalls };

/// A choice that has ended. All deltas together are what it holds.
struct ChoiceOutcome
{
    std::size_t index = 0;
    std::string thoughts;
    std::string content;
    std::vector<ParsedReply::Call> calls;
    std::vector<VisibleToken> tokens;
    EndReason end = EndReason::Stop;
    bool thoughtUnfinished = false;
    std::int64_t completionTokens = 0;
    std::int64_t thoughtTokens = 0; ///< of these
    int repairs = 0;                ///< spans that were written anew for the response format
    GenerationResult result;        ///< figures; its tokens and texts are of the first pass
};

/// Turns what happens to an answer into what the client reads. All calls come one at a time, from any thread, and must
/// not wait.
class AnswerWriter
{
public:
    virtual ~AnswerWriter() = default;

    /// Before anything else: `gone` is to be called, on any thread, when the client has left before its answer was
    /// whole.
    virtual void whenGone(std::function<void()> gone) = 0;
    /// Everything was accepted; nothing else was called before. `position`: how many requests run before it.
    virtual void begin(int /*position*/) {}
    virtual void onQueued(int /*position*/) {} ///< it waits behind so many others
    virtual void onDelta(std::size_t /*choice*/, const AnswerDelta & /*delta*/) {}
    /// A draft of the running canvas; only if the request opted in. Text may change until it settles.
    virtual void onDraft(std::size_t /*choice*/, const std::string & /*text*/, const StepEvent & /*event*/) {}
    virtual void onChoice(const ChoiceOutcome & /*outcome*/, bool /*last*/) {}
    virtual void onDone(const std::vector<ChoiceOutcome> &outcomes) = 0; ///< the last call
    virtual void onError(const Error &error) = 0;                        ///< or this one
};

/// One answer with its choices: submits them, reads what settles, repairs what does not fit the response format, and
/// ends in exactly one of the writer's onDone and onError, or in neither if it is cancelled.
class AnswerRun : public std::enable_shared_from_this<AnswerRun>
{
public:
    struct Setup
    {
        std::shared_ptr<const RunningModel> model;
        ClientId client;
        std::vector<PreparedAnswer> prompts; ///< as many choices of each, in this order
        int choicesEach = 1;
    };

    [[nodiscard]] static std::shared_ptr<AnswerRun> make(Setup setup, std::unique_ptr<AnswerWriter> writer);
    ~AnswerRun();
    AnswerRun(const AnswerRun &) = delete;
    AnswerRun &operator=(const AnswerRun &) = delete;

    /// Submits everything; what the desk refuses goes to the writer's onError, which then is all that it hears.
    void start();
    /// The client is gone: ends everything within one step, and calls the writer no more.
    void cancel();

private:
    struct State;
    enum class Pass { First, Repair };
    explicit AnswerRun(std::unique_ptr<State> state);

    // With the mutex held.
    void submit(std::size_t index, GenerationRequest request, Pass pass);
    void endPass(std::size_t index, GenerationResult result);

    // Called by the desk and the engine.
    void onQueued(std::size_t index, int position);
    void onStep(std::size_t index, const StepEvent &event);
    void onCanvas(std::size_t index, const CanvasEvent &event);
    void onEnded(std::size_t index, std::variant<GenerationResult, Error> outcome);

    std::unique_ptr<State> m_state;
};

} // namespace palimpsest::openai
