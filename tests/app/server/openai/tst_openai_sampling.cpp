// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/openai/endpoint_bench.h"

#include <cmath>
#include <set>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

const std::string kChat = "/v1/chat/completions";

std::string contentOf(const Json &answer)
{
    return answer.at("choices").at(0).at("message").at("content").get<std::string>();
}

std::string constant(const std::string &text)
{
    return text;
}

} // namespace

/// The fields that say how an answer is drawn and where it ends.
class TestOpenAiSampling : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void stopStringsAcrossCanvasesF036F038();
    void tokenLimitsAreExactF007F034_data();
    void tokenLimitsAreExactF007F034();
    void contextIsCountedInTokensF019F052();
    void severalChoicesF040F061();
    void seedsF004F005();
    void logprobsAreNumbersAndListsF043();
    void logitBiasBans();
};

void TestOpenAiSampling::stopStringsAcrossCanvasesF036F038()
{
    for (const std::int64_t length : {1, 2, 16}) {
        EndpointBench bench([](const ScriptInput &) { return constant("the quick brown fox jumps"); },
                            {.canvasLength = length});
        for (const Json &stop : {Json("own fox"), Json::array({"zebra", "own fox", "fox j"})}) {
            const Json whole = bench.json(kChat, chatBody("write", {{"stop", stop}}));
            COMPARE_JSON(contentOf(whole), "the quick br");
            COMPARE_JSON(whole.at("choices").at(0).at("finish_reason"), "stop");
            const Assembled streamed = assemble(bench.stream(kChat, chatBody("write", {{"stop", stop}})));
            COMPARE_JSON(streamed.content, "the quick br");
            COMPARE_JSON(streamed.finishReason, "stop");
        }
    }
}

void TestOpenAiSampling::tokenLimitsAreExactF007F034_data()
{
    QTest::addColumn<QByteArray>("limits");
    QTest::addColumn<int>("most");
    for (const int limit : {1, 15, 16, 17, 31})
        QTest::addRow("max_tokens %d", limit) << QByteArray(Json{{"max_tokens", limit}}.dump().c_str()) << limit;
    QTest::newRow("the newer name") << QByteArray(R"({"max_completion_tokens":8})") << 8;
    QTest::newRow("the newer name wins") << QByteArray(R"({"max_completion_tokens":8,"max_tokens":500})") << 8;
    QTest::newRow("null is absent") << QByteArray(R"({"max_completion_tokens":null,"max_tokens":9})") << 9;
}

void TestOpenAiSampling::tokenLimitsAreExactF007F034()
{
    QFETCH(QByteArray, limits);
    QFETCH(int, most);
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += " 漢 word";
    EndpointBench bench([&text](const ScriptInput &) { return std::string(text); });
    const Json more = Json::parse(limits.toStdString());
    const Json whole = bench.json(kChat, chatBody("count", more));
    const int used = whole.at("usage").at("completion_tokens").get<int>();
    QVERIFY(used <= most && used + 3 >= most); // the beginning of a character is left out
    COMPARE_JSON(whole.at("choices").at(0).at("finish_reason"), "length");
    QVERIFY(text.starts_with(contentOf(whole)));
    const Assembled streamed = assemble(bench.stream(kChat, chatBody("count", more)));
    COMPARE_JSON(streamed.content, contentOf(whole));
    COMPARE_JSON(streamed.finishReason, "length");
}

void TestOpenAiSampling::contextIsCountedInTokensF019F052()
{
    EndpointBench bench([](const ScriptInput &) { return constant(std::string(4000, 'a')); },
                        {.canvasLength = 64, .maxPositions = 200});
    const Json probe = bench.json(kChat, chatBody("x", {{"max_tokens", 1}}));
    const int prompt = probe.at("usage").at("prompt_tokens").get<int>();
    const int room = 200 - prompt;
    COMPARE_JSON(bench.json(kChat, chatBody("x", {{"max_tokens", room}})).at("usage").at("completion_tokens"), room);
    const Json refused = bench.json(kChat, chatBody("x", {{"max_tokens", room + 1}}), 400);
    COMPARE_JSON(refused.at("error").at("code"), "context_length_exceeded");
    COMPARE_JSON(refused.at("error").at("param"), "messages");
    const std::string message = refused.at("error").at("message");
    QVERIFY(message.find("maximum context length is 200 tokens") != std::string::npos);
    QVERIFY(message.find(std::to_string(prompt + room + 1)) != std::string::npos);

    // A prompt that fills the context to the last token but one, then all of it.
    const std::string digits(static_cast<std::size_t>(room) - 1, '7'); // one token each, beside the x that goes
    const Json last = bench.json(kChat, chatBody("x" + digits, {{"max_tokens", 1}}));
    COMPARE_JSON(last.at("usage").at("total_tokens"), 200);
    const Json full = bench.json(kChat, chatBody("x" + digits + "7", {{"max_tokens", 1}}), 400);
    COMPARE_JSON(full.at("error").at("code"), "context_length_exceeded");
    QVERIFY(full.at("error").at("message").get<std::string>().find("resulted in 200 tokens") != std::string::npos);
}

void TestOpenAiSampling::severalChoicesF040F061()
{
    EndpointBench bench([](const ScriptInput &input) { return "answer " + std::to_string(input.seed); });
    const Json more{{"n", 3}, {"seed", 9}};
    const Json whole = bench.json(kChat, chatBody("x", more));
    COMPARE_JSON(whole.at("choices").size(), std::size_t{3});
    std::set<std::string> texts;
    for (int i = 0; i < 3; ++i) {
        COMPARE_JSON(whole.at("choices").at(static_cast<std::size_t>(i)).at("index"), i);
        texts.insert(whole["choices"][static_cast<std::size_t>(i)]["message"]["content"]);
    }
    COMPARE_JSON(texts, (std::set<std::string>{"answer 9", "answer 10", "answer 11"}));
    Json streaming = more;
    streaming["stream_options"] = {{"include_usage", true}};
    const std::vector<Json> chunks = bench.stream(kChat, chatBody("x", streaming));
    for (int i = 0; i < 3; ++i) {
        const Assembled all = assemble(chunks, i);
        COMPARE_JSON(all.content, "answer " + std::to_string(9 + i));
        COMPARE_JSON(all.roles, 1);
        COMPARE_JSON(all.finishReasons, 1);
    }
    const Json &usage = chunks.back().at("usage");
    COMPARE_JSON(usage.at("completion_tokens"), whole.at("usage").at("completion_tokens"));
    COMPARE_JSON(usage.at("prompt_tokens"), whole.at("usage").at("prompt_tokens"));
    COMPARE_JSON(usage.at("prompt_tokens").get<int>() + usage.at("completion_tokens").get<int>(),
                 usage.at("total_tokens").get<int>());
}

void TestOpenAiSampling::seedsF004F005()
{
    EndpointBench bench([](const ScriptInput &input) { return std::to_string(input.seed); });
    std::set<std::string> free;
    for (int i = 0; i < 3; ++i) {
        const Json answer = bench.json(kChat, chatBody("x"));
        free.insert(contentOf(answer));
        COMPARE_JSON(std::to_string(answer.at("palimpsest").at("seed").get<std::uint64_t>()), contentOf(answer));
    }
    COMPARE_JSON(free.size(), std::size_t{3});
    for (int i = 0; i < 3; ++i)
        COMPARE_JSON(contentOf(bench.json(kChat, chatBody("x", {{"seed", 5}, {"temperature", 0}}))), "5");
}

void TestOpenAiSampling::logprobsAreNumbersAndListsF043()
{
    const std::string text = "one two 漢 three four five six seven eight nine ten eleven twelve thirteen fourteen";
    EndpointBench bench([&text](const ScriptInput &) { return std::string(text); });
    for (const int top : {-1, 0, 5}) {
        Json more{{"logprobs", true}};
        if (top >= 0)
            more["top_logprobs"] = top;
        const Json whole = bench.json(kChat, chatBody("x", more));
        const Json &entries = whole.at("choices").at(0).at("logprobs").at("content");
        COMPARE_JSON(entries.size(), whole.at("usage").at("completion_tokens").get<std::size_t>());
        std::string bytes;
        for (const Json &entry : entries) {
            QVERIFY(entry.at("logprob").is_number() && entry.at("token").is_string());
            QVERIFY(std::abs(entry.at("logprob").get<double>() - std::log(0.75)) < 1e-6);
            COMPARE_JSON(entry.at("top_logprobs").size(), static_cast<std::size_t>(std::max(0, std::min(top, 2))));
            for (const Json &byte : entry.at("bytes"))
                bytes += static_cast<char>(byte.get<int>());
        }
        COMPARE_JSON(bytes, text);
        Json streamed = Json::array();
        for (const Json &chunk : bench.stream(kChat, chatBody("x", more))) {
            const Json &logprobs = chunk.at("choices").at(0).at("logprobs");
            if (!logprobs.is_null())
                streamed.insert(streamed.end(), logprobs.at("content").begin(), logprobs.at("content").end());
        }
        COMPARE_JSON(streamed, entries);
    }
    COMPARE_JSON(
        bench.json(kChat, chatBody("x", {{"logprobs", true}, {"top_logprobs", 6}}), 400).at("error").at("param"),
        "top_logprobs");
    COMPARE_JSON(bench.json(kChat, chatBody("x", {{"top_logprobs", 2}}), 400).at("error").at("param"), "top_logprobs");
}

void TestOpenAiSampling::logitBiasBans()
{
    std::vector<LogitBias> seen;
    std::mutex mutex;
    BenchSettings settings;
    settings.log->beforeDenoise = [&](std::span<const DenoiseJob> jobs) {
        const std::lock_guard lock(mutex);
        seen.assign(jobs.front().logitBias.begin(), jobs.front().logitBias.end());
    };
    EndpointBench bench([](const ScriptInput &) { return constant("fine"); }, settings);
    static_cast<void>(bench.json(kChat, chatBody("x", {{"logit_bias", {{"17", -100}, {"5", 2.5}}}})));
    const std::lock_guard lock(mutex);
    COMPARE_JSON(seen.size(), std::size_t{2});
    COMPARE_JSON(seen[0].bias, 2.5F);
    QVERIFY(std::isinf(seen[1].bias) && seen[1].bias < 0);
}

QTEST_GUILESS_MAIN(TestOpenAiSampling)
#include "tst_openai_sampling.moc"
