// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/responses_writer.h"

#include "app/server/openai/api_error.h"
#include "app/server/openai/chat_writer.h"

#include <utility>

namespace palimpsest::openai {

namespace {

std::string itemId(const AnswerContext &context, std::string_view prefix, std::size_t index)
{
    return std::string(prefix) + context.identity.id.substr(context.identity.id.find('_') + 1) + std::to_string(index);
}

Json textPart(const std::string &text)
{
    return {{"type", "output_text"}, {"text", text}, {"annotations", Json::array()}, {"logprobs", Json::array()}};
}

Json messageItem(const AnswerContext &context, std::size_t index, std::string_view status, Json content)
{
    return {{"type", "message"},
            {"id", itemId(context, "msg_", index)},
            {"status", status},
            {"role", "assistant"},
            {"content", std::move(content)}};
}

Json thoughtItem(const AnswerContext &context, std::size_t index, const std::string &thoughts)
{
    Json content = Json::array();
    if (!thoughts.empty())
        content.push_back({{"type", "reasoning_text"}, {"text", thoughts}});
    return {{"type", "reasoning"},
            {"id", itemId(context, "rs_", index)},
            {"summary", Json::array()},
            {"content", std::move(content)}};
}

Json callItem(const AnswerContext &context, std::size_t index, std::size_t call, const ParsedReply::Call &parsed,
              std::string_view status, bool withArguments)
{
    return {{"type", "function_call"},
            {"id", itemId(context, "fc_", index)},
            {"call_id", callId(context.identity, 0, call)},
            {"name", parsed.name},
            {"arguments", withArguments ? parsed.argumentsJson : ""},
            {"status", status}};
}

std::string_view statusOf(const ChoiceOutcome &outcome)
{
    return outcome.end == EndReason::Length ? "incomplete" : "completed";
}

/// Whether the answer has a message: always, unless it is calls alone.
bool hasMessage(const ChoiceOutcome &outcome)
{
    return !outcome.content.empty() || outcome.calls.empty();
}

Json outputOf(const AnswerContext &context, const ChoiceOutcome &outcome)
{
    Json output = Json::array();
    if (!outcome.thoughts.empty())
        output.push_back(thoughtItem(context, output.size(), outcome.thoughts));
    if (hasMessage(outcome))
        output.push_back(
            messageItem(context, output.size(), statusOf(outcome), Json::array({textPart(outcome.content)})));
    for (std::size_t call = 0; call < outcome.calls.size(); ++call)
        output.push_back(callItem(context, output.size(), call, outcome.calls[call], "completed", true));
    return output;
}

Json usageFor(const AnswerContext &context, const ChoiceOutcome &outcome)
{
    const Json usage = usageOf(std::span(&outcome, 1), context);
    return {{"input_tokens", usage["prompt_tokens"]},
            {"input_tokens_details", usage["prompt_tokens_details"]},
            {"output_tokens", usage["completion_tokens"]},
            {"output_tokens_details", usage["completion_tokens_details"]},
            {"total_tokens", usage["total_tokens"]}};
}

class WholeResponse : public AnswerWriter
{
public:
    WholeResponse(http::Reply reply, AnswerContext context, Json echoed)
        : m_reply(std::move(reply)), m_context(std::move(context)), m_echoed(std::move(echoed))
    {
    }
    void whenGone(std::function<void()> gone) override { m_reply.onCancelled(std::move(gone)); }
    void onDone(const std::vector<ChoiceOutcome> &outcomes) override
    {
        m_reply.finish(
            http::Response{.body = dump(endedResponse(m_context, m_echoed, outcomes.front())), .fields = {}});
    }
    void onError(const Error &error) override { m_reply.finish(apiErrorResponse(error, m_context.model.get())); }

private:
    http::Reply m_reply;
    AnswerContext m_context;
    Json m_echoed;
};

/// Items are opened when their first piece comes, and closed when another item begins or the answer ends.
class StreamedResponse : public AnswerWriter
{
public:
    StreamedResponse(http::Reply reply, AnswerContext context, Json echoed)
        : m_reply(std::move(reply)), m_context(std::move(context)), m_echoed(std::move(echoed))
    {
    }

    void whenGone(std::function<void()> gone) override { m_reply.onCancelled(std::move(gone)); }

    void begin(int position) override
    {
        m_begun = true;
        m_reply.beginEvents(streamFields(position));
        if (position > 0)
            onQueued(position);
        const Json response = openResponse(m_context, m_echoed);
        push("response.created", {{"response", response}});
        push("response.in_progress", {{"response", response}});
    }
    void onQueued(int position) override { m_reply.push(queueComment(position)); }

    void onDelta(std::size_t /*choice*/, const AnswerDelta &delta) override
    {
        if (!delta.pieces.thoughts.empty())
            addThoughts(delta.pieces.thoughts);
        if (!delta.pieces.content.empty())
            addText(delta.pieces.content);
        for (const ParsedReply::Call &call : delta.pieces.calls)
            addCall(call);
    }
    void onDraft(std::size_t choice, const std::string &text, const StepEvent &event) override
    {
        pushDraft(m_reply, choice, text, event);
    }
    void onDone(const std::vector<ChoiceOutcome> &outcomes) override
    {
        const ChoiceOutcome &outcome = outcomes.front();
        if (m_messages == 0 && hasMessage(outcome))
            openMessage(); // an empty answer is one
        closeItem(statusOf(outcome));
        const std::string type = "response." + std::string(statusOf(outcome));
        Json response = endedResponse(m_context, m_echoed, outcome);
        response["output"] = m_output; // the items as they were sent
        push(type, {{"response", std::move(response)}});
        m_reply.finish();
    }
    void onError(const Error &error) override
    {
        if (!m_begun) {
            m_reply.finish(apiErrorResponse(error, m_context.model.get()));
            return;
        }
        Json response = openResponse(m_context, m_echoed);
        response["status"] = "failed";
        const bool ours = error.kind() != ErrorKind::InvalidArgument;
        response["error"] = {{"code", ours ? "server_error" : "invalid_prompt"}, {"message", error.what()}};
        push("response.failed", {{"response", std::move(response)}});
        m_reply.finish();
    }

private:
    enum class Open { None, Thoughts, Message };

    void push(std::string_view type, const Json &fields)
    {
        Json event{{"type", type}, {"sequence_number", m_sequence++}};
        event.update(fields);
        m_reply.push(sseEvent(type, event));
    }
    [[nodiscard]] Json place(bool inContent = true) const
    {
        Json fields{{"item_id", m_itemId}, {"output_index", m_output.size()}};
        if (inContent)
            fields["content_index"] = 0;
        return fields;
    }
    void pushAt(std::string_view type, const Json &more, bool inContent = true)
    {
        Json fields = place(inContent);
        fields.update(more);
        push(type, fields);
    }
    void openItem(Open kind, const Json &item)
    {
        closeItem("completed");
        m_open = kind;
        m_text.clear();
        m_itemId = item["id"].get<std::string>();
        push("response.output_item.added", {{"output_index", m_output.size()}, {"item", item}});
    }
    void endItem(Json item)
    {
        push("response.output_item.done", {{"output_index", m_output.size()}, {"item", item}});
        m_output.push_back(std::move(item));
        m_open = Open::None;
    }

    void addThoughts(const std::string &piece)
    {
        if (m_open != Open::Thoughts)
            openItem(Open::Thoughts, thoughtItem(m_context, m_output.size(), ""));
        m_text += piece;
        pushAt("response.reasoning_text.delta", {{"delta", piece}});
    }
    void openMessage()
    {
        closeItem("completed");
        openItem(Open::Message, messageItem(m_context, m_output.size(), "in_progress", Json::array()));
        ++m_messages;
        pushAt("response.content_part.added", {{"part", textPart("")}});
    }
    void addText(const std::string &piece)
    {
        if (m_open != Open::Message)
            openMessage();
        m_text += piece;
        pushAt("response.output_text.delta", {{"delta", piece}, {"logprobs", Json::array()}});
    }
    void addCall(const ParsedReply::Call &call)
    {
        closeItem("completed");
        openItem(Open::None, callItem(m_context, m_output.size(), m_calls, call, "in_progress", false));
        pushAt("response.function_call_arguments.delta", {{"delta", call.argumentsJson}}, false);
        pushAt("response.function_call_arguments.done", {{"name", call.name}, {"arguments", call.argumentsJson}},
               false);
        endItem(callItem(m_context, m_output.size(), m_calls, call, "completed", true));
        ++m_calls;
    }
    void closeItem(std::string_view status)
    {
        if (m_open == Open::Thoughts) {
            pushAt("response.reasoning_text.done", {{"text", m_text}});
            endItem(thoughtItem(m_context, m_output.size(), m_text));
        } else if (m_open == Open::Message) {
            pushAt("response.output_text.done", {{"text", m_text}, {"logprobs", Json::array()}});
            pushAt("response.content_part.done", {{"part", textPart(m_text)}});
            endItem(messageItem(m_context, m_output.size(), status, Json::array({textPart(m_text)})));
        }
    }

    http::Reply m_reply;
    AnswerContext m_context;
    Json m_echoed;
    int m_sequence = 0;
    Open m_open = Open::None;
    std::string m_itemId;          ///< of the open item
    std::string m_text;            ///< of the open item so far
    Json m_output = Json::array(); ///< items that are closed
    int m_messages = 0;
    std::size_t m_calls = 0;
    bool m_begun = false;
};

} // namespace

Json openResponse(const AnswerContext &context, const Json &echoed)
{
    Json response{
        {"id", context.identity.id},       {"object", "response"},   {"created_at", context.identity.createdSeconds},
        {"status", "in_progress"},         {"error", nullptr},       {"incomplete_details", nullptr},
        {"model", context.identity.model}, {"output", Json::array()}};
    response.update(echoed);
    response["usage"] = nullptr;
    return response;
}

Json endedResponse(const AnswerContext &context, const Json &echoed, const ChoiceOutcome &outcome)
{
    Json response = openResponse(context, echoed);
    response["status"] = statusOf(outcome);
    if (outcome.end == EndReason::Length)
        response["incomplete_details"] = {{"reason", "max_output_tokens"}};
    response["output"] = outputOf(context, outcome);
    response["output_text"] = outcome.content;
    response["usage"] = usageFor(context, outcome);
    response["palimpsest"] = figuresOf(std::span(&outcome, 1), context);
    return response;
}

std::unique_ptr<AnswerWriter> wholeResponseWriter(http::Reply reply, AnswerContext context, Json echoed)
{
    return std::make_unique<WholeResponse>(std::move(reply), std::move(context), std::move(echoed));
}

std::unique_ptr<AnswerWriter> streamedResponseWriter(http::Reply reply, AnswerContext context, Json echoed)
{
    return std::make_unique<StreamedResponse>(std::move(reply), std::move(context), std::move(echoed));
}

} // namespace palimpsest::openai
