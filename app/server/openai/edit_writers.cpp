// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/edit_writers.h"

#include "app/server/openai/api_error.h"
#include "app/server/openai/chat_writer.h"
#include "app/server/openai/completion_writer.h"
#include "app/stop_names.h"

#include <algorithm>
#include <utility>

namespace palimpsest::openai {

namespace {

std::int64_t codePointsIn(std::string_view text)
{
    return std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; });
}

Json figuresOf(const EditEnd &end, const AnswerContext &context)
{
    int steps = 0;
    Json stops = Json::array();
    for (const GenerationResult &result : end.results) {
        for (const CanvasRecord &canvas : result.canvases) {
            steps += canvas.steps;
            stops.push_back(nameOf(canvas.stop));
        }
    }
    return {{"seed", context.seed},
            {"candidates", end.results.size()},
            {"chosen", end.outcome.candidate},
            {"steps", steps},
            {"stop_reasons", std::move(stops)}};
}

class PluginEditWriter : public EditWriter
{
public:
    PluginEditWriter(http::Reply reply, AnswerContext context, std::string document)
        : m_reply(std::move(reply)), m_context(std::move(context)), m_document(std::move(document))
    {
    }

    void whenGone(std::function<void()> gone) override { m_reply.onCancelled(std::move(gone)); }
    void begin(int position) override
    {
        m_begun = true;
        m_reply.beginEvents(streamFields(position));
        if (position > 0)
            onQueued(position);
    }
    void onQueued(int position) override { m_reply.push(queueComment(position)); }

    [[nodiscard]] bool takesDrafts() const override
    {
        constexpr std::size_t kBehindBytes = 64 * 1024; // a client that is behind needs no more drafts
        return m_reply.pendingBytes() < kBehindBytes;
    }
    void onDraft(const std::string &document, std::size_t candidate, const StepEvent &event) override
    {
        m_reply.push(sseEvent("draft", {{"document", document},
                                        {"candidate", candidate},
                                        {"step", event.step},
                                        {"max_steps", event.maxSteps},
                                        {"mean_entropy_nats", event.meanEntropyNats}}));
    }
    void onCandidate(const std::string &document, std::size_t candidate) override
    {
        m_reply.push(sseEvent("commit", {{"document", document}, {"candidate", candidate}}));
    }
    void onDone(const EditEnd &end) override
    {
        if (!end.outcome.problem.empty()) {
            finishWith("The text is as it was: " + end.outcome.problem, "no_usable_answer");
            return;
        }
        const std::string_view before =
            std::string_view(end.outcome.document).substr(0, static_cast<std::size_t>(end.outcome.replaced.begin));
        const std::int64_t start = codePointsIn(before);
        const std::string text = end.newText();
        m_reply.push(sseEvent("done", {{"document", end.outcome.document},
                                       {"text", text},
                                       {"replaced_start", start},
                                       {"replaced_end", start + codePointsIn(text)},
                                       {"candidate", end.outcome.candidate},
                                       {"palimpsest", figuresOf(end, m_context)}}));
        m_reply.finish();
    }
    void onError(const Error &error) override
    {
        if (m_begun)
            finishWith(error.what(), "failed");
        else
            m_reply.finish(apiErrorResponse(error, m_context.model.get()));
    }

private:
    void finishWith(const std::string &message, const std::string &code)
    {
        m_reply.push(sseEvent(
            "error", {{"document", m_document},
                      {"error", {{"message", message}, {"type", "api_error"}, {"param", nullptr}, {"code", code}}}}));
        m_reply.finish();
    }

    http::Reply m_reply;
    AnswerContext m_context;
    std::string m_document; ///< as it was
    bool m_begun = false;
};

class InfillWriter : public EditWriter
{
public:
    InfillWriter(http::Reply reply, AnswerContext context, InfillLimits limits, bool stream)
        : m_reply(std::move(reply)), m_context(std::move(context)), m_limits(std::move(limits)), m_stream(stream)
    {
    }

    void whenGone(std::function<void()> gone) override { m_reply.onCancelled(std::move(gone)); }
    void begin(int position) override
    {
        if (!m_stream)
            return;
        m_begun = true;
        m_reply.beginEvents(streamFields(position));
        if (position > 0)
            onQueued(position);
    }
    void onQueued(int position) override
    {
        if (m_begun)
            m_reply.push(queueComment(position));
    }
    void onDone(const EditEnd &end) override
    {
        if (!end.outcome.problem.empty()) {
            onError(Error(ErrorKind::InvalidArgument,
                          "suffix: nothing usable was written between prompt and suffix (" + end.outcome.problem + ")",
                          "suffix"));
            return;
        }
        const std::string text = insertedText(end);
        const Json usage = usageFor(end, text);
        if (!m_stream) {
            Json answer = completionObject(m_context, Json::array({completionChoice(0, text, nullptr, "stop")}));
            answer["usage"] = usage;
            answer["palimpsest"] = figuresOf(end, m_context);
            m_reply.finish(http::Response{.body = dump(answer), .fields = {}});
            return;
        }
        push(completionObject(m_context, Json::array({completionChoice(0, text, nullptr, nullptr)})));
        Json last = completionObject(m_context, Json::array({completionChoice(0, "", nullptr, "stop")}));
        last["palimpsest"] = figuresOf(end, m_context);
        push(std::move(last));
        if (m_context.usageChunk) {
            Json chunk = completionObject(m_context, Json::array());
            chunk["usage"] = usage;
            m_reply.push(sseData(chunk));
        }
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
    void push(Json chunk)
    {
        if (m_context.usageChunk)
            chunk["usage"] = nullptr;
        m_reply.push(sseData(chunk));
    }
    /// All that is new between prompt and suffix, which are as they were, up to a stop string.
    [[nodiscard]] std::string insertedText(const EditEnd &end) const
    {
        const std::string &document = end.outcome.document;
        std::string text =
            document.substr(m_limits.prefixBytes, document.size() - m_limits.prefixBytes - m_limits.suffixBytes);
        std::size_t cut = text.size();
        for (const std::string &stop : m_limits.stopStrings)
            cut = std::min(cut, text.find(stop));
        text.resize(cut);
        return text;
    }
    [[nodiscard]] Json usageFor(const EditEnd &end, const std::string &text) const
    {
        const auto completion =
            static_cast<std::int64_t>(m_context.model->tokenizer->encode(text, SpecialTokens::PlainText).size());
        const std::int64_t prompt = end.results.front().promptTokens;
        return {{"prompt_tokens", prompt}, {"completion_tokens", completion}, {"total_tokens", prompt + completion}};
    }

    http::Reply m_reply;
    AnswerContext m_context;
    InfillLimits m_limits;
    bool m_stream;
    bool m_begun = false;
};

} // namespace

std::unique_ptr<EditWriter> pluginEditWriter(http::Reply reply, AnswerContext context, std::string document)
{
    return std::make_unique<PluginEditWriter>(std::move(reply), std::move(context), std::move(document));
}

std::unique_ptr<EditWriter> infillWriter(http::Reply reply, AnswerContext context, InfillLimits limits, bool stream)
{
    return std::make_unique<InfillWriter>(std::move(reply), std::move(context), std::move(limits), stream);
}

} // namespace palimpsest::openai
