// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/openai/endpoint_bench.h"

#include <QTest>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

const std::string kChat = "/v1/chat/completions";

std::string contentOf(const Json &answer)
{
    return answer.at("choices").at(0).at("message").at("content").get<std::string>();
}

/// Answers with what it was asked: shows what has reached the model.
std::string repeatPrompt(const ScriptInput &input)
{
    std::string text;
    for (const char character : input.prompt)
        text += character == '<' || character == '>' ? '~' : character;
    return text;
}

std::string constant(const std::string &text)
{
    return text;
}

} // namespace

/// One conversation's answer, whole and streamed, over a real socket and a scripted model of plain turns.
class TestOpenAiChat : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void answersInTheShapeThatClientsExpect();
    void streamsInOrderF045F050F059();
    void usageOnlyIfAskedForF050_data();
    void usageOnlyIfAskedForF050();
    void streamedAndWholeAreTheSameF029F062_data();
    void streamedAndWholeAreTheSameF029F062();
    void messagesReachTheModelF031F032F033F039_data();
    void messagesReachTheModelF031F032F033F039();
    void systemAloneF001();
    void finalAssistantTurnIsContinued();
    void unknownFieldsAreIgnoredF035();
    void anErrorInMidStreamF044();
    void longPromptsF015F024();
    void thinkingIsIgnoredAndSaidF058F060();
    void toolsAreRefusedByName();
};

void TestOpenAiChat::answersInTheShapeThatClientsExpect()
{
    EndpointBench bench([](const ScriptInput &) { return constant("Two harbours."); });
    const RawAnswer answer = bench.post(kChat, chatBody("How many?", {{"seed", 5}}));
    COMPARE_JSON(answer.status, 200);
    COMPARE_JSON(answer.field("content-type"), "application/json");
    QVERIFY(!answer.field("x-request-id").empty());
    const Json body = Json::parse(answer.body);
    QVERIFY(body.at("id").get<std::string>().starts_with("chatcmpl-"));
    COMPARE_JSON(body.at("object"), "chat.completion");
    QVERIFY(body.at("created") > 1'700'000'000);
    COMPARE_JSON(body.at("model"), "scripted/model");
    const Json &choice = body.at("choices").at(0);
    COMPARE_JSON(choice.at("index"), 0);
    COMPARE_JSON(choice.at("message"),
                 (Json{{"role", "assistant"}, {"content", "Two harbours."}, {"refusal", nullptr}}));
    COMPARE_JSON(choice.at("finish_reason"), "stop");
    QVERIFY(choice.at("logprobs").is_null());
    const Json &usage = body.at("usage");
    QVERIFY(usage.at("prompt_tokens") > 0 && usage.at("completion_tokens") > 0);
    COMPARE_JSON(usage.at("total_tokens").get<int>(),
                 usage.at("prompt_tokens").get<int>() + usage.at("completion_tokens").get<int>());
    COMPARE_JSON(usage.at("completion_tokens_details").at("reasoning_tokens"), 0);
    COMPARE_JSON(body.at("palimpsest").at("seed"), 5);
    QVERIFY(body.at("palimpsest").at("choices").at(0).at("steps") > 0);
    QVERIFY(body.at("system_fingerprint").get<std::string>().ends_with("_5"));
}

void TestOpenAiChat::streamsInOrderF045F050F059()
{
    const std::string text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";
    EndpointBench bench([&text](const ScriptInput &) { return std::string(text); });
    const RawAnswer answer =
        bench.post(kChat, chatBody("count", {{"stream", true}, {"stream_options", {{"include_usage", true}}}}));
    COMPARE_JSON(answer.field("content-type"), "text/event-stream; charset=utf-8");
    COMPARE_JSON(answer.field("cache-control"), "no-cache");
    COMPARE_JSON(answer.field("x-accel-buffering"), "no");
    QVERIFY(answer.body.ends_with("data: [DONE]\n\n"));
    COMPARE_JSON(answer.body.find("[DONE]"), answer.body.rfind("[DONE]"));
    const std::vector<Json> chunks = chunksOf(answer.body);
    COMPARE_JSON(chunks.front().at("choices").at(0).at("delta"), (Json{{"role", "assistant"}, {"content", ""}}));
    for (const Json &chunk : chunks) {
        COMPARE_JSON(chunk.at("id"), chunks.front().at("id"));
        COMPARE_JSON(chunk.at("created"), chunks.front().at("created"));
        COMPARE_JSON(chunk.at("model"), "scripted/model");
        COMPARE_JSON(chunk.at("object"), "chat.completion.chunk");
        QVERIFY(&chunk == &chunks.back() || chunk.at("usage").is_null());
    }
    const Assembled all = assemble(chunks);
    COMPARE_JSON(all.content, text);
    QVERIFY(all.contentChunks > 1); // by canvases
    COMPARE_JSON(all.finishReason, "stop");
    COMPARE_JSON(all.finishReasons, 1);
    COMPARE_JSON(all.roles, 1);
    COMPARE_JSON(chunks[chunks.size() - 2].at("choices").at(0).at("delta"), Json::object());
    COMPARE_JSON(chunks.back().at("choices"), Json::array());
    QVERIFY(chunks.back().at("usage").at("completion_tokens") > 10);
    QVERIFY(chunks.back().contains("palimpsest"));
}

void TestOpenAiChat::usageOnlyIfAskedForF050_data()
{
    QTest::addColumn<QByteArray>("options");
    QTest::addColumn<bool>("sent");
    QTest::newRow("absent") << QByteArray("{}") << false;
    QTest::newRow("null") << QByteArray(R"({"stream_options":null})") << false;
    QTest::newRow("empty") << QByteArray(R"({"stream_options":{}})") << false;
    QTest::newRow("false") << QByteArray(R"({"stream_options":{"include_usage":false}})") << false;
    QTest::newRow("null inside") << QByteArray(R"({"stream_options":{"include_usage":null}})") << false;
    QTest::newRow("true") << QByteArray(R"({"stream_options":{"include_usage":true}})") << true;
}

void TestOpenAiChat::usageOnlyIfAskedForF050()
{
    QFETCH(QByteArray, options);
    QFETCH(bool, sent);
    EndpointBench bench([](const ScriptInput &) { return constant(""); }); // not a single token of content
    const std::vector<Json> chunks = bench.stream(kChat, chatBody("x", Json::parse(options.toStdString())));
    const bool hasUsage = chunks.back().at("choices").empty();
    COMPARE_JSON(hasUsage, sent);
    for (const Json &chunk : chunks)
        COMPARE_JSON(chunk.contains("usage"), sent);
    COMPARE_JSON(assemble(chunks).finishReason, "stop");
    COMPARE_JSON(assemble(chunks).content, "");
}

void TestOpenAiChat::streamedAndWholeAreTheSameF029F062_data()
{
    QTest::addColumn<QString>("text");
    QTest::newRow("letters of several bytes")
        << "é, 漢字, 🇫🇮, 👩‍👩‍👧, नमस्ते and more of it é 漢字";
    QTest::newRow("what looks like a marker") << "a <b> and a < b, <|nothing, then <";
    QTest::newRow("line ends and quotes") << "one\n\n\"two\"\r\n\tthree\\\u2028four\n";
    QTest::newRow("a long answer") << QString("word after word ").repeated(60);
    QTest::newRow("blanks alone") << "   ";
}

void TestOpenAiChat::streamedAndWholeAreTheSameF029F062()
{
    QFETCH(QString, text);
    for (const std::int64_t length : {1, 3, 16}) {
        EndpointBench bench([&](const ScriptInput &) { return text.toStdString(); }, {.canvasLength = length});
        const std::string whole = contentOf(bench.json(kChat, chatBody("say it")));
        const Assembled streamed = assemble(bench.stream(kChat, chatBody("say it")));
        QCOMPARE(QString::fromStdString(whole), text);
        QCOMPARE(QString::fromStdString(streamed.content), text);
    }
}

void TestOpenAiChat::messagesReachTheModelF031F032F033F039_data()
{
    QTest::addColumn<QByteArray>("messages");
    QTest::addColumn<QStringList>("reached"); ///< in this order
    QTest::newRow("developer is system")
        << QByteArray(
               R"([{"role":"developer","content":"The password is heron."},{"role":"user","content":"What is it?"}])")
        << QStringList{"system", "heron", "What is it?"};
    QTest::newRow("several system turns")
        << QByteArray(
               R"([{"role":"system","content":"First."},{"role":"user","content":"Q"},{"role":"system","content":"Second."}])")
        << QStringList{"First.", "Second.", "Q"};
    QTest::newRow("a list with one part")
        << QByteArray(R"([{"role":"user","content":[{"type":"text","text":"alpha"}]}])") << QStringList{"alpha"};
    QTest::newRow("two parts in order")
        << QByteArray(R"([{"role":"user","content":[{"type":"text","text":"alpha"},{"type":"text","text":"beta"}]}])")
        << QStringList{"alpha", "beta"};
    QTest::newRow("an empty assistant turn")
        << QByteArray(
               R"([{"role":"user","content":"one"},{"role":"assistant","content":""},{"role":"user","content":"two"}])")
        << QStringList{"one", "two"};
    QTest::newRow("the same role twice") << QByteArray(
                                                R"([{"role":"user","content":"one"},{"role":"user","content":"two"}])")
                                         << QStringList{"one", "two"};
    QTest::newRow("an empty user turn") << QByteArray(R"([{"role":"user","content":""}])") << QStringList{"user"};
    QTest::newRow("blanks") << QByteArray(R"([{"role":"user","content":"  \n "}])") << QStringList{"user"};
    QTest::newRow("a call without text, and its result")
        << QByteArray(
               R"([{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",)"
               R"("function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"result"}])")
        << QStringList{"q", "result"};
}

void TestOpenAiChat::messagesReachTheModelF031F032F033F039()
{
    QFETCH(QByteArray, messages);
    QFETCH(QStringList, reached);
    EndpointBench bench(repeatPrompt);
    const QString prompt = QString::fromStdString(
        contentOf(bench.json(kChat, chatBody("", {{"messages", Json::parse(messages.toStdString())}}))));
    qsizetype place = 0;
    for (const QString &piece : reached) {
        place = prompt.indexOf(piece, place);
        QVERIFY2(place >= 0, qPrintable(piece + " in " + prompt));
    }
}

void TestOpenAiChat::systemAloneF001()
{
    EndpointBench bench([](const ScriptInput &) { return constant("fine"); });
    const Json alone{{"messages", Json::array({{{"role", "system"}, {"content", "Be brief."}}})}};
    COMPARE_JSON(contentOf(bench.json(kChat, chatBody("", alone))), "fine");
    COMPARE_JSON(contentOf(bench.json(kChat, chatBody("x"))), "fine");
}

void TestOpenAiChat::finalAssistantTurnIsContinued()
{
    EndpointBench bench(repeatPrompt);
    const Json messages =
        Json::array({{{"role", "user"}, {"content", "Go on"}}, {{"role", "assistant"}, {"content", "It was"}}});
    const std::string prompt = contentOf(bench.json(kChat, chatBody("", {{"messages", messages}})));
    QVERIFY2(prompt.ends_with("model\nIt was"), prompt.c_str());
}

void TestOpenAiChat::unknownFieldsAreIgnoredF035()
{
    EndpointBench bench([](const ScriptInput &) { return constant("fine"); });
    const Json more{{"store", true},
                    {"metadata", {{"a", "b"}}},
                    {"parallel_tool_calls", true},
                    {"service_tier", "auto"},
                    {"user", "someone"},
                    {"prediction", nullptr},
                    {"x_unknown", Json::array()},
                    {"presence_penalty", 0.5},
                    {"response_format", {{"type", "text"}}}};
    COMPARE_JSON(contentOf(bench.json(kChat, chatBody("x", more))), "fine");
}

void TestOpenAiChat::anErrorInMidStreamF044()
{
    BenchSettings settings;
    settings.log->beforeDenoise = [](std::span<const DenoiseJob> jobs) {
        if (jobs.front().noise.canvas == 1)
            throw Error(ErrorKind::OutOfMemory, "there is no memory left for the second canvas");
    };
    EndpointBench bench([](const ScriptInput &) { return std::string(400, 'a'); }, settings);
    const RawAnswer answer = bench.post(kChat, chatBody("x", {{"stream", true}}));
    COMPARE_JSON(answer.status, 200);
    const std::vector<StreamEvent> events = eventsOf(answer.body);
    const Json last = Json::parse(events.back().data);
    COMPARE_JSON(last.at("error").at("message"), "there is no memory left for the second canvas");
    COMPARE_JSON(last.at("error").at("type"), "api_error");
    QVERIFY(answer.body.find("[DONE]") == std::string::npos);
    COMPARE_JSON(events.size(), std::size_t{3}); // the role, the first canvas, the error
    QVERIFY(events[1].data.find("\"finish_reason\":null") != std::string::npos);
    const Json whole = bench.json(kChat, chatBody("x"), 500);
    COMPARE_JSON(whole.at("error").at("message"), "there is no memory left for the second canvas");
    COMPARE_JSON(bench.host.state().phase, EngineState::Phase::Ready);
}

void TestOpenAiChat::longPromptsF015F024()
{
    std::string document;
    for (int line = 0; line < 400; ++line)
        document += "\tline " + std::to_string(line) + std::string(line % 97 == 0 ? 500 : 3, ' ') + "x\n\n";
    EndpointBench bench([](const ScriptInput &) { return constant("A summary."); }, {.maxPositions = 32'768});
    const Json answer = bench.json(kChat, chatBody(document + "summarise"));
    COMPARE_JSON(contentOf(answer), "A summary.");
    QVERIFY(answer.at("usage").at("prompt_tokens") > 2000);
    const Json models = Json::parse(bench.send("GET", "/v1/models").body);
    COMPARE_JSON(models.at("data").at(0).at("context_length"), 32'768);
}

void TestOpenAiChat::thinkingIsIgnoredAndSaidF058F060()
{
    EndpointBench bench([](const ScriptInput &) { return constant("Harbour news"); });
    QVERIFY(!bench.json(kChat, chatBody("title")).at("palimpsest").contains("thinking"));
    for (const char *more :
         {R"({"reasoning_effort":"high"})", R"({"chat_template_kwargs":{"enable_thinking":true}})",
          R"({"enable_thinking":true})", R"({"thinking":{"type":"enabled"}})", R"({"thinking":true})"}) {
        const Json answer = bench.json(kChat, chatBody("title", Json::parse(more)));
        COMPARE_JSON(contentOf(answer), "Harbour news");
        QVERIFY(answer.at("palimpsest").at("thinking").get<std::string>().starts_with("ignored"));
    }
}

void TestOpenAiChat::toolsAreRefusedByName()
{
    EndpointBench bench([](const ScriptInput &) { return constant("fine"); });
    const Json tools = Json::array({{{"type", "function"}, {"function", {{"name", "lookup"}}}}});
    COMPARE_JSON(bench.json(kChat, chatBody("x", {{"tools", tools}}), 400).at("error").at("param"), "tools");
    COMPARE_JSON(contentOf(bench.json(kChat, chatBody("x", {{"tools", tools}, {"tool_choice", "none"}}))), "fine");
}

QTEST_GUILESS_MAIN(TestOpenAiChat)
#include "tst_openai_chat.moc"
