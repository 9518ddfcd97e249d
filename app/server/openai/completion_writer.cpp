// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/completion_writer.h"

#include "app/server/openai/api_error.h"
#include "app/server/openai/chat_writer.h"

#include <cmath>
#include <utility>

namespace palimpsest::openai {

namespace {

constexpr std::string_view kObject = "text_completion";

/// The older form of log-probabilities: parallel lists. `offset`: characters (code points) of the text before.
Json parallelLogprobs(std::span<const VisibleToken> tokens, const AnswerContext &context, std::size_t &offset)
{
    if (!context.topLogprobs)
        return nullptr;
    const Tokenizer &tokenizer = *context.model->tokenizer;
    Json logprobs{{"tokens", Json::array()},
                  {"token_logprobs", Json::array()},
                  {"top_logprobs", Json::array()},
                  {"text_offset", Json::array()}};
    for (const VisibleToken &token : tokens) {
        logprobs["tokens"].push_back(tokenSpelling(token.id, tokenizer));
        logprobs["token_logprobs"].push_back(token.certainty.logProbability);
        logprobs["text_offset"].push_back(offset);
        Json top = Json::object();
        for (int i = 0; i < *context.topLogprobs; ++i) {
            const Alternative &other = token.certainty.alternatives.at(static_cast<std::size_t>(i));
            if (other.probability > 0.0F)
                top[tokenSpelling(other.id, tokenizer)] = std::log(static_cast<double>(other.probability));
        }
        logprobs["top_logprobs"].push_back(std::move(top));
        for (const char byte : tokenizer.tokenBytes(token.id))
            offset += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U ? 1 : 0;
    }
    return logprobs;
}

class WholeCompletion : public AnswerWriter
{
public:
    WholeCompletion(http::Reply reply, AnswerContext context, std::vector<std::string> echoes)
        : m_reply(std::move(reply)), m_context(std::move(context)), m_echoes(std::move(echoes))
    {
    }

    void whenGone(std::function<void()> gone) override { m_reply.onCancelled(std::move(gone)); }

    void onDone(const std::vector<ChoiceOutcome> &outcomes) override
    {
        Json choices = Json::array();
        for (const ChoiceOutcome &outcome : outcomes) {
            std::size_t offset = 0;
            choices.push_back(completionChoice(outcome.index, m_echoes[outcome.index] + outcome.content,
                                               parallelLogprobs(outcome.tokens, m_context, offset),
                                               finishReasonOf(outcome.end)));
        }
        Json answer = completionObject(m_context, std::move(choices));
        answer["usage"] = usageOf(outcomes, m_context);
        answer["palimpsest"] = figuresOf(outcomes, m_context);
        m_reply.finish(http::Response{.body = dump(answer), .fields = {}});
    }
    void onError(const Error &error) override { m_reply.finish(apiErrorResponse(error, m_context.model.get())); }

private:
    http::Reply m_reply;
    AnswerContext m_context;
    std::vector<std::string> m_echoes;
};

class StreamedCompletion : public AnswerWriter
{
public:
    StreamedCompletion(http::Reply reply, AnswerContext context, std::vector<std::string> echoes)
        : m_reply(std::move(reply)),
          m_context(std::move(context)),
          m_echoes(std::move(echoes)),
          m_offsets(m_context.choices, 0)
    {
    }

    void whenGone(std::function<void()> gone) override { m_reply.onCancelled(std::move(gone)); }

    void begin(int position) override
    {
        m_begun = true;
        m_reply.beginEvents(streamFields(position));
        if (position > 0)
            onQueued(position);
        for (std::size_t choice = 0; choice < m_context.choices; ++choice) {
            if (!m_echoes[choice].empty())
                push(completionChoice(choice, m_echoes[choice], nullptr, nullptr));
        }
    }
    void onQueued(int position) override { m_reply.push(queueComment(position)); }

    void onDelta(std::size_t choice, const AnswerDelta &delta) override
    {
        push(completionChoice(choice, delta.pieces.content,
                              parallelLogprobs(delta.tokens, m_context, m_offsets[choice]), nullptr));
    }
    void onDraft(std::size_t choice, const std::string &text, const StepEvent &event) override
    {
        pushDraft(m_reply, choice, text, event);
    }
    void onChoice(const ChoiceOutcome &outcome, bool last) override
    {
        Json choice = completionChoice(outcome.index, "", nullptr, finishReasonOf(outcome.end));
        if (last) // it waits for the figures of all
            m_lastChoice = std::move(choice);
        else
            push(std::move(choice));
    }
    void onDone(const std::vector<ChoiceOutcome> &outcomes) override
    {
        Json chunk = chunkWith(std::move(m_lastChoice));
        if (!m_context.usageChunk)
            chunk["palimpsest"] = figuresOf(outcomes, m_context);
        m_reply.push(sseData(chunk));
        if (m_context.usageChunk)
            m_reply.push(sseData(usageChunk(m_context, kObject, outcomes)));
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
    [[nodiscard]] Json chunkWith(Json choice) const
    {
        Json chunk = completionObject(m_context, Json::array({std::move(choice)}));
        if (m_context.usageChunk)
            chunk["usage"] = nullptr;
        return chunk;
    }
    void push(Json choice) { m_reply.push(sseData(chunkWith(std::move(choice)))); }

    http::Reply m_reply;
    AnswerContext m_context;
    std::vector<std::string> m_echoes;
    std::vector<std::size_t> m_offsets; ///< characters sent so far, of each choice
    Json m_lastChoice;
    bool m_begun = false;
};

} // namespace

Json completionObject(const AnswerContext &context, Json choices)
{
    return {{"id", context.identity.id},
            {"object", kObject},
            {"created", context.identity.createdSeconds},
            {"model", context.identity.model},
            {"system_fingerprint", context.identity.fingerprint},
            {"choices", std::move(choices)}};
}

Json completionChoice(std::size_t index, std::string text, Json logprobs, Json finishReason)
{
    return {{"text", std::move(text)},
            {"index", index},
            {"logprobs", std::move(logprobs)},
            {"finish_reason", std::move(finishReason)}};
}

std::unique_ptr<AnswerWriter> wholeCompletionWriter(http::Reply reply, AnswerContext context,
                                                    std::vector<std::string> echoes)
{
    return std::make_unique<WholeCompletion>(std::move(reply), std::move(context), std::move(echoes));
}

std::unique_ptr<AnswerWriter> streamedCompletionWriter(http::Reply reply, AnswerContext context,
                                                       std::vector<std::string> echoes)
{
    return std::make_unique<StreamedCompletion>(std::move(reply), std::move(context), std::move(echoes));
}

} // namespace palimpsest::openai
