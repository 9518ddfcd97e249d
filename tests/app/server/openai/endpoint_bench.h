// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "app/server/openai/endpoint.h"
#include "tests/app/server/http/listener_thread.h"
#include "tests/app/server/http/raw_client.h"
#include "tests/support/fake_backend.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

/// QCOMPARE for JSON, and for whatever becomes JSON: Qt's own cannot tell which of its types is meant.
#define COMPARE_JSON(actual, expected)                                                                                 \
    do {                                                                                                               \
        const auto foundJson = palimpsest::test::asJson(actual);                                                       \
        const auto wantedJson = palimpsest::test::asJson(expected);                                                    \
        const std::string difference = foundJson.dump() + " is not " + wantedJson.dump();                              \
        if (!QTest::qVerify(foundJson == wantedJson, #actual " == " #expected, difference.c_str(), __FILE__,           \
                            __LINE__))                                                                                 \
            return;                                                                                                    \
    } while (false)

namespace palimpsest::test {

using Json = nlohmann::json;

/// A copy: what is compared may be a part of something that does not outlive the expression.
template <typename Value>
Json asJson(const Value &value)
{
    return value;
}

/// What a scripted model is asked.
struct ScriptInput
{
    std::uint64_t seed = 0;
    std::string prompt; ///< decoded, markers spelled out
};

/// Gives an answer's text, in which markers are tokens; it ends its turn behind it.
using Script = std::function<std::string(const ScriptInput &)>;

/// A model that is sure of its script's answer from the first step on.
FakeModel scriptedModel(Script script, std::int64_t canvasLength);

struct BenchSettings
{
    ChatDialect dialect = ChatDialect::PlainTurns;
    std::int64_t canvasLength = 16;
    std::int64_t maxPositions = 4096;
    int maxBatch = 4;
    int queueCapacity = 64;
    bool serveAnyName = false;
    std::shared_ptr<FakeLog> log = std::make_shared<FakeLog>();
};

EngineParts scriptedParts(FakeModel model, const BenchSettings &settings);

/// One event of a stream.
struct StreamEvent
{
    std::string type; ///< "" for plain data
    std::string data;
};
std::vector<StreamEvent> eventsOf(const std::string &body);
/// The plain data of a stream, without [DONE].
std::vector<Json> chunksOf(const std::string &body);

/// The endpoint behind a real server on loopback, over a fake model.
class EndpointBench
{
public:
    explicit EndpointBench(Script script, const BenchSettings &settings = {});
    explicit EndpointBench(EngineParts parts, const BenchSettings &settings = {});
    explicit EndpointBench(EngineLoader loader, const BenchSettings &settings = {});

    [[nodiscard]] std::string requestText(const std::string &method, const std::string &path,
                                          const std::string &body) const;
    RawAnswer send(const std::string &method, const std::string &path, const std::string &body = {});
    RawAnswer post(const std::string &path, const Json &body) { return send("POST", path, body.dump()); }
    /// The answer's body, which has to be JSON with that status.
    Json json(const std::string &path, const Json &body, int status = 200);
    /// The chunks of a stream.
    std::vector<Json> stream(const std::string &path, Json body);

    EngineHost host;
    openai::Endpoint endpoint;
    ListenerThread server;
};

/// A chat request with one user turn; `more` is merged into it.
Json chatBody(const std::string &text, const Json &more = Json::object());

/// Contents of one choice, put together from a stream's chunks.
struct Assembled
{
    std::string content;
    std::string thoughts;
    std::string finishReason;
    int finishReasons = 0;
    int roles = 0;
    std::vector<Json> calls; ///< {id, name, arguments}
    std::size_t contentChunks = 0;
};
Assembled assemble(const std::vector<Json> &chunks, int choice = 0);

} // namespace palimpsest::test
