// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/utf8.h"
#include "tests/app/server/openai/endpoint_bench.h"

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

EngineLoader demoLoader()
{
    return engineLoader(
        {.model = {.model = PALIMPSEST_SOURCE_DIR "/resources/demo_model", .threads = 2, .device = "cpu"},
         .id = "demo"});
}

std::string codePoints(const std::string &text, std::int64_t begin, std::int64_t end)
{
    const auto at = [&](std::int64_t index) {
        std::size_t byte = 0;
        for (; index > 0; --index)
            byte += readUtf8(text, byte).length;
        return byte;
    };
    return text.substr(at(begin), at(end) - at(begin));
}

} // namespace

/// The endpoint over the demo model: what a person gets who starts the server.
class TestOpenAiDemo : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void chats();
    void fillsInBetweenPromptAndSuffix_data();
    void fillsInBetweenPromptAndSuffix();
    void editsASelectionF028_data();
    void editsASelectionF028();
    void editRefusesWithTheFieldsName();
    void startTextStays();

private:
    std::unique_ptr<EndpointBench> m_bench;
};

void TestOpenAiDemo::initTestCase()
{
    m_bench = std::make_unique<EndpointBench>(demoLoader());
    QTRY_VERIFY_WITH_TIMEOUT(m_bench->host.model() != nullptr, 60'000);
}

void TestOpenAiDemo::chats()
{
    const Json body{
        {"model", "demo"},
        {"seed", 3},
        {"max_tokens", 40},
        {"messages", Json::array({{{"role", "user"}, {"content", "Make a list: apples, pears and bread"}}})}};
    const Json whole = m_bench->json("/v1/chat/completions", body);
    const std::string text = whole.at("choices").at(0).at("message").at("content");
    QVERIFY2(text.find("apples") != std::string::npos, text.c_str());
    QCOMPARE(assemble(m_bench->stream("/v1/chat/completions", body)).content, text);
    COMPARE_JSON(whole.at("model"), "demo");
}

void TestOpenAiDemo::fillsInBetweenPromptAndSuffix_data()
{
    QTest::addColumn<bool>("streams");
    QTest::addColumn<int>("limit");
    QTest::newRow("whole") << false << 0;
    QTest::newRow("streamed") << true << 0;
    QTest::newRow("at most four tokens") << false << 4;
}

void TestOpenAiDemo::fillsInBetweenPromptAndSuffix()
{
    QFETCH(bool, streams);
    QFETCH(int, limit);
    Json body{{"model", "demo"},
              {"seed", 3},
              {"prompt", "The boat left the harbour early in the "},
              {"suffix", " because the wind was good."},
              {"palimpsest", {{"steps", 5}}}};
    if (limit > 0)
        body["max_tokens"] = limit;
    std::string text;
    if (streams) {
        for (const Json &chunk : m_bench->stream("/v1/completions", body))
            text += chunk.at("choices").at(0).at("text").get<std::string>();
    } else {
        const Json answer = m_bench->json("/v1/completions", body);
        text = answer.at("choices").at(0).at("text");
        COMPARE_JSON(answer.at("choices").at(0).at("finish_reason"), "stop");
        QVERIFY(limit == 0 || answer.at("usage").at("completion_tokens") <= limit + 1); // the model's space and ours
    }
    QVERIFY(!text.empty() && text.size() < 200);
}

void TestOpenAiDemo::editsASelectionF028_data()
{
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("selected");
    QTest::addColumn<QString>("after");
    QTest::addColumn<QString>("instruction");
    QTest::newRow("an instruction") << "Dear Ms Smith 👩‍👩‍👧,\r\n\r\n"
                                    << "teh boat is in teh harbour"
                                    << ".\r\nYours\té\n"
                                    << "Fix the spelling";
    QTest::newRow("an insertion") << "漢字 The boat left the "
                                  << ""
                                  << "harbour early."
                                  << "";
    QTest::newRow("in-fill of a selection") << "The boat left the "
                                            << "quickly"
                                            << " harbour early. 漢"
                                            << "";
}

void TestOpenAiDemo::editsASelectionF028()
{
    QFETCH(QString, before);
    QFETCH(QString, selected);
    QFETCH(QString, after);
    QFETCH(QString, instruction);
    const auto length = [](const QString &text) {
        return text.toUcs4().size();
    };
    const std::string code = (before + selected + after).toStdString();
    Json body{{"code", code},
              {"selection_start", length(before)},
              {"selection_end", length(before) + length(selected)},
              {"mode", "selection"},
              {"seed", 5},
              {"palimpsest", {{"steps", 5}}}};
    if (!instruction.isEmpty())
        body["instruction"] = instruction.toStdString();
    const RawAnswer answer = m_bench->post("/edit", body);
    QCOMPARE(answer.status, 200);
    const std::vector<StreamEvent> events = eventsOf(answer.body);
    int drafts = 0;
    int commits = 0;
    for (const StreamEvent &event : events) {
        const std::string document = Json::parse(event.data).at("document");
        QVERIFY2(document.starts_with(before.toStdString()) && document.ends_with(after.toStdString()),
                 document.c_str());
        drafts += event.type == "draft" ? 1 : 0;
        commits += event.type == "commit" ? 1 : 0;
    }
    QVERIFY(drafts > 0);
    const StreamEvent &end = events.back();
    const Json data = Json::parse(end.data);
    if (end.type == "error") { // the demo model may write nothing usable; the document then is as it was
        COMPARE_JSON(data.at("document"), code);
        return;
    }
    QCOMPARE(end.type, std::string("done"));
    QVERIFY(commits > 0);
    const std::string document = data.at("document");
    QCOMPARE(codePoints(document, data.at("replaced_start"), data.at("replaced_end")),
             data.at("text").get<std::string>());
    COMPARE_JSON(data.at("palimpsest").at("seed"), 5);
}

void TestOpenAiDemo::editRefusesWithTheFieldsName()
{
    const Json refused = m_bench->json("/edit", {{"code", "abc"}, {"mode", "half"}}, 400);
    COMPARE_JSON(refused.at("error").at("param"), "mode");
}

void TestOpenAiDemo::startTextStays()
{
    const std::string text = "- lanterns\n- rope";
    const Json body{{"model", "demo"},
                    {"seed", 4},
                    {"max_tokens", 30},
                    {"messages", Json::array({{{"role", "user"}, {"content", "Make a list: apples and bread"}}})},
                    {"palimpsest", {{"steps", 8}, {"start", {{"text", text}, {"frozen", Json::array({{0, 10}})}}}}}};
    const Json answer = m_bench->json("/v1/chat/completions", body);
    const std::string content = answer.at("choices").at(0).at("message").at("content");
    QVERIFY2(content.starts_with("- lanterns"), content.c_str());
}

QTEST_GUILESS_MAIN(TestOpenAiDemo)
#include "tst_openai_demo.moc"
