// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/endpoint.h"

#include "app/server/openai/answer_json.h"
#include "app/server/openai/api_error.h"
#include "app/server/openai/chat_writer.h"
#include "app/server/openai/work_queue.h"

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
    Service(EngineHost &host, EndpointSettings settings)
        : m_host(host), m_settings(std::move(settings)), m_work(kThreads)
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

private:
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
        AnswerRun::make({.model = job.model,
                         .client = job.client,
                         .prompts = std::move(prompts),
                         .choicesEach = choicesEach,
                         .onResult = m_settings.onResult},
                        std::move(writer))
            ->start();
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

Endpoint::Endpoint(EngineHost &host, EndpointSettings settings)
    : m_service(std::make_unique<Service>(host, std::move(settings)))
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
