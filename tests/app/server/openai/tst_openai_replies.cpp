// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/reply_splitter.h"
#include "tests/app/server/openai/endpoint_bench.h"

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

const std::string kChat = "/v1/chat/completions";
const BenchSettings kGemma{.dialect = ChatDialect::Gemma4Revision2, .canvasLength = 8};

const Json kTools =
    Json::array({{{"type", "function"},
                  {"function",
                   {{"name", "lookup"},
                    {"description", "Weather"},
                    {"parameters", {{"type", "object"}, {"properties", {{"city", {{"type", "string"}}}}}}}}}},
                 {{"type", "function"}, {"function", {{"name", "now"}}}}});

std::string call(const std::string &name, const std::string &arguments)
{
    return "<|tool_call>call:" + name + "{" + arguments + "}<tool_call|>";
}

void noMarkers(const std::string &text)
{
    for (const char *marker : {"<|", "|>", "<channel", "thought\n"})
        QVERIFY2(text.find(marker) == std::string::npos, text.c_str());
}

} // namespace

/// Thoughts, tool calls and structured answers of a model that has them.
class TestOpenAiReplies : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void splitsHoweverTheTextArrives_data();
    void splitsHoweverTheTextArrives();
    void thoughtsAreNoContentF009F010();
    void thoughtsThatEatTheBudgetF012F060();
    void stopStringsCountInTheAnswerF038();
    void callsF009F051();
    void onlyOneCallIfNotParallel();
    void forcedCalls();
    void aModelThatDoesNotCall();
    void toolsWithoutParametersF056();
    void oldThoughtsAndEmptyOnesAreNotSentAgainF010F013();
    void callsAndResultsReachTheModelF010F031();
    void aThoughtThatThePromptHasOpened();
    void aJsonObjectF048();
    void jsonAroundWhichTheModelTalks();
    void repairsInPlaceF003F049_data();
    void repairsInPlaceF003F049();
    void refusesWhatCannotBeRepairedF003F049();
    void valuesWithoutEndDoNoHarm();
    void cutOffJsonIsALength();
};

void TestOpenAiReplies::splitsHoweverTheTextArrives_data()
{
    QTest::addColumn<QByteArray>("raw");
    QTest::addColumn<QByteArray>("thoughts");
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<int>("calls");
    const auto row = [](const char *name, const char *raw, const char *thoughts, const char *content, int calls) {
        QTest::newRow(name) << QByteArray(raw) << QByteArray(thoughts) << QByteArray(content) << calls;
    };
    row("plain", "hello there", "", "hello there", 0);
    row("a thought first", "<|channel>thought\nhm, a<b<channel|>yes", "hm, a<b", "yes", 0);
    row("an empty thought", "<|channel>thought\n<channel|>yes", "", "yes", 0);
    row("a thought that does not end", "<|channel>thought\nhm <chan", "hm <chan", "", 0);
    row("two thoughts", "<|channel>thought\na<channel|>x<|channel>thought\nb<channel|>y", "a\nb", "xy", 0);
    row("a call", "<|tool_call>call:f{a:1}<tool_call|>", "", "", 1);
    row("a blank and two calls", "\n<|tool_call>call:f{}<tool_call|><|tool_call>call:g{}<tool_call|>", "", "", 2);
    row("a call that is cut off", "x<|tool_call>call:f{a:", "", "x", 0);
    row("text that looks like a marker", "a <|b <c <d>", "", "a <|b <c <d>", 0);
    row("ends like a marker", "a <|turn", "", "a <|turn", 0);
    row("an end of turn", "yes<turn|>no", "", "yes", 0);
    row("a stop string", "one STOP two", "", "one ", 0);
    row("most of a stop string", "one STO", "", "one STO", 0);
    row("a stop string in a thought", "<|channel>thought\nSTOP it<channel|>go STOP", "STOP it", "go ", 0);
}

void TestOpenAiReplies::splitsHoweverTheTextArrives()
{
    QFETCH(QByteArray, raw);
    QFETCH(QByteArray, thoughts);
    QFETCH(QByteArray, content);
    QFETCH(int, calls);
    for (qsizetype size = 1; size <= raw.size(); ++size) {
        openai::ReplySplitter splitter(ChatFormat(ChatDialect::Gemma4Revision2),
                                       {.stopStrings = {"STOP"}, .allowsCalls = true});
        QByteArray gotThoughts;
        QByteArray gotContent;
        int gotCalls = 0;
        const auto add = [&](const openai::ReplyPieces &pieces) {
            gotThoughts += pieces.thoughts.c_str();
            gotContent += pieces.content.c_str();
            gotCalls += static_cast<int>(pieces.calls.size());
            QVERIFY(thoughts.startsWith(gotThoughts));
            QVERIFY(content.startsWith(gotContent));
        };
        for (qsizetype begin = 0; begin < raw.size(); begin += size)
            add(splitter.push(raw.mid(begin, size).toStdString()));
        add(splitter.finish());
        QCOMPARE(gotThoughts, thoughts);
        QCOMPARE(gotContent, content);
        QCOMPARE(gotCalls, calls);
        QCOMPARE(splitter.content(), content.toStdString());
    }
}

void TestOpenAiReplies::thoughtsAreNoContentF009F010()
{
    EndpointBench bench(
        [](const ScriptInput &) {
            return std::string("<|channel>thought\nThe user wants a number, so three.<channel|>Three harbours.");
        },
        kGemma);
    for (const char *more : {R"({"reasoning_effort":"low"})", R"({"chat_template_kwargs":{"enable_thinking":true}})"}) {
        const Json answer = bench.json(kChat, chatBody("how many", Json::parse(more)));
        const Json &message = answer.at("choices").at(0).at("message");
        COMPARE_JSON(message.at("content"), "Three harbours.");
        COMPARE_JSON(message.at("reasoning_content"), "The user wants a number, so three.");
        const Json &usage = answer.at("usage");
        const int thoughts = usage.at("completion_tokens_details").at("reasoning_tokens").get<int>();
        QVERIFY(thoughts > 5 && thoughts < usage.at("completion_tokens").get<int>());
        const Assembled all = assemble(bench.stream(kChat, chatBody("how many", Json::parse(more))));
        QCOMPARE(all.content, std::string("Three harbours."));
        QCOMPARE(all.thoughts, std::string("The user wants a number, so three."));
        QCOMPARE(all.finishReason, std::string("stop"));
        noMarkers(all.content + all.thoughts);
    }
}

void TestOpenAiReplies::thoughtsThatEatTheBudgetF012F060()
{
    EndpointBench bench(
        [](const ScriptInput &) { return "<|channel>thought\n" + std::string(600, 'a') + "<channel|>done"; }, kGemma);
    const Json more{{"max_tokens", 40}, {"reasoning_effort", "high"}};
    const Json answer = bench.json(kChat, chatBody("puzzle", more));
    COMPARE_JSON(answer.at("choices").at(0).at("message").at("content"), "");
    COMPARE_JSON(answer.at("choices").at(0).at("finish_reason"), "length");
    COMPARE_JSON(answer.at("palimpsest").at("choices").at(0).at("stopped_while_thinking"), true);
    const Assembled all = assemble(bench.stream(kChat, chatBody("puzzle", more)));
    QCOMPARE(all.content, std::string());
    QVERIFY(!all.thoughts.empty());
    QCOMPARE(all.finishReason, std::string("length"));
}

void TestOpenAiReplies::stopStringsCountInTheAnswerF038()
{
    EndpointBench bench(
        [](const ScriptInput &) {
            return std::string("<|channel>thought\nI stop at five.<channel|>three, four, five, six, ") +
                   std::string(200, 'x');
        },
        kGemma);
    const Json more{{"stop", "five"}, {"reasoning_effort", "high"}};
    const Json answer = bench.json(kChat, chatBody("count", more));
    COMPARE_JSON(answer.at("choices").at(0).at("message").at("content"), "three, four, ");
    COMPARE_JSON(answer.at("choices").at(0).at("finish_reason"), "stop");
    const Assembled all = assemble(bench.stream(kChat, chatBody("count", more)));
    QCOMPARE(all.content, std::string("three, four, "));
    QCOMPARE(all.thoughts, std::string("I stop at five."));
    QCOMPARE(all.finishReason, std::string("stop"));
    QVERIFY(kGemma.log->counts().denoiseCalls < 200); // it did not go on to the end
}

void TestOpenAiReplies::callsF009F051()
{
    EndpointBench bench(
        [](const ScriptInput &) {
            return "<|channel>thought\nBoth.<channel|>" + call("lookup", "city:<|\"|>Oslo<|\"|>") + call("now", "");
        },
        kGemma);
    const Json more{{"tools", kTools}, {"reasoning_effort", "low"}};
    const Json answer = bench.json(kChat, chatBody("weather in Oslo", more));
    const Json &choice = answer.at("choices").at(0);
    COMPARE_JSON(choice.at("finish_reason"), "tool_calls");
    COMPARE_JSON(choice.at("message").at("content"), nullptr);
    const Json &calls = choice.at("message").at("tool_calls");
    QCOMPARE(calls.size(), std::size_t{2});
    COMPARE_JSON(calls.at(0).at("type"), "function");
    COMPARE_JSON(calls.at(0).at("function").at("name"), "lookup");
    COMPARE_JSON(Json::parse(calls.at(0).at("function").at("arguments").get<std::string>()), (Json{{"city", "Oslo"}}));
    QVERIFY(calls.at(0).at("id") != calls.at(1).at("id"));

    const std::vector<Json> chunks = bench.stream(kChat, chatBody("weather in Oslo", more));
    const Assembled all = assemble(chunks);
    QCOMPARE(all.calls.size(), std::size_t{2});
    COMPARE_JSON(all.calls[1].at("name"), "now");
    COMPARE_JSON(Json::parse(all.calls[1].at("arguments").get<std::string>()), Json::object());
    QCOMPARE(all.content, std::string());
    QCOMPARE(all.thoughts, std::string("Both."));
    QCOMPARE(all.finishReason, std::string("tool_calls"));
    for (const Json &chunk : chunks)
        noMarkers(chunk.dump());
}

void TestOpenAiReplies::onlyOneCallIfNotParallel()
{
    EndpointBench bench([](const ScriptInput &) { return call("now", "") + call("lookup", "city:1"); }, kGemma);
    const Json answer = bench.json(kChat, chatBody("x", {{"tools", kTools}, {"parallel_tool_calls", false}}));
    COMPARE_JSON(answer.at("choices").at(0).at("message").at("tool_calls").size(), 1);
}

void TestOpenAiReplies::forcedCalls()
{
    // The canvas begins with the frozen beginning of the call, whatever the model would write there.
    EndpointBench bench([](const ScriptInput &) { return call("lookup", "city:7"); }, kGemma);
    for (const Json &choice : {Json("required"), Json{{"type", "function"}, {"function", {{"name", "lookup"}}}}}) {
        const Json answer = bench.json(kChat, chatBody("x", {{"tools", kTools}, {"tool_choice", choice}}));
        COMPARE_JSON(answer.at("choices").at(0).at("message").at("tool_calls").at(0).at("function").at("name"),
                     "lookup");
    }
}

void TestOpenAiReplies::aModelThatDoesNotCall()
{
    EndpointBench bench([](const ScriptInput &) { return std::string("I would rather talk about something else."); },
                        kGemma);
    const Json more{{"tools", kTools}, {"tool_choice", "required"}};
    COMPARE_JSON(bench.json(kChat, chatBody("x", more), 400).at("error").at("param"), "tool_choice");
}

void TestOpenAiReplies::toolsWithoutParametersF056()
{
    EndpointBench bench([](const ScriptInput &) { return std::string("fine"); }, kGemma);
    for (const Json &parameters :
         {Json(nullptr), Json::object(),
          Json::parse(
              R"({"type":"object","$defs":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/$defs/a"}}})")}) {
        Json tool = {{"type", "function"}, {"function", {{"name", "f"}, {"parameters", parameters}}}};
        QCOMPARE(bench.post(kChat, chatBody("x", {{"tools", Json::array({tool})}})).status, 200);
        tool["function"].erase("parameters");
        QCOMPARE(bench.post(kChat, chatBody("x", {{"tools", Json::array({tool})}})).status, 200);
    }
}

void TestOpenAiReplies::oldThoughtsAndEmptyOnesAreNotSentAgainF010F013()
{
    std::string prompt;
    std::mutex mutex;
    EndpointBench bench(
        [&](const ScriptInput &input) {
            const std::lock_guard lock(mutex);
            prompt = input.prompt;
            return std::string("fine");
        },
        kGemma);
    const Json messages = Json::parse(R"([
        {"role":"user","content":"one"},
        {"role":"assistant","content":"two","reasoning_content":"SECRET THOUGHT"},
        {"role":"user","content":"three"},
        {"role":"assistant","content":"four","reasoning_content":""},
        {"role":"user","content":"five"}])");
    QCOMPARE(bench.post(kChat, chatBody("", {{"messages", messages}})).status, 200);
    const std::lock_guard lock(mutex);
    QVERIFY(prompt.find("SECRET") == std::string::npos);
    for (const char *text : {"one", "two", "three", "four", "five"})
        QVERIFY(prompt.find(text) != std::string::npos);
}

void TestOpenAiReplies::callsAndResultsReachTheModelF010F031()
{
    std::string prompt;
    std::mutex mutex;
    EndpointBench bench(
        [&](const ScriptInput &input) {
            const std::lock_guard lock(mutex);
            prompt = input.prompt;
            return std::string("It rains.");
        },
        kGemma);
    const Json messages = Json::parse(R"([
        {"role":"user","content":"weather in Oslo"},
        {"role":"assistant","content":null,"reasoning_content":"old","tool_calls":[{"id":"call_1","type":"function",
         "function":{"name":"lookup","arguments":"{\"city\":\"Oslo\"}"}}]},
        {"role":"tool","tool_call_id":"call_1","content":"rain, 4 degrees"}])");
    const Json more{{"messages", messages}, {"tools", kTools}};
    QCOMPARE(assemble(bench.stream(kChat, chatBody("", more))).content, std::string("It rains."));
    const std::lock_guard lock(mutex);
    for (const char *text : {"weather in Oslo", "call:lookup", "rain, 4 degrees"})
        QVERIFY2(prompt.find(text) != std::string::npos, prompt.c_str());
}

void TestOpenAiReplies::aThoughtThatThePromptHasOpened()
{
    EndpointBench bench([](const ScriptInput &) { return std::string("So it rains.<channel|>Take a coat."); }, kGemma);
    const Json messages = Json::parse(R"([
        {"role":"user","content":"weather"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",
         "function":{"name":"now","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"1","content":"rain"}])");
    const Json more{{"messages", messages}, {"tools", kTools}, {"reasoning_effort", "high"}};
    const Json answer = bench.json(kChat, chatBody("", more));
    COMPARE_JSON(answer.at("choices").at(0).at("message").at("reasoning_content"), "So it rains.");
    COMPARE_JSON(answer.at("choices").at(0).at("message").at("content"), "Take a coat.");
    QVERIFY(answer.at("usage").at("completion_tokens_details").at("reasoning_tokens") > 0);
}

void TestOpenAiReplies::aJsonObjectF048()
{
    EndpointBench bench([](const ScriptInput &) { return std::string(R"( {"name": "Ann", "age": 7} )"); });
    const Json more{{"response_format", {{"type", "json_object"}}}};
    const Json answer = bench.json(kChat, chatBody("give name and age", more));
    COMPARE_JSON(Json::parse(answer.at("choices").at(0).at("message").at("content").get<std::string>()),
                 (Json{{"name", "Ann"}, {"age", 7}}));
    const Assembled all = assemble(bench.stream(kChat, chatBody("give name and age", more)));
    COMPARE_JSON(all.content, answer.at("choices").at(0).at("message").at("content"));
}

void TestOpenAiReplies::jsonAroundWhichTheModelTalks()
{
    EndpointBench bench(
        [](const ScriptInput &) { return std::string("Here it is:\n```json\n{\"a\": [1, \"}\"]}\n```\n"); });
    const Json answer = bench.json(kChat, chatBody("x", {{"response_format", {{"type", "json_object"}}}}));
    COMPARE_JSON(answer.at("choices").at(0).at("message").at("content"), R"({"a": [1, "}"]})");
}

void TestOpenAiReplies::repairsInPlaceF003F049_data()
{
    QTest::addColumn<QByteArray>("first");  ///< what the model writes
    QTest::addColumn<QByteArray>("filler"); ///< what it writes into every position of a gap
    QTest::addColumn<bool>("repaired");
    QTest::newRow("fits at once") << QByteArray(R"({"n": 8, "s": "a"})") << QByteArray("x") << false;
    QTest::newRow("a wrong type") << QByteArray(R"({"n": true, "s": "a"})") << QByteArray("1") << true;
    QTest::newRow("a value that is ruled out") << QByteArray(R"({"n": 99, "s": "a"})") << QByteArray("3") << true;
}

void TestOpenAiReplies::repairsInPlaceF003F049()
{
    QFETCH(QByteArray, first);
    QFETCH(QByteArray, filler);
    QFETCH(bool, repaired);
    const auto tokenizer = demoTokenizer();
    const TokenId fill = tokenizer->encode(filler.toStdString(), SpecialTokens::PlainText).front();
    const FakeModel script = scriptedModel([first](const ScriptInput &) { return first.toStdString(); }, 64);
    const FakeModel model = [script, fill](const FakeInput &input) {
        PositionResult result = script(input);
        if (input.noise.seed >= 1'000'000)
            result.argmax = result.sampled = fill;
        return result;
    };
    const BenchSettings settings{.canvasLength = 64};
    EndpointBench bench(scriptedParts(model, settings), settings);
    const Json schema = Json::parse(R"({"type":"object","required":["n","s"],"additionalProperties":false,
        "properties":{"n":{"type":"integer","not":{"const":99}},"s":{"enum":["a","b"]}}})");
    const Json more{
        {"seed", 5},
        {"response_format", {{"type", "json_schema"}, {"json_schema", {{"name", "t"}, {"schema", schema}}}}}};
    const Json answer = bench.json(kChat, chatBody("x", more));
    const std::string content = answer.at("choices").at(0).at("message").at("content");
    // The value that did not fit is another one; outside of it, byte for byte what it was.
    QVERIFY2(content.starts_with(R"({"n":)") && content.ends_with(R"(, "s": "a"})"), content.c_str());
    QCOMPARE(QString::number(Json::parse(content).at("n").get<qint64>()).remove(QString::fromUtf8(filler)).isEmpty(),
             repaired);
    QCOMPARE(answer.at("palimpsest").at("choices").at(0).contains("repairs"), repaired);
    const Assembled all = assemble(bench.stream(kChat, chatBody("x", more)));
    QCOMPARE(all.content, content);
}

void TestOpenAiReplies::refusesWhatCannotBeRepairedF003F049()
{
    EndpointBench bench([](const ScriptInput &) { return std::string("a spider has eight"); });
    const Json more{{"response_format", {{"type", "json_object"}}}};
    const Json refused = bench.json(kChat, chatBody("x", more), 400);
    COMPARE_JSON(refused.at("error").at("param"), "response_format");
    const std::vector<Json> chunks = bench.stream(kChat, chatBody("x", more));
    COMPARE_JSON(chunks.back().at("error").at("param"), "response_format");
    QCOMPARE(chunks.size(), std::size_t{2}); // the role, the error: nothing unconstrained
}

void TestOpenAiReplies::valuesWithoutEndDoNoHarm()
{
    EndpointBench bench([](const ScriptInput &) { return std::string(3000, '[') + std::string(3000, ']'); },
                        {.canvasLength = 256, .maxPositions = 16'384});
    const Json schema = Json::parse(R"({"type":"array","items":{"$ref":"#"}})");
    const Json more{{"response_format", {{"type", "json_schema"}, {"json_schema", {{"schema", schema}}}}}};
    COMPARE_JSON(bench.json(kChat, chatBody("x", more), 400).at("error").at("param"), "response_format");
}

void TestOpenAiReplies::cutOffJsonIsALength()
{
    EndpointBench bench([](const ScriptInput &) { return "{\"a\": \"" + std::string(300, 'x') + "\"}"; });
    const Json more{{"max_tokens", 12}, {"response_format", {{"type", "json_object"}}}};
    const Json answer = bench.json(kChat, chatBody("x", more));
    COMPARE_JSON(answer.at("choices").at(0).at("finish_reason"), "length");
}

QTEST_GUILESS_MAIN(TestOpenAiReplies)
#include "tst_openai_replies.moc"
