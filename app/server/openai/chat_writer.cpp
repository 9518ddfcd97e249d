// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/chat_writer.h"

#include "app/server/openai/api_error.h"

#include <utility>

namespace palimpsest::openai {

namespace {

class WholeChat : public AnswerWriter
{
public:
    WholeChat(http::Reply reply, AnswerContext context) : m_reply(std::move(reply)), m_context(std::move(context)) {}

    void whenGone(std::function<void()> gone) override { m_reply.onCancelled(std::move(gone)); }

    void onDone(const std::vector<ChoiceOutcome> &outcomes) override
    {
        m_reply.finish(http::Response{.body = dump(chatAnswer(outcomes, m_context)), .fields = {}});
    }
    void onError(const Error &error) override { m_reply.finish(apiErrorResponse(error, m_context.model.get())); }

private:
    http::Reply m_reply;
    AnswerContext m_context;
};

class StreamedChat : public AnswerWriter
{
public:
    StreamedChat(http::Reply reply, AnswerContext context)
        : m_reply(std::move(reply)), m_context(std::move(context)), m_calls(m_context.choices, 0)
    {
    }

    void whenGone(std::function<void()> gone) override { m_reply.onCancelled(std::move(gone)); }

    void begin(int position) override
    {
        m_begun = true;
        m_reply.beginEvents(streamFields(position));
        if (position > 0)
            onQueued(position);
        for (std::size_t choice = 0; choice < m_context.choices; ++choice)
            push(choice, {{"role", "assistant"}, {"content", ""}});
    }

    void onQueued(int position) override { m_reply.push(queueComment(position)); }

    void onDelta(std::size_t choice, const AnswerDelta &delta) override
    {
        const ReplyPieces &pieces = delta.pieces;
        if (!pieces.thoughts.empty())
            push(choice, {{"reasoning_content", pieces.thoughts}});
        if (!pieces.content.empty() || !delta.tokens.empty())
            pushContent(choice, delta);
        for (const ParsedReply::Call &call : pieces.calls)
            pushCall(choice, call);
    }

    void onDraft(std::size_t choice, const std::string &text, const StepEvent &event) override
    {
        pushDraft(m_reply, choice, text, event);
    }

    void onChoice(const ChoiceOutcome &outcome, bool last) override
    {
        Json chunk = chatChunk(m_context, outcome.index, Json::object());
        chunk["choices"][0]["finish_reason"] = finishReasonOf(outcome.end);
        if (last) // it waits for the figures of all
            m_lastChunk = std::move(chunk);
        else
            m_reply.push(sseData(chunk));
    }

    void onDone(const std::vector<ChoiceOutcome> &outcomes) override
    {
        if (!m_context.usageChunk)
            m_lastChunk["palimpsest"] = figuresOf(outcomes, m_context);
        m_reply.push(sseData(m_lastChunk));
        if (m_context.usageChunk)
            m_reply.push(sseData(openai::usageChunk(m_context, "chat.completion.chunk", outcomes)));
        m_reply.push("data: [DONE]\n\n");
        m_reply.finish();
    }

    void onError(const Error &error) override
    {
        if (m_begun)
            finishWithError(m_reply, error);
        else
            m_reply.finish(apiErrorResponse(error, m_context.model.get()));
    }

private:
    void push(std::size_t choice, Json delta) { m_reply.push(sseData(chatChunk(m_context, choice, std::move(delta)))); }

    void pushContent(std::size_t choice, const AnswerDelta &delta)
    {
        Json chunk = chatChunk(m_context, choice, {{"content", delta.pieces.content}});
        chunk["choices"][0]["logprobs"] = logprobsOf(delta.tokens, m_context);
        m_reply.push(sseData(chunk));
    }

    void pushCall(std::size_t choice, const ParsedReply::Call &call)
    {
        const std::size_t index = m_calls[choice]++;
        const Json head{{"index", index},
                        {"id", callId(m_context.identity, choice, index)},
                        {"type", "function"},
                        {"function", {{"name", call.name}, {"arguments", ""}}}};
        push(choice, {{"tool_calls", Json::array({head})}});
        const Json rest{{"index", index}, {"function", {{"arguments", call.argumentsJson}}}};
        push(choice, {{"tool_calls", Json::array({rest})}});
    }

    http::Reply m_reply;
    AnswerContext m_context;
    std::vector<std::size_t> m_calls; ///< sent so far, of each choice
    Json m_lastChunk;
    bool m_begun = false;
};

} // namespace

std::unique_ptr<AnswerWriter> wholeChatWriter(http::Reply reply, AnswerContext context)
{
    return std::make_unique<WholeChat>(std::move(reply), std::move(context));
}

std::unique_ptr<AnswerWriter> streamedChatWriter(http::Reply reply, AnswerContext context)
{
    return std::make_unique<StreamedChat>(std::move(reply), std::move(context));
}

http::HeaderFields streamFields(int queuePosition)
{
    return {{"x-palimpsest-queue-position", std::to_string(queuePosition)}};
}

std::string queueComment(int position)
{
    return ": queued " + std::to_string(position) + "\n\n";
}

void finishWithError(http::Reply &reply, const Error &error)
{
    reply.push("data: " + apiErrorResponse(error, nullptr).body + "\n\n");
    reply.finish();
}

void pushDraft(http::Reply &reply, std::size_t choice, const std::string &text, const StepEvent &event)
{
    constexpr std::size_t kBehindBytes = 64 * 1024;
    if (reply.pendingBytes() > kBehindBytes)
        return;
    reply.push(sseEvent("draft", {{"object", "palimpsest.draft"},
                                  {"choices", Json::array()}, // for loops that take it for a chunk all the same
                                  {"index", choice},
                                  {"canvas", event.canvas},
                                  {"step", event.step},
                                  {"max_steps", event.maxSteps},
                                  {"mean_entropy_nats", event.meanEntropyNats},
                                  {"text", text}}));
}

} // namespace palimpsest::openai
