// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/chat_format.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <cmath>
#include <random>

using namespace palimpsest;
using nlohmann::json;

/// Replies taken apart into thoughts, text and tool calls.
class TestChatReply : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void takesApart_data();
    void takesApart();
    void readsArguments_data();
    void readsArguments();
    void startsInsideAThought();
    void neverShowsAMarker();
    void callsComeBackAsTheyWereWritten();
    void deepArgumentsDoNoHarm();
};

namespace {

ParsedReply parse(const std::string &reply, ReplyStart start = ReplyStart::Answer)
{
    return ChatFormat(ChatDialect::Gemma4).parseReply(reply, start);
}

std::string randomText(std::mt19937 &random)
{
    const std::vector<std::string> parts = {"Oslo", " ",         "\n",     "{x}", "[y]", ":",  ",",    "\"",
                                            "\\",   "caf\u00e9", "\u6f22", "1.5", "<b>", "<|", "true", "null"};
    std::string text;
    for (std::size_t i = random() % 6; i > 0; --i)
        text += parts[random() % parts.size()];
    return text;
}

json randomValue(std::mt19937 &random, int depth)
{
    switch (random() % (depth > 3 ? 6 : 8)) {
    case 0:
        return nullptr;
    case 1:
        return random() % 2 == 0;
    case 2:
        return static_cast<int>(random()) % 1000;
    case 3:
        return static_cast<double>(random()) / 3e9 * std::pow(10.0, static_cast<double>(random() % 60) - 30.0);
    case 4:
    case 5:
        return randomText(random);
    case 6: {
        json list = json::array();
        for (std::size_t i = random() % 4; i > 0; --i)
            list.push_back(randomValue(random, depth + 1));
        return list;
    }
    default: {
        const std::vector<std::string> keys = {"a", "Title", "with space", "d\u00e9j\u00e0", "x-y.z", "$ref", "_", "7"};
        json object = json::object();
        for (std::size_t i = random() % 4; i > 0; --i)
            object[keys[random() % keys.size()]] = randomValue(random, depth + 1);
        return object;
    }
    }
}

} // namespace

void TestChatReply::takesApart_data()
{
    QTest::addColumn<QByteArray>("reply");
    QTest::addColumn<QByteArray>("thoughts");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("calls"); // names
    QTest::addColumn<bool>("unfinished");
    const auto row = [](const char *name, const char *reply, const char *thoughts, const char *text,
                        const char *calls = "", bool unfinished = false) {
        QTest::newRow(name) << QByteArray(reply) << QByteArray(thoughts) << QByteArray(text) << QByteArray(calls)
                            << unfinished;
    };
    row("nothing", "", "", "");
    row("text", "Hello.", "", "Hello.");
    row("text is left as it is", " \nHello <b>, 1 < 2 |> \n", "", " \nHello <b>, 1 < 2 |> \n");
    row("end of turn", "Hello.<turn|>", "", "Hello.");
    row("padding", "Hello.<turn|><pad><pad>", "", "Hello.");
    row("end of text", "Hello.<eos>junk", "", "Hello.");
    row("another turn", "Hello.<turn|>\n<|turn>user\nMore", "", "Hello.");
    row("another turn without an end", "Hello.\n<|turn>user\nMore", "", "Hello.\n");
    row("its own header", "<|turn>model\nHello.", "", "Hello.");
    row("thought", "<|channel>thought\nHm. Yes.\n<channel|>Hello.", "Hm. Yes.", "Hello.");
    row("empty thought", "<|channel>thought\n<channel|>Hello.", "", "Hello.");
    row("thought without a newline", "<|channel>thought<channel|>Hello.", "", "Hello.");
    row("other channel", "<|channel>analysis\nHm.<channel|>Hello.", "analysis\nHm.", "Hello.");
    row("two thoughts", "<|channel>thought\nA\n<channel|>One <|channel>thought\nB\n<channel|>two", "A\nB", "One two");
    row("unfinished thought", "<|channel>thought\nHm, let", "Hm, let", "", "", true);
    row("unfinished first line", "<|channel>thou", "", "", "", true);
    row("only a marker", "<|channel>", "", "", "", true);
    row("thought ended by the turn", "<|channel>thought\nHm.<turn|>", "Hm.", "", "", true);
    row("markers in a thought", "<|channel>thought\nA<|channel>B<|\"|><bos>C\n<channel|>D", "ABC", "D");
    row("stray markers", "le<channel|>ft<|\"|> <|image|>right<tool_call|><|think|><tool|><unk><mask>", "",
        "left right");
    row("marker made by removing one", "a<|tu<bos>rn>b<<bos>|channel>c", "", "abc");
    row("a call", "<|tool_call>call:now{}<tool_call|>", "", "", "now");
    row("call, then waiting", "<|tool_call>call:now{}<tool_call|><|tool_response>", "", "", "now");
    row("two calls and text", "Let me look.<|tool_call>call:a{}<tool_call|><|tool_call>call:b{x:1}<tool_call|>", "",
        "Let me look.", "a b");
    row("thought and call", "<|channel>thought\nHm.\n<channel|><|tool_call>call:a{}<tool_call|>", "Hm.", "", "a");
    row("thought ended by a call", "<|channel>thought\nHm.\n<|tool_call>call:a{}<tool_call|>", "Hm.", "", "a");
    row("call within a thought", "<|channel>thought\nI'd <|tool_call>call:a{}<tool_call|>.\n<channel|>B",
        "I'd call:a{}.", "B");
    row("invented result",
        "<|tool_call>call:a{}<tool_call|><|tool_response>response:a{value:<|\"|>4<|\"|>}"
        "<tool_response|>It is 4.",
        "", "It is 4.", "a");
    row("invented result without end", "A<|tool_response>response:a{value:", "", "A");
    row("invented declaration", "A<|tool>declaration:x{}<tool|>B", "", "AB");
    row("call without its end marker", "<|tool_call>call:a{x:1}", "", "", "a");
    row("call cut off", "Well.<|tool_call>call:a{x:<|\"|>Os", "", "Well.");
    row("call cut off in its name", "Well.<|tool_call>call:get_wea", "", "Well.");
    row("call cut off at once", "Well.<|tool_call>", "", "Well.");
    row("call without a name", "<|tool_call>call:{}<tool_call|>B", "", "B");
    row("not a call", "<|tool_call>hello<tool_call|>B", "", "B");
    row("broken call, then a good one", "<|tool_call>call:a{x:}<tool_call|><|tool_call>call:b{}<tool_call|>", "", "",
        "b");
    row("marker inside a string", "<|tool_call>call:a{x:<|\"|>y<tool_call|>z<|\"|>}<tool_call|>B", "", "B", "a");
    row("space around a call", "<|tool_call> call: a {} <tool_call|>", "", " ", "a");
}

void TestChatReply::takesApart()
{
    QFETCH(QByteArray, reply);
    QFETCH(QByteArray, thoughts);
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, calls);
    QFETCH(bool, unfinished);
    const ParsedReply parsed = parse(reply.toStdString());
    QByteArrayList names;
    for (const ParsedReply::Call &call : parsed.toolCalls)
        names.append(QByteArray::fromStdString(call.name));
    QCOMPARE(QByteArray::fromStdString(parsed.thoughts), thoughts);
    QCOMPARE(QByteArray::fromStdString(parsed.text), text);
    QCOMPARE(names.join(' '), calls);
    QCOMPARE(parsed.thoughtUnfinished, unfinished);
}

void TestChatReply::readsArguments_data()
{
    QTest::addColumn<QByteArray>("arguments");
    QTest::addColumn<QByteArray>("expected");
    const auto row = [](const char *name, const char *arguments, const char *expected) {
        QTest::newRow(name) << QByteArray(arguments) << QByteArray(expected);
    };
    row("none", "{}", "{}");
    row("text", R"({a:<|"|>x y<|"|>})", R"({"a":"x y"})");
    row("the model's order", R"({b:1,a:2,B:3})", R"({"b":1,"a":2,"B":3})");
    row("text is taken as it is", R"({a:<|"|> "q" {x}, [y]: z\n <|"|>})", R"({"a":" \"q\" {x}, [y]: z\\n "})");
    row("empty text", R"({a:<|"|><|"|>})", R"({"a":""})");
    row("numbers", "{a:1,b:-2.5,c:1e-07,d:1e+16,e:18446744073709551615}",
        R"({"a":1,"b":-2.5,"c":1e-07,"d":1e+16,"e":18446744073709551615})");
    row("words", "{a:true,b:false,c:null,d:None,e:True,f:False}",
        R"({"a":true,"b":false,"c":null,"d":null,"e":true,"f":false})");
    row("nested", R"({a:{b:[1,[],{}],c:{d:<|"|>x<|"|>}}})", R"({"a":{"b":[1,[],{}],"c":{"d":"x"}}})");
    row("spaces", "{ a : 1 , b : [ 1 , 2 ] }", R"({"a":1,"b":[1,2]})");
    row("quoted keys", R"({<|"|>a:b<|"|>:1})", R"({"a:b":1})");
    row("JSON", R"({"a": "x, \"y\"", "b": [1, {"c": null}]})", R"({"a":"x, \"y\"","b":[1,{"c":null}]})");
    row("forgotten quotes", "{a:Oslo, Norway:x}", R"({"a":"Oslo","Norway":"x"})");
    row("not a number", "{a:1.2.3,b:nan}", R"({"a":"1.2.3","b":"nan"})");
    row("key twice", "{a:1,a:2}", R"({"a":2})");
}

void TestChatReply::readsArguments()
{
    QFETCH(QByteArray, arguments);
    QFETCH(QByteArray, expected);
    const ParsedReply parsed = parse("<|tool_call>call:f" + arguments.toStdString() + "<tool_call|>");
    QCOMPARE(parsed.toolCalls.size(), 1U);
    QCOMPARE(parsed.toolCalls[0].name, std::string("f"));
    QCOMPARE(QByteArray::fromStdString(parsed.toolCalls[0].argumentsJson), expected);
    QCOMPARE(parsed.text, std::string());
}

void TestChatReply::startsInsideAThought()
{
    const ParsedReply parsed = parse("It rains.\n<channel|>Take a coat.<turn|>", ReplyStart::Thought);
    QCOMPARE(parsed.thoughts, std::string("It rains."));
    QCOMPARE(parsed.text, std::string("Take a coat."));
    QVERIFY(!parsed.thoughtUnfinished);
    QVERIFY(parse("It ra", ReplyStart::Thought).thoughtUnfinished);
    QCOMPARE(parse("It ra", ReplyStart::Thought).text, std::string());
}

void TestChatReply::neverShowsAMarker()
{
    const std::vector<std::string> parts = {"<bos>",
                                            "<eos>",
                                            "<pad>",
                                            "<|turn>",
                                            "<turn|>",
                                            "<|channel>",
                                            "<channel|>",
                                            "<|tool_call>",
                                            "<tool_call|>",
                                            "<|tool_response>",
                                            "<tool_response|>",
                                            "<|tool>",
                                            "<tool|>",
                                            "<|\"|>",
                                            "<|image|>",
                                            "<|think|>",
                                            "<|tu",
                                            "rn>",
                                            "<|\"",
                                            "|>",
                                            "thought\n",
                                            "call:f{",
                                            "}",
                                            "a:",
                                            "1",
                                            ",",
                                            "word ",
                                            "\n",
                                            "[",
                                            "]",
                                            "\u6f22"};
    std::mt19937 random(3);
    for (int round = 0; round < 20000; ++round) {
        std::string reply;
        for (std::size_t i = random() % 14; i > 0; --i)
            reply += parts[random() % parts.size()];
        const ParsedReply parsed = parse(reply, random() % 4 == 0 ? ReplyStart::Thought : ReplyStart::Answer);
        for (const std::string &shown : {parsed.thoughts, parsed.text}) {
            for (std::size_t marker = 0; marker < 16; ++marker)
                QVERIFY2(shown.find(parts[marker]) == std::string::npos, reply.c_str());
        }
        for (const ParsedReply::Call &call : parsed.toolCalls) {
            QCOMPARE(call.name, std::string("f"));
            QVERIFY(json::parse(call.argumentsJson).is_object());
        }
    }
}

/// Written by render, read by parseReply. Only a quote marker inside a text cannot survive: nothing escapes it.
void TestChatReply::callsComeBackAsTheyWereWritten()
{
    std::mt19937 random(9);
    for (int round = 0; round < 3000; ++round) {
        json arguments = json::object();
        for (const char *key : {"one", "Two", "three"})
            arguments[key] = randomValue(random, 0);
        ChatRequest request;
        request.messages.resize(1);
        request.messages[0].role = ChatRole::Assistant;
        request.messages[0].toolCalls = {
            {.id = "1", .name = "first", .arguments = std::make_shared<const json>(arguments)},
            {.id = "2", .name = "second.one", .arguments = std::make_shared<const json>(json::object())}};
        request.addGenerationPrompt = false;
        const ChatDialect dialect = round % 2 == 0 ? ChatDialect::Gemma4 : ChatDialect::Gemma4Revision2;
        const std::string prompt = ChatFormat(dialect).renderText(request);
        const ParsedReply parsed = parse(prompt.substr(prompt.find("<|tool_call>")));
        QCOMPARE(parsed.toolCalls.size(), 2U);
        QCOMPARE(parsed.toolCalls[0].name, std::string("first"));
        QVERIFY2(json::parse(parsed.toolCalls[0].argumentsJson) == arguments, prompt.c_str());
        QCOMPARE(parsed.toolCalls[1].name, std::string("second.one"));
        QCOMPARE(parsed.toolCalls[1].argumentsJson, std::string("{}"));
        QCOMPARE(parsed.text, std::string());
    }
}

void TestChatReply::deepArgumentsDoNoHarm()
{
    for (const char *open : {"{a:", "["}) {
        std::string reply = "A<|tool_call>call:f{a:";
        for (int i = 0; i < 100000; ++i)
            reply += open;
        QCOMPARE(parse(reply).text, std::string("A"));
        QCOMPARE(parse(reply + "<tool_call|>B").text, std::string("AB"));
        QVERIFY(parse(reply).toolCalls.empty());
    }
}

QTEST_GUILESS_MAIN(TestChatReply)
#include "tst_chat_reply.moc"
