// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/endpoint.h"

#include "app/server/openai/answer_json.h"
#include "app/server/openai/api_error.h"
#include "app/server/openai/chat_writer.h"
#include "app/server/openai/completion_request.h"
#include "app/server/openai/completion_writer.h"
#include "app/server/openai/edit_request.h"
#include "app/server/openai/edit_writers.h"
#include "app/server/openai/responses_request.h"
#include "app/server/openai/responses_writer.h"
#include "app/server/openai/work_queue.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <spdlog/spdlog.h>
#include <utility>

namespace palimpsest::openai {

namespace {

// Bodies are read one after another on each; a second one, so that a small request does not wait for a huge one.
constexpr int kThreads = 2;

/// What is left of a request when its handler has returned.
struct Job
{
    std::shared_ptr<const RunningModel> model;
    std::string client;
    std::string body;
    http::Reply reply;
};

/// Thrown for what has a response of its own.
struct Refusal
{
    http::Response response;
};

} // namespace

class Endpoint::Service
{
public:
    Service(EngineHost &host, const EndpointSettings &settings) : m_host(host), m_settings(settings), m_work(kThreads)
    {
    }

    using Answerer = void (Service::*)(Job &, const nlohmann::json &);

    [[nodiscard]] http::Handler later(Answerer answer)
    {
        return [this, answer](http::Call &call) -> http::Answer {
            const EngineState state = m_host.state();
            if (!state.model)
                return notReadyResponse(state);
            const auto job =
                std::make_shared<Job>(Job{state.model, call.request().client, call.request().body, call.claim()});
            m_work.post([this, job, answer] { run(*job, answer); });
            return std::nullopt;
        };
    }

    [[nodiscard]] http::Answer models() const
    {
        return http::Response{.body = dump(modelList(m_host.model().get())), .fields = {}};
    }

    [[nodiscard]] http::Answer model(const std::string &id) const
    {
        const EngineState state = m_host.state();
        if (!state.model)
            return notReadyResponse(state);
        if (id != state.model->id)
            return modelNotFoundResponse(id, state.model->id);
        return http::Response{.body = dump(modelObject(*state.model)), .fields = {}};
    }

    void answerChat(Job &job, const nlohmann::json &body)
    {
        const Conversation conversation = readChatRequest(body);
        requireModel(conversation.model, *job.model);
        noteIgnored(conversation.unknownFields, conversation.sampling.withoutEffect);
        PreparedAnswer prepared = prepareConversation(conversation, *job.model);
        const AnswerContext context =
            contextOf("chatcmpl-", job, prepared, conversation.sampling, conversation.delivery);
        auto writer = conversation.delivery.stream ? streamedChatWriter(std::move(job.reply), context)
                                                   : wholeChatWriter(std::move(job.reply), context);
        start(job, {std::move(prepared)}, conversation.sampling.choices, std::move(writer));
    }

    void answerCompletion(Job &job, const nlohmann::json &body)
    {
        const CompletionRequest request = readCompletionRequest(body);
        requireModel(request.model, *job.model);
        noteIgnored(request.unknownFields, request.sampling.withoutEffect);
        if (request.suffix) {
            fillIn(job, request);
            return;
        }
        std::vector<PreparedAnswer> prompts;
        std::vector<std::string> echoes;
        SamplingFields sampling = request.sampling;
        sampling.seed = seedOrRandom(sampling.seed); // the same for all prompts
        for (const RawPrompt &prompt : request.prompts) {
            const std::vector<TokenId> ids =
                prompt.ids.empty() ? rawPromptIds(prompt.text, *job.model) : requireIds(prompt.ids, *job.model);
            prompts.push_back(preparePrompt(ids, sampling, *job.model, "prompt"));
            prompts.back().topLogprobs = request.logprobs;
            prompts.back().request.wantsCertainties = request.logprobs.has_value();
            const std::string text =
                prompt.ids.empty() ? prompt.text : job.model->tokenizer->decode(prompt.ids, DecodeSpecial::Skip);
            for (int choice = 0; choice < sampling.choices; ++choice)
                echoes.push_back(request.echo ? text : "");
        }
        AnswerContext context = contextOf("cmpl-", job, prompts.front(), sampling, request.delivery);
        context.choices = echoes.size();
        auto writer = request.delivery.stream
                          ? streamedCompletionWriter(std::move(job.reply), std::move(context), std::move(echoes))
                          : wholeCompletionWriter(std::move(job.reply), std::move(context), std::move(echoes));
        start(job, std::move(prompts), sampling.choices, std::move(writer));
    }

    void answerResponse(Job &job, const nlohmann::json &body)
    {
        ResponsesRequest request = readResponsesRequest(body);
        const Conversation &conversation = request.conversation;
        requireModel(conversation.model, *job.model);
        noteIgnored(conversation.unknownFields, conversation.sampling.withoutEffect);
        PreparedAnswer prepared = prepareConversation(conversation, *job.model);
        AnswerContext context = contextOf("resp_", job, prepared, conversation.sampling, conversation.delivery);
        auto writer = conversation.delivery.stream
                          ? streamedResponseWriter(std::move(job.reply), std::move(context), std::move(request.echoed))
                          : wholeResponseWriter(std::move(job.reply), std::move(context), std::move(request.echoed));
        start(job, {std::move(prepared)}, 1, std::move(writer));
    }

    void answerEdit(Job &job, const nlohmann::json &body)
    {
        PluginEdit request = readEditRequest(body);
        if (request.model)
            requireModel(*request.model, *job.model);
        noteIgnored(request.unknownFields, request.sampling.withoutEffect);
        finishEdit(request.edit, request.sampling, job.model->defaults);
        const AnswerContext context = editContext("edit-", job, request.edit);
        startEdit(job, request.edit, [&](http::Reply reply) {
            return pluginEditWriter(std::move(reply), context, request.edit.document);
        });
    }

private:
    void fillIn(Job &job, const CompletionRequest &request)
    {
        EditRequest edit = infillOf(request);
        finishEdit(edit, request.sampling, job.model->defaults);
        AnswerContext context = editContext("cmpl-", job, edit);
        context.usageChunk = request.delivery.usageChunk;
        InfillLimits limits{request.prompts.front().text.size(), request.suffix->size(), request.sampling.stopStrings};
        startEdit(job, std::move(edit), [&](http::Reply reply) {
            return infillWriter(std::move(reply), std::move(context), std::move(limits), request.delivery.stream);
        });
    }

    void run(Job &job, Answerer answer)
    {
        if (job.reply.cancelled())
            return;
        try {
            const nlohmann::json body = parseRequestBody(std::exchange(job.body, {}));
            (this->*answer)(job, body);
        } catch (const Refusal &refusal) {
            finish(job, refusal.response);
        } catch (const Error &error) {
            finish(job, apiErrorResponse(inApiWords(error), job.model.get()));
        } catch (const std::exception &error) { // the thread's edge: nothing may leave it
            spdlog::error("a request failed by a fault of the program: {}", error.what());
            finish(job, http::errorResponse(
                            500, {.message = "A fault of the server itself; please report it", .type = "api_error"}));
        }
    }

    /// A reply that went to a writer answers 500 by itself when that is dropped.
    static void finish(Job &job, http::Response response)
    {
        if (job.reply)
            job.reply.finish(std::move(response));
    }

    void requireModel(const std::string &asked, const RunningModel &model) const
    {
        if (asked != model.id && !m_settings.serveAnyName)
            throw Refusal{modelNotFoundResponse(asked, model.id)};
    }

    void start(Job &job, std::vector<PreparedAnswer> prompts, int choicesEach, std::unique_ptr<AnswerWriter> writer)
    {
        AnswerRun::make(
            {.model = job.model, .client = job.client, .prompts = std::move(prompts), .choicesEach = choicesEach},
            std::move(writer))
            ->start();
    }

    /// The writer gets the reply only when the edit's plan stands: until then, errors are answered here.
    void startEdit(Job &job, EditRequest request,
                   const std::function<std::unique_ptr<EditWriter>(http::Reply)> &makeWriter)
    {
        const auto run = EditRun::make({.model = job.model, .client = job.client, .request = std::move(request)});
        run->start(makeWriter(std::move(job.reply)));
    }

    [[nodiscard]] static AnswerContext editContext(std::string_view prefix, const Job &job, const EditRequest &edit)
    {
        AnswerContext context;
        context.seed = edit.seed;
        context.identity = newIdentity(prefix, *job.model, context.seed);
        context.model = job.model;
        return context;
    }

    [[nodiscard]] static std::vector<TokenId> requireIds(const std::vector<TokenId> &ids, const RunningModel &model)
    {
        if (std::ranges::any_of(ids, [&](TokenId id) { return id >= model.config.vocabSize; })) {
            refuse("prompt", "an id is not in the model's vocabulary, which ends at " +
                                 std::to_string(model.config.vocabSize - 1));
        }
        return ids;
    }

    [[nodiscard]] static AnswerContext contextOf(std::string_view prefix, const Job &job,
                                                 const PreparedAnswer &prepared, const SamplingFields &sampling,
                                                 const Delivery &delivery)
    {
        AnswerContext context;
        context.seed = prepared.request.seed;
        context.identity = newIdentity(prefix, *job.model, context.seed);
        context.model = job.model;
        context.choices = static_cast<std::size_t>(sampling.choices);
        context.choicesEach = context.choices;
        context.topLogprobs = prepared.topLogprobs;
        context.thinkingIgnored = prepared.thinkingIgnored;
        context.usageChunk = delivery.usageChunk;
        return context;
    }

    /// Says once of each field that it has no effect.
    void noteIgnored(const std::vector<std::string> &unknown, const std::vector<std::string> &withoutEffect)
    {
        constexpr std::size_t kMostNotes = 200; // names come from outside
        const std::lock_guard lock(m_notesMutex);
        for (const auto *names : {&unknown, &withoutEffect}) {
            for (const std::string &name : *names) {
                if (m_noted.size() < kMostNotes && m_noted.insert(name).second)
                    spdlog::info("the request field {} has no effect here (said once)", shown(nlohmann::json(name)));
            }
        }
    }

    EngineHost &m_host;
    EndpointSettings m_settings;
    std::mutex m_notesMutex;
    std::set<std::string> m_noted;
    WorkQueue m_work; ///< last: its threads use the others
};

Endpoint::Endpoint(EngineHost &host, const EndpointSettings &settings)
    : m_service(std::make_unique<Service>(host, settings))
{
}

Endpoint::~Endpoint() = default;

void Endpoint::addTo(http::Routes &routes)
{
    Service *service = m_service.get();
    routes.add("GET", "/v1/models", [service](http::Call &) { return service->models(); });
    routes.add("GET", "/v1/models/<rest>",
               [service](http::Call &call) { return service->model(call.request().arguments.front()); });
    routes.add("POST", "/v1/chat/completions", service->later(&Service::answerChat));
    routes.add("POST", "/v1/completions", service->later(&Service::answerCompletion));
    routes.add("POST", "/v1/responses", service->later(&Service::answerResponse));
    routes.add("POST", "/edit", service->later(&Service::answerEdit));
    for (const char *pattern : {"/v1/embeddings", "/v1/moderations", "/v1/images/<rest>", "/v1/audio/<rest>"}) {
        routes.add(
            "POST", pattern,
            [](http::Call &) -> http::Answer {
                return http::errorResponse(404, {.message =
                                                     "This server generates text; it has no embeddings, images, audio "
                                                     "or moderation",
                                                 .code = "not_supported"});
            },
            http::BodyType::Any);
    }
}

} // namespace palimpsest::openai
