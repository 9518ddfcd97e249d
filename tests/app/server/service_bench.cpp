// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/service_bench.h"

#include "tests/support/test_tokenizers.h"

#include <QElapsedTimer>

#include <nlohmann/json.hpp>

namespace palimpsest::test {

EngineParts fakeParts(std::shared_ptr<FakeLog> log)
{
    EngineParts parts;
    parts.id = "fake";
    parts.backend = std::make_unique<FakeBackend>(FakeSettings{.vocabSize = 8192}, settlingModel(8192), std::move(log));
    parts.tokenizer = demoTokenizer();
    parts.chat = ChatFormat(ChatDialect::PlainTurns);
    return parts;
}

std::string ServiceBench::request(const std::string &line, const std::string &rest) const
{
    return line + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port()) + "\r\n" + rest;
}

std::string ServiceBench::chat(bool stream) const
{
    const std::string body = nlohmann::json{{"model", "fake"},
                                            {"stream", stream},
                                            {"messages", {{{"role", "user"}, {"content", "teh cat"}}}}}
                                 .dump();
    return request("POST /v1/chat/completions", "Content-Type: application/json\r\nContent-Length: " +
                                                    std::to_string(body.size()) + "\r\n\r\n" + body);
}

RawAnswer ServiceBench::get(const std::string &path) const
{
    RawClient client(port());
    (void)client.send(request("GET " + path));
    return client.answer().value_or(RawAnswer());
}

nlohmann::json ServiceBench::health(int status) const
{
    constexpr int kLimitMs = 100;
    constexpr int kAttempts = 5;
    std::string seen;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        QElapsedTimer timer;
        timer.start();
        const RawAnswer answer = get("/health");
        const qint64 elapsedMs = timer.elapsed();
        if (answer.status == status && elapsedMs < kLimitMs)
            return nlohmann::json::parse(answer.body);
        seen = "HTTP " + std::to_string(answer.status) + " after " + std::to_string(elapsedMs) + " ms";
        if (answer.status != status)
            break;
    }
    return {{"status", seen}};
}

} // namespace palimpsest::test
