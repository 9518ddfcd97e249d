// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/openai/endpoint_bench.h"

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

const std::string kCompletions = "/v1/completions";
const std::string kResponses = "/v1/responses";

Json completionBody(const Json &prompt, const Json &more = Json::object())
{
    Json body{{"model", "scripted/model"}, {"prompt", prompt}, {"seed", 1}};
    body.update(more);
    return body;
}

Json responseBody(const Json &input, const Json &more = Json::object())
{
    Json body{{"model", "scripted/model"}, {"input", input}, {"seed", 1}};
    body.update(more);
    return body;
}

/// The events of a response stream, checked: type in both places, numbers that rise by one.
std::vector<Json> responseEvents(EndpointBench &bench, Json body)
{
    body["stream"] = true;
    std::vector<Json> events;
    for (const StreamEvent &event : eventsOf(bench.post(kResponses, body).body)) {
        events.push_back(Json::parse(event.data));
        if (events.back().at("type") != event.type || events.back().at("sequence_number") != events.size() - 1)
            throw std::runtime_error("not in order: " + event.data);
    }
    return events;
}

std::vector<std::string> typesOf(const std::vector<Json> &events)
{
    std::vector<std::string> types;
    for (const Json &event : events) {
        const std::string type = event.at("type").get<std::string>().substr(std::string("response.").size());
        if (types.empty() || type != types.back() || type != "output_text.delta")
            types.push_back(type);
    }
    return types;
}

std::string last(const std::string &text)
{
    return text.substr(text.size() - std::min<std::size_t>(text.size(), 30));
}

} // namespace

/// /v1/completions and /v1/responses over a scripted model.
class TestOpenAiCompletions : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aRawPromptReachesTheModel();
    void severalPromptsAndChoices();
    void echoStandsInFront();
    void idsAsPrompt();
    void olderLogprobs();
    void streamsCompletions();
    void responseInItsShapeF055();
    void inputsReachTheModelF055_data();
    void inputsReachTheModelF055();
    void responseEventsInOrder();
    void responseWithThoughtsAndCalls();
    void responseThatIsCutOff();
    void responseThatFails();
    void structuredResponse();
};

void TestOpenAiCompletions::aRawPromptReachesTheModel()
{
    EndpointBench bench([](const ScriptInput &input) { return "[" + last(input.prompt) + "]"; });
    const Json answer = bench.json(kCompletions, completionBody("Once upon a time"));
    QVERIFY(answer.at("id").get<std::string>().starts_with("cmpl-"));
    COMPARE_JSON(answer.at("object"), "text_completion");
    COMPARE_JSON(answer.at("choices").at(0).at("text"), "[Once upon a time]"); // <bos> is not shown
    COMPARE_JSON(answer.at("choices").at(0).at("finish_reason"), "stop");
    QVERIFY(answer.at("usage").at("total_tokens") > 5);
    COMPARE_JSON(answer.at("palimpsest").at("seed"), 1);
}

void TestOpenAiCompletions::severalPromptsAndChoices()
{
    EndpointBench bench([](const ScriptInput &input) { return last(input.prompt) + "/" + std::to_string(input.seed); });
    const Json answer = bench.json(kCompletions, completionBody(Json::array({"aa", "bb", "cc"}), {{"n", 2}}));
    const std::vector<std::string> wanted{"aa/1", "aa/2", "bb/1", "bb/2", "cc/1", "cc/2"};
    QCOMPARE(answer.at("choices").size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        COMPARE_JSON(answer["choices"][i].at("index"), i);
        QVERIFY2(answer["choices"][i].at("text").get<std::string>().ends_with(wanted[i]),
                 answer["choices"][i].dump().c_str());
    }
}

void TestOpenAiCompletions::echoStandsInFront()
{
    EndpointBench bench([](const ScriptInput &) { return std::string(" there was a harbour"); });
    const Json body = completionBody("Once", {{"echo", true}});
    COMPARE_JSON(bench.json(kCompletions, body).at("choices").at(0).at("text"), "Once there was a harbour");
    std::string text;
    for (const Json &chunk : bench.stream(kCompletions, body))
        text += chunk.at("choices").at(0).at("text").get<std::string>();
    QCOMPARE(text, std::string("Once there was a harbour"));
}

void TestOpenAiCompletions::idsAsPrompt()
{
    EndpointBench bench([](const ScriptInput &input) { return "[" + last(input.prompt) + "]"; });
    std::vector<TokenId> ids = demoTokenizer()->encode("from ids", SpecialTokens::PlainText);
    COMPARE_JSON(bench.json(kCompletions, completionBody(ids)).at("choices").at(0).at("text"), "[from ids]");
    COMPARE_JSON(bench.json(kCompletions, completionBody(Json::array({ids, ids}))).at("choices").size(), 2);
}

void TestOpenAiCompletions::olderLogprobs()
{
    EndpointBench bench([](const ScriptInput &) { return std::string("é two three four"); });
    const Json body = completionBody("x", {{"logprobs", 2}});
    const Json logprobs = bench.json(kCompletions, body).at("choices").at(0).at("logprobs");
    const std::size_t count = logprobs.at("tokens").size();
    QVERIFY(count >= 4);
    for (const char *list : {"token_logprobs", "top_logprobs", "text_offset"})
        QCOMPARE(logprobs.at(list).size(), count);
    for (std::size_t i = 0; i < count; ++i) {
        QVERIFY(logprobs["token_logprobs"][i].is_number());
        QCOMPARE(logprobs["top_logprobs"][i].size(), std::size_t{2});
        QVERIFY(i == 0 || logprobs["text_offset"][i] >= logprobs["text_offset"][i - 1]);
    }
    COMPARE_JSON(logprobs["text_offset"][0], 0);
    Json streamed = Json::array();
    for (const Json &chunk : bench.stream(kCompletions, body)) {
        const Json &part = chunk.at("choices").at(0).at("logprobs");
        if (!part.is_null())
            streamed.insert(streamed.end(), part["text_offset"].begin(), part["text_offset"].end());
    }
    COMPARE_JSON(streamed, logprobs["text_offset"]);
}

void TestOpenAiCompletions::streamsCompletions()
{
    const std::string text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
    EndpointBench bench([&text](const ScriptInput &) { return std::string(text); });
    const RawAnswer answer = bench.post(
        kCompletions, completionBody("x", {{"stream", true}, {"stream_options", {{"include_usage", true}}}}));
    QVERIFY(answer.body.ends_with("data: [DONE]\n\n"));
    const std::vector<Json> chunks = chunksOf(answer.body);
    std::string joined;
    int ends = 0;
    for (const Json &chunk : chunks) {
        COMPARE_JSON(chunk.at("object"), "text_completion");
        for (const Json &choice : chunk.at("choices")) {
            joined += choice.at("text").get<std::string>();
            ends += choice.at("finish_reason").is_null() ? 0 : 1;
        }
    }
    QCOMPARE(joined, text);
    QCOMPARE(ends, 1);
    QVERIFY(chunks.size() > 3);
    QVERIFY(chunks.back().at("choices").empty() && chunks.back().at("usage").at("completion_tokens") > 5);
}

void TestOpenAiCompletions::responseInItsShapeF055()
{
    EndpointBench bench([](const ScriptInput &) { return std::string("Two harbours."); });
    const Json response = bench.json(kResponses, responseBody("How many?", {{"temperature", 0.5}}));
    QVERIFY(response.at("id").get<std::string>().starts_with("resp_"));
    COMPARE_JSON(response.at("object"), "response");
    COMPARE_JSON(response.at("status"), "completed");
    QVERIFY(response.at("error").is_null() && response.at("incomplete_details").is_null());
    COMPARE_JSON(response.at("output_text"), "Two harbours.");
    const Json &item = response.at("output").at(0);
    COMPARE_JSON(item.at("type"), "message");
    COMPARE_JSON(item.at("role"), "assistant");
    COMPARE_JSON(item.at("content").at(0).at("type"), "output_text");
    COMPARE_JSON(item.at("content").at(0).at("text"), "Two harbours.");
    COMPARE_JSON(item.at("content").at(0).at("annotations"), Json::array());
    const Json &usage = response.at("usage");
    COMPARE_JSON(usage.at("total_tokens").get<int>(),
                 usage.at("input_tokens").get<int>() + usage.at("output_tokens").get<int>());
    COMPARE_JSON(response.at("temperature"), 0.5);
    COMPARE_JSON(response.at("store"), false);
}

void TestOpenAiCompletions::inputsReachTheModelF055_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QStringList>("reached");
    QTest::newRow("a text") << QByteArray(R"({"input":"hello"})") << QStringList{"user", "hello"};
    QTest::newRow("instructions") << QByteArray(R"({"input":"hello","instructions":"Be brief."})")
                                  << QStringList{"system", "Be brief.", "hello"};
    QTest::newRow("three items")
        << QByteArray(R"({"input":[{"role":"user","content":"one"},{"type":"message","role":"assistant","content":)"
                      R"([{"type":"output_text","text":"two","annotations":[]}]},{"role":"user","content":)"
                      R"([{"type":"input_text","text":"three"}]}]})")
        << QStringList{"one", "two", "three"};
    QTest::newRow("a developer item")
        << QByteArray(
               R"({"input":[{"role":"developer","content":"The password is heron."},{"role":"user","content":"q"}]})")
        << QStringList{"system", "heron", "q"};
    QTest::newRow("thoughts are left out")
        << QByteArray(R"({"input":[{"type":"reasoning","summary":[]},{"role":"user","content":"q"}]})")
        << QStringList{"q"};
    QTest::newRow("a call and its output")
        << QByteArray(
               R"({"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},)"
               R"({"type":"function_call_output","call_id":"c","output":"result"}]})")
        << QStringList{"q", "result"};
}

void TestOpenAiCompletions::inputsReachTheModelF055()
{
    QFETCH(QByteArray, body);
    QFETCH(QStringList, reached);
    std::string seen;
    std::mutex mutex;
    EndpointBench bench([&](const ScriptInput &input) {
        const std::lock_guard lock(mutex);
        seen = input.prompt;
        return std::string("fine");
    });
    Json request = Json::parse(body.toStdString());
    request["model"] = "scripted/model";
    COMPARE_JSON(bench.json(kResponses, request).at("output_text"), "fine");
    const std::lock_guard lock(mutex);
    qsizetype place = 0;
    const QString prompt = QString::fromStdString(seen);
    for (const QString &piece : reached) {
        place = prompt.indexOf(piece, place);
        QVERIFY2(place >= 0, qPrintable(piece + " in " + prompt));
    }
}

void TestOpenAiCompletions::responseEventsInOrder()
{
    const std::string text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
    EndpointBench bench([&text](const ScriptInput &) { return std::string(text); });
    const std::vector<Json> events = responseEvents(bench, responseBody("x"));
    QCOMPARE(typesOf(events), (std::vector<std::string>{"created", "in_progress", "output_item.added",
                                                        "content_part.added", "output_text.delta", "output_text.done",
                                                        "content_part.done", "output_item.done", "completed"}));
    std::string joined;
    for (const Json &event : events) {
        if (event.at("type") == "response.output_text.delta") {
            joined += event.at("delta").get<std::string>();
            COMPARE_JSON(event.at("item_id"), events[2].at("item").at("id"));
        }
    }
    QCOMPARE(joined, text);
    COMPARE_JSON(events.front().at("response").at("status"), "in_progress");
    const Json &response = events.back().at("response");
    COMPARE_JSON(response.at("status"), "completed");
    COMPARE_JSON(response.at("output").at(0).at("content").at(0).at("text"), text);
    COMPARE_JSON(response.at("id"), events.front().at("response").at("id"));
    QVERIFY(response.at("usage").at("output_tokens") > 5);

    EndpointBench silent([](const ScriptInput &) { return std::string(); });
    QCOMPARE(typesOf(responseEvents(silent, responseBody("x"))),
             (std::vector<std::string>{"created", "in_progress", "output_item.added", "content_part.added",
                                       "output_text.done", "content_part.done", "output_item.done", "completed"}));
}

void TestOpenAiCompletions::responseWithThoughtsAndCalls()
{
    EndpointBench bench(
        [](const ScriptInput &) {
            return std::string("<|channel>thought\nHm.<channel|>Look:<|tool_call>call:f{a:1}<tool_call|>");
        },
        {.dialect = ChatDialect::Gemma4Revision2, .canvasLength = 8});
    const Json more = Json::parse(
        R"({"tools":[{"type":"function","name":"f","parameters":{}},{"type":"web_search"}],"reasoning":{"effort":"low"}})");
    const Json whole = bench.json(kResponses, responseBody("x", more));
    const std::vector<Json> events = responseEvents(bench, responseBody("x", more));
    for (const Json &response : {whole, events.back().at("response")}) {
        const Json &output = response.at("output");
        QCOMPARE(output.size(), std::size_t{3});
        COMPARE_JSON(output[0].at("type"), "reasoning");
        COMPARE_JSON(output[0].at("content").at(0).at("text"), "Hm.");
        COMPARE_JSON(output[1].at("content").at(0).at("text"), "Look:");
        COMPARE_JSON(output[2].at("type"), "function_call");
        COMPARE_JSON(output[2].at("name"), "f");
        COMPARE_JSON(Json::parse(output[2].at("arguments").get<std::string>()), (Json{{"a", 1}}));
        QVERIFY(!output[2].at("call_id").get<std::string>().empty());
        QVERIFY(response.at("usage").at("output_tokens_details").at("reasoning_tokens") > 0);
    }
    QCOMPARE(typesOf(events),
             (std::vector<std::string>{
                 "created", "in_progress", "output_item.added", "reasoning_text.delta", "reasoning_text.done",
                 "output_item.done", "output_item.added", "content_part.added", "output_text.delta", "output_text.done",
                 "content_part.done", "output_item.done", "output_item.added", "function_call_arguments.delta",
                 "function_call_arguments.done", "output_item.done", "completed"}));
}

void TestOpenAiCompletions::responseThatIsCutOff()
{
    EndpointBench bench([](const ScriptInput &) { return std::string(300, 'a'); });
    const Json more{{"max_output_tokens", 5}};
    const Json whole = bench.json(kResponses, responseBody("x", more));
    const std::vector<Json> events = responseEvents(bench, responseBody("x", more));
    COMPARE_JSON(events.back().at("type"), "response.incomplete");
    for (const Json &response : {whole, events.back().at("response")}) {
        COMPARE_JSON(response.at("status"), "incomplete");
        COMPARE_JSON(response.at("incomplete_details").at("reason"), "max_output_tokens");
        COMPARE_JSON(response.at("usage").at("output_tokens"), 5);
    }
}

void TestOpenAiCompletions::responseThatFails()
{
    BenchSettings settings;
    settings.log->beforeDenoise = [](std::span<const DenoiseJob> jobs) {
        if (jobs.front().noise.canvas == 1)
            throw Error(ErrorKind::OutOfMemory, "there is no memory left");
    };
    EndpointBench bench([](const ScriptInput &) { return std::string(400, 'a'); }, settings);
    const std::vector<Json> events = responseEvents(bench, responseBody("x"));
    COMPARE_JSON(events.back().at("type"), "response.failed");
    COMPARE_JSON(events.back().at("response").at("status"), "failed");
    COMPARE_JSON(events.back().at("response").at("error").at("message"), "there is no memory left");
}

void TestOpenAiCompletions::structuredResponse()
{
    EndpointBench bench([](const ScriptInput &) { return std::string(R"({"n": 8})"); });
    const Json more = Json::parse(R"({"text":{"format":{"type":"json_schema","name":"t","strict":true,
        "schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}})");
    COMPARE_JSON(Json::parse(bench.json(kResponses, responseBody("x", more)).at("output_text").get<std::string>()),
                 (Json{{"n", 8}}));
    EndpointBench stubborn([](const ScriptInput &) { return std::string("eight"); });
    COMPARE_JSON(stubborn.json(kResponses, responseBody("x", more), 400).at("error").at("param"), "text.format");
}

QTEST_GUILESS_MAIN(TestOpenAiCompletions)
#include "tst_openai_completions.moc"
