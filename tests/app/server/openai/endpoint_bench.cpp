// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/openai/endpoint_bench.h"

#include <stdexcept>
#include <utility>

namespace palimpsest::test {

namespace {

http::ListenerSettings listenerSettings(openai::Endpoint &endpoint)
{
    http::ListenerSettings settings;
    endpoint.addTo(settings.routes);
    return settings;
}

openai::EndpointSettings endpointSettings(const BenchSettings &settings)
{
    return {.serveAnyName = settings.serveAnyName};
}

/// Answers that were tokenised already, by seed and prompt. Shared by the copies of a model.
struct ScriptMemory
{
    std::mutex mutex;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<TokenId>> answers;
    std::map<std::uint64_t, std::vector<TokenId>> prompts; ///< of each seed, from its first canvas
};

} // namespace

FakeModel scriptedModel(Script script, std::int64_t canvasLength)
{
    const auto memory = std::make_shared<ScriptMemory>();
    return [script = std::move(script), canvasLength, memory](const FakeInput &input) {
        const std::lock_guard lock(memory->mutex);
        const std::uint64_t seed = input.noise.seed;
        if (input.noise.canvas == 0 && input.position == 0)
            memory->prompts[seed] = {input.prefix.begin(), input.prefix.end()};
        const std::vector<TokenId> &prompt = memory->prompts[seed];
        std::uint64_t hash = 1469598103934665603U;
        for (const TokenId id : prompt)
            hash = (hash ^ static_cast<std::uint64_t>(id)) * 1099511628211U;
        const auto tokenizer = demoTokenizer();
        auto [known, isNew] = memory->answers.try_emplace({seed, hash});
        if (isNew) {
            known->second =
                tokenizer->encode(script({seed, tokenizer->decode(prompt, DecodeSpecial::Keep)}), SpecialTokens::Parse);
            known->second.push_back(tokenizer->idOf("<turn|>").value());
        }
        const std::size_t index = input.noise.canvas * static_cast<std::size_t>(canvasLength) + input.position;
        PositionResult result;
        result.argmax = index < known->second.size() ? known->second[index] : 0;
        result.sampled = result.argmax;
        result.entropyNats = 1e-5F;
        result.alternatives[0] = {result.argmax, 0.75F};
        result.alternatives[1] = {result.argmax == 300 ? 301 : 300, 0.125F};
        return result;
    };
}

EngineParts scriptedParts(FakeModel model, const BenchSettings &settings)
{
    const auto tokenizer = demoTokenizer();
    EngineParts parts;
    parts.id = "scripted/model";
    parts.createdSeconds = 1'700'000'000;
    parts.backend = std::make_unique<FakeBackend>(FakeSettings{.vocabSize = tokenizer->vocabSize(),
                                                               .canvasLength = settings.canvasLength,
                                                               .maxPositions = settings.maxPositions},
                                                  std::move(model), settings.log);
    parts.tokenizer = tokenizer;
    parts.chat = ChatFormat(settings.dialect);
    parts.defaults.eosTokenIds = {1, tokenizer->idOf("<turn|>").value()};
    parts.defaults.padTokenId = 0;
    parts.desk.maxBatch = settings.maxBatch;
    parts.desk.queueCapacity = settings.queueCapacity;
    return parts;
}

std::vector<StreamEvent> eventsOf(const std::string &body)
{
    std::vector<StreamEvent> events;
    StreamEvent current;
    for (std::size_t begin = 0; begin < body.size();) {
        const std::size_t end = body.find('\n', begin);
        if (end == std::string::npos)
            throw std::runtime_error("a stream that ends within a line");
        const std::string line = body.substr(begin, end - begin);
        begin = end + 1;
        if (line.empty()) {
            if (!current.data.empty())
                events.push_back(std::exchange(current, {}));
        } else if (line.starts_with("data: ")) {
            current.data += line.substr(6);
        } else if (line.starts_with("event: ")) {
            current.type = line.substr(7);
        } else if (!line.starts_with(":")) {
            throw std::runtime_error("not a line of a stream: " + line);
        }
    }
    return events;
}

std::vector<Json> chunksOf(const std::string &body)
{
    std::vector<Json> chunks;
    for (const StreamEvent &event : eventsOf(body)) {
        if (event.type.empty() && event.data != "[DONE]")
            chunks.push_back(Json::parse(event.data));
    }
    return chunks;
}

EndpointBench::EndpointBench(Script script, const BenchSettings &settings)
    : EndpointBench(scriptedParts(scriptedModel(std::move(script), settings.canvasLength), settings), settings)
{
}

EndpointBench::EndpointBench(EngineParts parts, const BenchSettings &settings)
    : host(std::move(parts)), endpoint(host, endpointSettings(settings)), server(listenerSettings(endpoint))
{
}

EndpointBench::EndpointBench(EngineLoader loader, const BenchSettings &settings)
    : host(std::move(loader)), endpoint(host, endpointSettings(settings)), server(listenerSettings(endpoint))
{
}

std::string EndpointBench::requestText(const std::string &method, const std::string &path,
                                       const std::string &body) const
{
    std::string text = method + " " + path + " HTTP/1.1\r\nHost: " + server.host() + "\r\n";
    if (!body.empty())
        text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    return text + "\r\n" + body;
}

RawAnswer EndpointBench::send(const std::string &method, const std::string &path, const std::string &body)
{
    RawClient client(server.port());
    client.send(requestText(method, path, body));
    auto answer = client.answer(method == "HEAD");
    constexpr int kPatience = 12; // a real model on a busy machine may need more than the client's ten seconds
    for (int i = 0; !answer && i < kPatience; ++i)
        answer = client.answer(method == "HEAD");
    if (!answer)
        throw std::runtime_error("no answer to " + method + " " + path);
    return *std::move(answer);
}

Json EndpointBench::json(const std::string &path, const Json &body, int status)
{
    const RawAnswer answer = post(path, body);
    if (answer.status != status)
        throw std::runtime_error("status " + std::to_string(answer.status) + ": " + answer.body);
    if (answer.field("content-type") != "application/json")
        throw std::runtime_error("not JSON: " + answer.field("content-type"));
    return Json::parse(answer.body);
}

std::vector<Json> EndpointBench::stream(const std::string &path, Json body)
{
    body["stream"] = true;
    const RawAnswer answer = post(path, body);
    if (answer.status != 200)
        throw std::runtime_error("status " + std::to_string(answer.status) + ": " + answer.body);
    return chunksOf(answer.body);
}

Json chatBody(const std::string &text, const Json &more)
{
    Json body{{"model", "scripted/model"}, {"messages", Json::array({{{"role", "user"}, {"content", text}}})}};
    body.update(more);
    return body;
}

Assembled assemble(const std::vector<Json> &chunks, int choice)
{
    Assembled all;
    for (const Json &chunk : chunks) {
        for (const Json &part : chunk.at("choices")) {
            if (part.at("index") != choice)
                continue;
            const Json &delta = part.at("delta");
            all.roles += delta.contains("role") ? 1 : 0;
            if (delta.contains("content") && !delta["content"].is_null()) {
                all.content += delta["content"].get<std::string>();
                all.contentChunks += delta["content"].get_ref<const std::string &>().empty() ? 0 : 1;
            }
            if (delta.contains("reasoning_content"))
                all.thoughts += delta["reasoning_content"].get<std::string>();
            for (const Json &call : delta.value("tool_calls", Json::array())) {
                const auto index = call.at("index").get<std::size_t>();
                if (index == all.calls.size())
                    all.calls.push_back(
                        {{"id", call.at("id")}, {"name", call.at("function").at("name")}, {"arguments", ""}});
                all.calls.at(index)["arguments"] = all.calls.at(index)["arguments"].get<std::string>() +
                                                   call.at("function").at("arguments").get<std::string>();
            }
            if (!part.at("finish_reason").is_null()) {
                all.finishReason = part["finish_reason"].get<std::string>();
                ++all.finishReasons;
            }
        }
    }
    return all;
}

} // namespace palimpsest::test
