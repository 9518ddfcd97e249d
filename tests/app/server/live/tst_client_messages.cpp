// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/client_messages.h"

#include <QTest>

#include <string>
#include <type_traits>

using namespace palimpsest::live;
using palimpsest::editing::RunAction;

namespace {

std::string repeated(std::string_view text, int count)
{
    std::string result;
    for (int i = 0; i < count; ++i)
        result += text;
    return result;
}

Problem problemOf(const ParsedMessage &parsed)
{
    const auto *problem = std::get_if<Problem>(&parsed.content);
    return problem == nullptr ? Problem{} : *problem;
}

template <typename Message>
Message messageOf(std::string_view text)
{
    const ParsedMessage parsed = parseClientMessage(text);
    if (const auto *problem = std::get_if<Problem>(&parsed.content))
        throw std::runtime_error(problem->message);
    return std::get<Message>(std::get<ClientMessage>(parsed.content));
}

template <typename Message>
std::size_t kind()
{
    return ClientMessage(Message{}).index();
}

} // namespace

class TestClientMessages : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyTypeIsUnderstood_data();
    void everyTypeIsUnderstood();
    void whatIsWrongIsNamed_data();
    void whatIsWrongIsNamed();
    void refIsKeptWithAProblem();
    void fieldsArrive();
    void ordersHaveTheirVerbs();
    void absentFieldsHaveTheirDefaults();
    void againNeedsNoSpan();
    void textsKeepEveryCharacter();
    void unknownFieldsAreIgnored();
};

void TestClientMessages::everyTypeIsUnderstood_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<std::size_t>("index");
    const auto row = [](const char *text, std::size_t index) {
        QTest::newRow(text) << QByteArray(text) << index;
    };
    row(R"({"type":"library.watch","query":"","binned":false})", kind<LibraryWatch>());
    row(R"({"type":"document.create"})", kind<DocumentCreate>());
    row(R"({"type":"document.rename","document":"d","title":"x"})", kind<DocumentRename>());
    for (const char *type : {"document.duplicate", "document.bin", "document.restore", "document.delete", "open",
                             "close", "undo", "redo", "unlock.all", "revisions"})
        row(qPrintable(QStringLiteral(R"({"type":"%1","document":"d"})").arg(QLatin1String(type))),
            kind<DocumentOrder>());
    row(R"({"type":"edit","document":"d","version":0,"start":0,"end":0,"text":""})", kind<Edit>());
    row(R"({"type":"lock","document":"d","version":1,"start":0,"end":5,"locked":true})", kind<Lock>());
    row(R"({"type":"settings","document":"d","settings":{}})", kind<ChangeSettings>());
    row(R"({"type":"revision.text","document":"d","revision":1})", kind<RevisionText>());
    row(R"({"type":"revision.restore","document":"d","revision":1})", kind<RevisionRestore>());
    for (const char *action : {"proofread", "rewrite", "renoise", "fill", "continue"})
        row(qPrintable(
                QStringLiteral(R"({"type":"run.start","document":"d","version":1,"action":"%1","start":0,"end":0})")
                    .arg(QLatin1String(action))),
            kind<RunStart>());
    row(R"({"type":"run.start","document":"d","again":"r"})", kind<RunAgain>());
    for (const char *type : {"run.pause", "run.resume", "run.step", "history"})
        row(qPrintable(QStringLiteral(R"({"type":"%1","run":"r"})").arg(QLatin1String(type))), kind<RunOrder>());
    row(R"({"type":"run.stop","run":"r","keep":true})", kind<RunStop>());
    row(R"({"type":"run.freeze","run":"r","lane":0,"canvas":0,"changes":[{"position":3,"id":7},{"position":4}]})",
        kind<RunFreeze>());
    row(R"({"type":"run.hold","run":"r","lane":0,"canvas":0,"position":3,"held":false})", kind<RunHold>());
    row(R"({"type":"run.alternatives","run":"r","lane":0,"canvas":0,"position":3})", kind<RunAlternatives>());
    row(R"({"type":"history.frame","run":"r","lane":0,"canvas":0,"step":1})", kind<HistoryFrame>());
    row(R"({"type":"history.branch","run":"r","lane":0,"canvas":0,"step":1})", kind<HistoryBranch>());
    row(R"({"type":"proposal.accept","proposal":"p"})", kind<ProposalAccept>());
    row(R"({"type":"proposal.accept","proposal":"p","change":0,"words":2})", kind<ProposalAccept>());
    row(R"({"type":"proposal.reject","proposal":"p","change":1})", kind<ProposalReject>());
    row(R"({"type":"proposal.choose","proposal":"p","alternative":2})", kind<ProposalChoose>());
    row(R"({"type":"proposal.take","proposal":"p","alternative":2,"start":1,"end":4})", kind<ProposalTake>());
    row(R"({"type":"proposal.edit","proposal":"p","text":"so"})", kind<ProposalEdit>());
    row(R"({"type":"seen","run":"r","lane":0,"canvas":1,"step":9})", kind<Seen>());
}

void TestClientMessages::everyTypeIsUnderstood()
{
    QFETCH(const QByteArray, text);
    QFETCH(const std::size_t, index);
    const ParsedMessage parsed = parseClientMessage(text.toStdString());
    QCOMPARE(problemOf(parsed).message, "");
    QCOMPARE(std::get<ClientMessage>(parsed.content).index(), index);
}

void TestClientMessages::whatIsWrongIsNamed_data()
{
    QTest::addColumn<std::string>("text");
    QTest::addColumn<std::string>("code");
    QTest::addColumn<std::string>("param");
    const auto row = [](const char *name, const std::string &text, const char *param,
                        const char *code = "invalid_request") {
        QTest::newRow(name) << text << std::string(code) << std::string(param);
    };
    const std::string edit = R"({"type":"edit","document":"d","version":1,"start":0,"end":2,"text":"x")";
    row("nothing", "", "");
    row("no JSON", "edit", "");
    row("cut short", edit, "");
    row("two values", edit + "}{}", "");
    row("a list", "[]", "");
    row("a number", "3", "");
    row("null", "null", "");
    row("not UTF-8", "{\"type\":\"\xff\"}", "");
    row("overlong UTF-8", "{\"type\":\"\xc0\xaf\"}", "");
    row("a surrogate as UTF-8", "{\"type\":\"\xed\xa0\x80\"}", "");
    row("a lone high surrogate", R"({"type":"proposal.edit","proposal":"p","text":"\ud83d"})", "");
    row("a lone low surrogate", R"({"type":"proposal.edit","proposal":"p","text":"\ude00x"})", "");
    row("a control character in a string", "{\"type\":\"a\nb\"}", "");
    row("a number that overflows", R"({"type":"open","document":"d","x":1e999})", "");
    row("a key twice", R"({"type":"open","document":"a","document":"b"})", "");
    row("too deep", R"({"type":"open","document":)" + repeated("[", 5000) + repeated("]", 5000) + "}", "");
    row("too deep and cut short", repeated(R"({"a":)", 20000), "");
    row("too large", R"({"type":"open","document":")" + std::string(kLargestMessageBytes, 'x') + "\"}", "");
    row("no type", R"({"document":"d"})", "type");
    row("type is a number", R"({"type":1})", "type");
    row("type is null", R"({"type":null})", "type");
    row("unknown type", R"({"type":"format.disk"})", "type", "unknown_type");
    row("a server's type", R"({"type":"hello"})", "type", "unknown_type");
    row("empty type", R"({"type":""})", "type", "unknown_type");
    row("a long type", R"({"type":")" + repeated("open", 1000) + "\"}", "type", "unknown_type");
    row("ref is text", R"({"type":"open","document":"d","ref":"1"})", "ref");
    row("ref is negative", R"({"type":"open","document":"d","ref":-1})", "ref");
    row("ref has a fraction", R"({"type":"open","document":"d","ref":1.5})", "ref");
    row("ref beyond what JavaScript counts", R"({"type":"open","document":"d","ref":9007199254740992})", "ref");
    row("document is missing", R"({"type":"open"})", "document");
    row("document is a number", R"({"type":"open","document":3})", "document");
    row("document is empty", R"({"type":"open","document":""})", "document");
    row("document is a long text", R"({"type":"open","document":")" + repeated("d", 65) + "\"}", "document");
    row("a NUL in an id", R"({"type":"open","document":"d\u0000"})", "document");
    row("version is missing", R"({"type":"edit","document":"d","start":0,"end":0,"text":""})", "version");
    row("version is text", R"({"type":"edit","document":"d","version":"1","start":0,"end":0,"text":""})", "version");
    row("start is negative", R"({"type":"edit","document":"d","version":1,"start":-1,"end":0,"text":""})", "start");
    row("start has a fraction", R"({"type":"edit","document":"d","version":1,"start":0.5,"end":1,"text":""})", "start");
    row("end before start", R"({"type":"edit","document":"d","version":1,"start":3,"end":2,"text":""})", "end");
    row("end beyond 64 bits",
        R"({"type":"edit","document":"d","version":1,"start":0,"end":99999999999999999999,"text":""})", "end");
    row("text is missing", R"({"type":"edit","document":"d","version":1,"start":0,"end":0})", "text");
    row("text is a list", R"({"type":"edit","document":"d","version":1,"start":0,"end":0,"text":["x"]})", "text");
    row("a NUL in a text", R"({"type":"edit","document":"d","version":1,"start":0,"end":0,"text":"a\u0000b"})", "text");
    row("typing is a number", edit + R"(,"typing":1})", "typing");
    row("locked is missing", R"({"type":"lock","document":"d","version":1,"start":0,"end":5})", "locked");
    row("settings is a list", R"({"type":"settings","document":"d","settings":[]})", "settings");
    row("settings are missing", R"({"type":"settings","document":"d"})", "settings");
    row("settings are large", R"({"type":"settings","document":"d","settings":{"x":")" + repeated("x", 17000) + "\"}}",
        "settings");
    row("revision 0", R"({"type":"revision.text","document":"d","revision":0})", "revision");
    const std::string start = R"({"type":"run.start","document":"d","version":1,"start":0,"end":2,"action":)";
    row("unknown action", start + R"("improve"})", "action");
    row("action is null", start + "null}", "action");
    row("unknown amount", start + R"("renoise","amount":"lots"})", "amount");
    row("no alternatives", start + R"("renoise","alternatives":0})", "alternatives");
    row("too many alternatives", start + R"("renoise","alternatives":9})", "alternatives");
    row("seed is negative", start + R"("renoise","seed":-1})", "seed");
    row("seed beyond what JavaScript counts", start + R"("renoise","seed":18446744073709551615})", "seed");
    row("sampler is a number", start + R"("renoise","sampler":3})", "sampler");
    row("no steps", start + R"("renoise","sampler":{"maxSteps":0}})", "sampler.maxSteps");
    row("negative temperature", start + R"("renoise","sampler":{"tMin":-0.1}})", "sampler.tMin");
    row("negative bound", start + R"("renoise","sampler":{"entropyBound":-1}})", "sampler.entropyBound");
    row("stability is text", start + R"("renoise","sampler":{"stability":"1"}})", "sampler.stability");
    row("run is missing", R"({"type":"run.pause"})", "run");
    row("keep is text", R"({"type":"run.stop","run":"r","keep":"yes"})", "keep");
    const std::string canvas = R"("run":"r","lane":0,"canvas":0)";
    row("lane is missing", R"({"type":"run.hold","run":"r","canvas":0,"position":1,"held":true})", "lane");
    row("lane is huge", R"({"type":"run.hold","run":"r","lane":4294967296,"canvas":0,"position":1,"held":true})",
        "lane");
    row("held is missing", R"({"type":"run.hold",)" + canvas + R"(,"position":1})", "held");
    row("position is negative", R"({"type":"run.hold",)" + canvas + R"(,"position":-1,"held":true})", "position");
    row("changes are an object", R"({"type":"run.freeze",)" + canvas + R"(,"changes":{}})", "changes");
    row("a change is a number", R"({"type":"run.freeze",)" + canvas + R"(,"changes":[3]})", "changes[0]");
    row("the second change has no position",
        R"({"type":"run.freeze",)" + canvas + R"(,"changes":[{"position":1},{"id":2}]})", "changes[1].position");
    row("a change's id is beyond 32 bits",
        R"({"type":"run.freeze",)" + canvas + R"(,"changes":[{"position":1,"id":4294967296}]})", "changes[0].id");
    row("step 0", R"({"type":"history.frame",)" + canvas + R"(,"step":0})", "step");
    row("step is huge", R"({"type":"history.branch",)" + canvas + R"(,"step":100000})", "step");
    row("words of no change", R"({"type":"proposal.accept","proposal":"p","words":1})", "change");
    row("no words", R"({"type":"proposal.accept","proposal":"p","change":0,"words":0})", "words");
    row("alternative is missing", R"({"type":"proposal.choose","proposal":"p"})", "alternative");
    row("seen without a step", R"({"type":"seen",)" + canvas + "}", "step");
}

void TestClientMessages::whatIsWrongIsNamed()
{
    QFETCH(const std::string, text);
    const Problem problem = problemOf(parseClientMessage(text));
    QTEST(problem.code, "code");
    QTEST(problem.param, "param");
    QVERIFY(!problem.message.empty());
    QVERIFY2(problem.message.size() < 400, problem.message.c_str()); // whatever came in
}

void TestClientMessages::refIsKeptWithAProblem()
{
    QCOMPARE(parseClientMessage(R"({"ref":7,"type":"open"})").ref, std::optional<std::int64_t>(7));
    QCOMPARE(parseClientMessage(R"({"ref":0,"type":"nonsense"})").ref, std::optional<std::int64_t>(0));
    QCOMPARE(parseClientMessage(R"({"type":"open","document":"d","ref":9007199254740991})").ref,
             std::optional<std::int64_t>(kLargestNumber));
    QVERIFY(!parseClientMessage(R"({"type":"open","document":"d"})").ref);
    QVERIFY(!parseClientMessage(R"({"type":"open","document":"d","ref":null})").ref);
    QVERIFY(!parseClientMessage(R"({"ref":"x","type":"open","document":"d"})").ref);
}

void TestClientMessages::fieldsArrive()
{
    const auto edit = messageOf<Edit>(
        R"({"type":"edit","document":"d1","version":12,"start":3,"end":5,"text":"a\nb","typing":true})");
    QCOMPARE(edit.document, QStringLiteral("d1"));
    QCOMPARE(edit.version, 12);
    QCOMPARE(edit.span.start, 3);
    QCOMPARE(edit.span.end, 5);
    QCOMPARE(edit.text, QStringLiteral("a\nb"));
    QVERIFY(edit.typing);

    const auto start = messageOf<RunStart>(
        R"({"type":"run.start","document":"d","version":2,"action":"renoise","start":1,"end":9,"instruction":"i",
            "amount":"light","alternatives":8,"seed":9007199254740991,"paused":true,"direct":true,
            "sampler":{"maxSteps":12,"tMin":0.5,"tMax":1,"entropyBound":0.2,"stability":2,"confidence":0.01}})");
    QCOMPARE(start.wish.action, RunAction::Renoise);
    QCOMPARE(start.wish.instruction, QStringLiteral("i"));
    QCOMPARE(start.wish.amount, palimpsest::NoiseAmount::Light);
    QCOMPARE(start.wish.alternatives, 8);
    QCOMPARE(start.wish.seed, std::optional<std::uint64_t>(9007199254740991U));
    QVERIFY(start.wish.paused && start.wish.direct);
    QCOMPARE(start.wish.sampler.maxSteps, std::optional(12));
    QCOMPARE(start.wish.sampler.tMin, std::optional(0.5));
    QCOMPARE(start.wish.sampler.tMax, std::optional(1.0));
    QCOMPARE(start.wish.sampler.entropyBound, std::optional(0.2));
    QCOMPARE(start.wish.sampler.stability, std::optional(2));
    QCOMPARE(start.wish.sampler.confidence, std::optional(0.01));

    const auto freeze = messageOf<RunFreeze>(
        R"({"type":"run.freeze","run":"r","lane":1,"canvas":2,"changes":[{"position":3,"id":7},{"position":4}]})");
    QCOMPARE(freeze.at.run, QStringLiteral("r"));
    QCOMPARE(freeze.at.lane, 1);
    QCOMPARE(freeze.at.canvas, 2);
    QCOMPARE(freeze.changes.size(), std::size_t{2});
    QCOMPARE(freeze.changes[0].position, 3);
    QCOMPARE(freeze.changes[0].id, std::optional<palimpsest::TokenId>(7));
    QVERIFY(!freeze.changes[1].id);
}

void TestClientMessages::ordersHaveTheirVerbs()
{
    const auto document = [](const char *type) {
        return messageOf<DocumentOrder>(std::string(R"({"document":"d","type":")") + type + "\"}").verb;
    };
    using Verb = DocumentOrder::Verb;
    QCOMPARE(document("document.duplicate"), Verb::Duplicate);
    QCOMPARE(document("document.bin"), Verb::Bin);
    QCOMPARE(document("document.restore"), Verb::Restore);
    QCOMPARE(document("document.delete"), Verb::Delete);
    QCOMPARE(document("open"), Verb::Open);
    QCOMPARE(document("close"), Verb::Close);
    QCOMPARE(document("undo"), Verb::Undo);
    QCOMPARE(document("redo"), Verb::Redo);
    QCOMPARE(document("unlock.all"), Verb::UnlockAll);
    QCOMPARE(document("revisions"), Verb::ListRevisions);
    const auto run = [](const char *type) {
        return messageOf<RunOrder>(std::string(R"({"run":"r","type":")") + type + "\"}").verb;
    };
    QCOMPARE(run("run.pause"), RunOrder::Verb::Pause);
    QCOMPARE(run("run.resume"), RunOrder::Verb::Resume);
    QCOMPARE(run("run.step"), RunOrder::Verb::Step);
    QCOMPARE(run("history"), RunOrder::Verb::History);
}

void TestClientMessages::absentFieldsHaveTheirDefaults()
{
    const auto start =
        messageOf<RunStart>(R"({"type":"run.start","document":"d","version":2,"action":"fill","start":1,"end":1})");
    QCOMPARE(start.wish.alternatives, 1);
    QCOMPARE(start.wish.amount, palimpsest::NoiseAmount::Medium);
    QVERIFY(!start.wish.seed && !start.wish.paused && !start.wish.direct && !start.wish.sampler.maxSteps);
    QVERIFY(!messageOf<RunStop>(R"({"type":"run.stop","run":"r"})").keep);
    QCOMPARE(messageOf<LibraryWatch>(R"({"type":"library.watch","query":null})").query, QString());
}

void TestClientMessages::againNeedsNoSpan()
{
    const auto again = messageOf<RunAgain>(R"({"type":"run.start","document":"d","again":"p1","seed":4})");
    QCOMPARE(again.again, QStringLiteral("p1"));
    QCOMPARE(again.seed, std::optional<std::uint64_t>(4));
}

void TestClientMessages::textsKeepEveryCharacter()
{
    const auto edit = messageOf<ProposalEdit>(
        R"({"type":"proposal.edit","proposal":"p","text":"\ud83d\ude00 e\u0301\r\n\u2028\u007f"})");
    QCOMPARE(edit.text.toUtf8(), QByteArray("\xF0\x9F\x98\x80 e\xCC\x81\r\n\xE2\x80\xA8\x7F"));
}

void TestClientMessages::unknownFieldsAreIgnored()
{
    QCOMPARE(messageOf<RunOrder>(R"({"type":"run.step","run":"r","speed":[{}],"version":"x"})").run,
             QStringLiteral("r"));
}

QTEST_APPLESS_MAIN(TestClientMessages)
#include "tst_client_messages.moc"
