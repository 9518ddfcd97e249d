// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/openai/endpoint_bench.h"

#include <atomic>
#include <future>
#include <memory>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

const std::string kMessages = R"("messages":[{"role":"user","content":"x"}])";

QByteArray chatWith(const char *more)
{
    return QByteArray::fromStdString(R"({"model":"scripted/model",)" + kMessages + "," + more + "}");
}

} // namespace

/// What is refused, how, and that nothing of it reaches the engine.
class TestOpenAiRefusals : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void namesTheField_data();
    void namesTheField();
    void acceptsWhatIsUsual_data();
    void acceptsWhatIsUsual();
    void pathsAndMethodsF054_data();
    void pathsAndMethodsF054();
    void modelsInTheirShape();
    void unknownModelsF053();
    void anyNameIfASettingSaysSoF053();
    void whileLoading();
    void afterALoadThatFailed();
    void theEngineWasUntouchedF002F042();

private:
    std::unique_ptr<EndpointBench> m_bench;
    std::shared_ptr<std::atomic<int>> m_asked = std::make_shared<std::atomic<int>>(0);
};

void TestOpenAiRefusals::initTestCase()
{
    m_bench = std::make_unique<EndpointBench>([asked = m_asked](const ScriptInput &) {
        ++*asked;
        return std::string("fine");
    });
}

void TestOpenAiRefusals::namesTheField_data()
{
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QByteArray>("param"); ///< empty: null
    const QByteArray chat = "/v1/chat/completions";
    const auto row = [&](const char *name, const QByteArray &body, const char *param) {
        QTest::newRow(name) << chat << body << QByteArray(param);
    };
    // F046: bodies that are no request
    row("F046 empty list", "[]", "");
    row("F046 a text", "\"x\"", "");
    row("F046 cut off", R"({"model":"x")", "");
    row("F046 byte-order mark", "\xEF\xBB\xBF{}", "");
    row("F046 not UTF-8", "{\"model\":\"\xFF\"}", "model");
    row("F046 duplicate key", R"({"model":"a","model":"b"})", "model");
    row("F046 duplicate key inside", chatWith(R"("stream_options":{"a":1,"a":2})"), "stream_options.a");
    row("F046 messages as an object", R"({"model":"scripted/model","messages":{}})", "messages");
    row("F046 nested without end",
        QByteArray(R"({"model":"x","a":)") + QByteArray(200, '[') + QByteArray(200, ']') + "}", "a");
    // F039, F053: what has to be there
    row("F039 no messages at all", R"({"model":"scripted/model","messages":[]})", "messages");
    row("messages missing", R"({"model":"scripted/model"})", "messages");
    row("F053 model missing", QByteArray::fromStdString("{" + kMessages + "}"), "model");
    row("F053 model empty", QByteArray::fromStdString(R"({"model":"",)" + kMessages + "}"), "model");
    row("F053 model is a number", QByteArray::fromStdString(R"({"model":7,)" + kMessages + "}"), "model");
    // F032, F033: messages
    row("F033 invented role", R"({"model":"scripted/model","messages":[{"role":"banana","content":"x"}]})",
        "messages[0].role");
    row("F032 an image",
        R"({"model":"scripted/model","messages":[{"role":"user","content":[{"type":"text","text":"a"},)"
        R"({"type":"image_url","image_url":{"url":"data:"}}]}]})",
        "messages[0].content[1]");
    row("content is a number", R"({"model":"scripted/model","messages":[{"role":"user","content":4}]})",
        "messages[0].content");
    row("an assistant that says nothing, alone",
        R"({"model":"scripted/model","messages":[{"role":"assistant","content":""}]})", "messages");
    // F042: numbers
    row("F042 temperature beyond a double", chatWith(R"("temperature":1e999)"), "temperature");
    row("F042 temperature negative", chatWith(R"("temperature":-1)"), "temperature");
    row("F042 temperature too high", chatWith(R"("temperature":3)"), "temperature");
    row("F042 temperature a word", chatWith(R"("temperature":"hot")"), "temperature");
    row("F042 temperature in quotes", chatWith(R"("temperature":"1")"), "temperature");
    row("F042 temperature NaN", chatWith(R"("temperature":NaN)"), "temperature");
    row("F042 top_p zero", chatWith(R"("top_p":0)"), "top_p");
    row("F042 top_p two", chatWith(R"("top_p":2)"), "top_p");
    row("top_k a fraction", chatWith(R"("top_k":1.5)"), "top_k");
    row("min_p above one", chatWith(R"("min_p":1.01)"), "min_p");
    row("F042 seed negative", chatWith(R"("seed":-1)"), "seed");
    row("F042 seed 2^63", chatWith(R"("seed":9223372036854775808)"), "seed");
    row("F042 seed a fraction", chatWith(R"("seed":1.5)"), "seed");
    row("no tokens", chatWith(R"("max_tokens":0)"), "max_tokens");
    row("negative tokens", chatWith(R"("max_completion_tokens":-5)"), "max_completion_tokens");
    row("F040 n zero", chatWith(R"("n":0)"), "n");
    row("F040 n too many", chatWith(R"("n":9)"), "n");
    row("stop empty", chatWith(R"("stop":"")"), "stop");
    row("stop too many", chatWith(R"("stop":["a","b","c","d","e"])"), "stop");
    row("stop a number", chatWith(R"("stop":[1])"), "stop");
    row("stream a text", chatWith(R"("stream":"true")"), "stream");
    row("logit_bias key", chatWith(R"("logit_bias":{"word":1})"), "logit_bias");
    row("logit_bias value", chatWith(R"("logit_bias":{"5":101})"), "logit_bias");
    row("logit_bias unknown id", chatWith(R"("logit_bias":{"99999999":1})"), "logit_bias");
    row("penalty out of range", chatWith(R"("presence_penalty":3)"), "presence_penalty");
    row("F043 too many top_logprobs", chatWith(R"("logprobs":true,"top_logprobs":21)"), "top_logprobs");
    // F002, F035: fields that would change the answer
    row("F002 prompt_logprobs", chatWith(R"("prompt_logprobs":1)"), "prompt_logprobs");
    row("F035 functions", chatWith(R"("functions":[])"), "functions");
    row("F035 audio", chatWith(R"("modalities":["text","audio"])"), "modalities");
    row("F035 a grammar", chatWith(R"("guided_regex":"a*")"), "guided_regex");
    // F003, F049: formats
    row("F049 unknown format", chatWith(R"("response_format":{"type":"xml"})"), "response_format");
    row("F049 no schema", chatWith(R"("response_format":{"type":"json_schema"})"), "response_format");
    row("F049 schema is no schema",
        chatWith(R"("response_format":{"type":"json_schema","json_schema":{"schema":{"type":"cow"}}})"),
        "response_format");
    row("F049 a keyword that is not enforced",
        chatWith(
            R"("response_format":{"type":"json_schema","json_schema":{"schema":{"type":"string","pattern":"a"}}})"),
        "response_format");
    row("F049 a schema that leads to itself",
        chatWith(R"("response_format":{"type":"json_schema","json_schema":{"schema":{"$ref":"#"}}})"),
        "response_format");
    Json chain{{"$ref", "#/$defs/d0"}};
    for (int i = 0; i < 3000; ++i)
        chain["$defs"]["d" + std::to_string(i)] = {
            {"type", "object"}, {"properties", {{"x", {{"$ref", "#/$defs/d" + std::to_string((i + 1) % 3000)}}}}}};
    const Json deep{{"type", "json_schema"}, {"json_schema", {{"schema", chain}}}};
    row("F049 a schema that is too deep", chatWith((R"("response_format":)" + deep.dump()).c_str()), "response_format");
    row("F049 a reference to another host",
        chatWith(R"("response_format":{"type":"json_schema","json_schema":{"schema":{"$ref":"http://x/y"}}})"),
        "response_format");
    // tools
    row("tool without a name", chatWith(R"("tools":[{"type":"function","function":{}}])"), "tools[0].function.name");
    row("tool choice without tools", chatWith(R"("tool_choice":"required")"), "tool_choice");
    row("tool choice unknown", chatWith(R"("tool_choice":"maybe")"), "tool_choice");
    // the vendor key
    row("vendor: unknown setting", chatWith(R"("palimpsest":{"stepz":3})"), "palimpsest.stepz");
    row("vendor: no steps", chatWith(R"("palimpsest":{"steps":0})"), "palimpsest.steps");
    row("vendor: frozen outside the text", chatWith(R"("palimpsest":{"start":{"text":"ab","frozen":[[1,3]]}})"),
        "palimpsest.start.frozen");

    const QByteArray completions = "/v1/completions";
    QTest::newRow("prompt missing") << completions << QByteArray(R"({"model":"scripted/model"})")
                                    << QByteArray("prompt");
    QTest::newRow("prompt of no texts") << completions << QByteArray(R"({"model":"scripted/model","prompt":[]})")
                                        << QByteArray("prompt");
    QTest::newRow("prompt with an odd one")
        << completions << QByteArray(R"({"model":"scripted/model","prompt":["a",{}]})") << QByteArray("prompt[1]");
    QTest::newRow("echo with logprobs") << completions
                                        << QByteArray(
                                               R"({"model":"scripted/model","prompt":"a","echo":true,"logprobs":1})")
                                        << QByteArray("logprobs");
    QTest::newRow("an id beyond the vocabulary")
        << completions << QByteArray(R"({"model":"scripted/model","prompt":[1,99999999]})") << QByteArray("prompt");
    const QByteArray responses = "/v1/responses";
    QTest::newRow("F055 unknown item") << responses
                                       << QByteArray(R"({"model":"scripted/model","input":[{"type":"computer_call"}]})")
                                       << QByteArray("input[0].type");
    QTest::newRow("input missing") << responses << QByteArray(R"({"model":"scripted/model"})") << QByteArray("input");
    QTest::newRow("an earlier response")
        << responses << QByteArray(R"({"model":"scripted/model","input":"x","previous_response_id":"resp_1"})")
        << QByteArray("previous_response_id");
    const QByteArray edit = "/edit";
    QTest::newRow("edit without a document") << edit << QByteArray(R"({"instruction":"x"})") << QByteArray("code");
    QTest::newRow("edit of the whole without instruction")
        << edit << QByteArray(R"({"code":"x"})") << QByteArray("instruction");
    QTest::newRow("selection behind the end")
        << edit << QByteArray(R"({"code":"é","selection_start":0,"selection_end":2})") << QByteArray("selection_end");
    QTest::newRow("selection the wrong way round")
        << edit << QByteArray(R"({"code":"abc","selection_start":2,"selection_end":1})") << QByteArray("selection_end");
}

void TestOpenAiRefusals::namesTheField()
{
    QFETCH(QByteArray, path);
    QFETCH(QByteArray, body);
    QFETCH(QByteArray, param);
    const RawAnswer answer = m_bench->send("POST", path.toStdString(), body.toStdString());
    QCOMPARE(answer.status, 400);
    COMPARE_JSON(answer.field("content-type"), "application/json");
    const Json error = Json::parse(answer.body).at("error");
    COMPARE_JSON(error.at("type"), "invalid_request_error");
    COMPARE_JSON(error.at("param"), param.isEmpty() ? Json(nullptr) : Json(param.toStdString()));
    QVERIFY(error.contains("code"));
    const std::string message = error.at("message");
    QVERIFY(message.size() > 15);
    QVERIFY2(message.find("exception") == std::string::npos && message.find("json.") == std::string::npos,
             message.c_str());
}

void TestOpenAiRefusals::acceptsWhatIsUsual_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::newRow("nulls are defaults") << chatWith(
        R"("temperature":null,"top_p":null,"seed":null,"n":null,"stop":null,"stream":null,"tools":null,)"
        R"("response_format":null,"logit_bias":null,"max_tokens":null,"logprobs":null,"tool_choice":null)");
    QTest::newRow("F004 cold and seeded") << chatWith(R"("temperature":0,"seed":42)");
    QTest::newRow("whole numbers with a point") << chatWith(R"("seed":42.0,"max_tokens":16.0)");
    QTest::newRow("top_k of -1 is none") << chatWith(R"("top_k":-1)");
    QTest::newRow("all samplers") << chatWith(R"("temperature":1.3,"top_p":0.9,"top_k":40,"min_p":0.05)");
    QTest::newRow("the vendor key") << chatWith(
        R"("palimpsest":{"steps":3,"entropy_bound":0.2,"t_min":0.3,"t_max":0.9,"confidence_threshold":0.01,)"
        R"("stability_threshold":1})");
}

void TestOpenAiRefusals::acceptsWhatIsUsual()
{
    QFETCH(QByteArray, body);
    const RawAnswer answer = m_bench->send("POST", "/v1/chat/completions", body.toStdString());
    QVERIFY2(answer.status == 200, answer.body.c_str());
}

void TestOpenAiRefusals::pathsAndMethodsF054_data()
{
    QTest::addColumn<QByteArray>("method");
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<int>("status");
    QTest::newRow("unknown path") << QByteArray("GET") << QByteArray("/nope") << 404;
    QTest::newRow("one model, with a slash in its name")
        << QByteArray("GET") << QByteArray("/v1/models/scripted/model") << 200;
    QTest::newRow("one model, encoded") << QByteArray("GET") << QByteArray("/v1/models/scripted%2Fmodel") << 200;
    QTest::newRow("no such model") << QByteArray("GET") << QByteArray("/v1/models/none") << 404;
    QTest::newRow("wrong method") << QByteArray("DELETE") << QByteArray("/v1/models") << 405;
    QTest::newRow("HEAD") << QByteArray("HEAD") << QByteArray("/v1/models") << 200;
    QTest::newRow("embeddings") << QByteArray("POST") << QByteArray("/v1/embeddings") << 404;
    QTest::newRow("images") << QByteArray("POST") << QByteArray("/v1/images/generations") << 404;
    QTest::newRow("audio") << QByteArray("POST") << QByteArray("/v1/audio/speech") << 404;
}

void TestOpenAiRefusals::pathsAndMethodsF054()
{
    QFETCH(QByteArray, method);
    QFETCH(QByteArray, path);
    QFETCH(int, status);
    const std::string body = method == "POST" ? "{}" : "";
    const RawAnswer answer = m_bench->send(method.toStdString(), path.toStdString(), body);
    QCOMPARE(answer.status, status);
    QCOMPARE(answer.field("allow").empty(), status != 405);
    if (method == "HEAD")
        QVERIFY(answer.body.empty());
    else
        QCOMPARE(Json::parse(answer.body).contains("error"), status != 200);
}

void TestOpenAiRefusals::modelsInTheirShape()
{
    const Json list = Json::parse(m_bench->send("GET", "/v1/models").body);
    COMPARE_JSON(list.at("object"), "list");
    const Json &model = list.at("data").at(0);
    COMPARE_JSON(model.at("id"), "scripted/model");
    COMPARE_JSON(model.at("object"), "model");
    COMPARE_JSON(model.at("created"), 1'700'000'000);
    QVERIFY(model.at("owned_by").is_string());
    COMPARE_JSON(model.at("context_length"), 4096);
    COMPARE_JSON(model.at("max_model_len"), 4096);
    COMPARE_JSON(Json::parse(m_bench->send("GET", "/v1/models/scripted/model").body), model);
}

void TestOpenAiRefusals::unknownModelsF053()
{
    const Json refused =
        m_bench->json("/v1/chat/completions", chatBody("x", {{"model", "gpt-nonsense"}}), 404).at("error");
    COMPARE_JSON(refused.at("code"), "model_not_found");
    COMPARE_JSON(refused.at("param"), "model");
    const std::string message = refused.at("message");
    QVERIFY(message.find("gpt-nonsense") != std::string::npos && message.find("scripted/model") != std::string::npos);
}

void TestOpenAiRefusals::anyNameIfASettingSaysSoF053()
{
    EndpointBench bench([](const ScriptInput &) { return std::string("fine"); }, {.serveAnyName = true});
    COMPARE_JSON(bench.json("/v1/chat/completions", chatBody("x", {{"model", "gpt-4o"}})).at("model"),
                 "scripted/model");
}

void TestOpenAiRefusals::whileLoading()
{
    std::promise<void> go;
    std::shared_future<void> gone = go.get_future().share();
    EndpointBench bench(EngineLoader([gone](const LoadProgress &progress) {
        progress(0.5);
        gone.wait();
        return scriptedParts(scriptedModel([](const ScriptInput &) { return std::string("fine"); }, 16), {});
    }));
    QTRY_VERIFY(bench.host.state().progress > 0.0);
    const RawAnswer answer = bench.post("/v1/chat/completions", chatBody("x"));
    QCOMPARE(answer.status, 503);
    QVERIFY(!answer.field("retry-after").empty());
    COMPARE_JSON(Json::parse(answer.body).at("error").at("code"), "model_loading");
    QVERIFY(answer.body.find("50 %") != std::string::npos);
    COMPARE_JSON(Json::parse(bench.send("GET", "/v1/models").body).at("data"), Json::array());
    go.set_value();
    QTRY_VERIFY(bench.host.model() != nullptr);
    QCOMPARE(bench.post("/v1/chat/completions", chatBody("x")).status, 200);
}

void TestOpenAiRefusals::afterALoadThatFailed()
{
    EndpointBench bench(EngineLoader([](const LoadProgress &) -> EngineParts {
        throw Error(ErrorKind::InvalidCheckpoint, "model.safetensors: cut short; download it again");
    }));
    QTRY_COMPARE(bench.host.state().phase, EngineState::Phase::Failed);
    const RawAnswer answer = bench.post("/v1/chat/completions", chatBody("x"));
    QCOMPARE(answer.status, 503);
    QVERIFY(answer.body.find("download it again") != std::string::npos);
}

void TestOpenAiRefusals::theEngineWasUntouchedF002F042()
{
    const int before = *m_asked;
    const RawAnswer refused =
        m_bench->send("POST", "/v1/chat/completions", chatWith(R"("temperature":-1)").toStdString());
    QCOMPARE(refused.status, 400);
    QCOMPARE(m_asked->load(), before);
    QCOMPARE(m_bench->post("/v1/chat/completions", chatBody("x")).status, 200);
    QCOMPARE(m_asked->load(), before + 1);
}

QTEST_GUILESS_MAIN(TestOpenAiRefusals)
#include "tst_openai_refusals.moc"
