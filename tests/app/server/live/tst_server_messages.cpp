// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/library_watches.h"
#include "app/server/live/run_messages.h"
#include "app/server/live/server_messages.h"

#include "app/editing/draft.h"
#include "app/engine_host.h"
#include "engine/error.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

using namespace palimpsest;
using namespace palimpsest::live;

namespace {

QJsonObject parsed(const QString &text)
{
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(text.toUtf8(), &error);
    if (!document.isObject())
        throw std::runtime_error(error.errorString().toStdString());
    return document.object();
}

} // namespace

class TestServerMessages : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void framesAreJsonWhateverTheyHold();
    void framesAreSmall();
    void errorsHaveTheirCode_data();
    void errorsHaveTheirCode();
    void snippetsAreMarked();
    void nobodyIsNull();
    void statusOfEachPhase();
};

void TestServerMessages::framesAreJsonWhateverTheyHold()
{
    editing::Frame frame;
    frame.lane = 1;
    frame.canvas = 2;
    frame.step = 3;
    frame.maxSteps = 48;
    frame.showBegin = 1;
    frame.showEnd = 5;
    for (char16_t c = 0; c < 0x80; ++c) // every character that JSON has a rule for
        frame.text.emplace_back(QChar(c));
    frame.text.push_back(QStringLiteral("\U0001F600 e\u0301 \u2028"));
    frame.text.emplace_back();
    for (std::size_t i = 0; i < frame.text.size(); ++i)
        frame.entropy.push_back(static_cast<std::uint16_t>(i * 500));
    frame.marks = QByteArray(static_cast<qsizetype>(frame.text.size()), '=');
    frame.meanEntropy = 1.0 / 3.0;
    frame.stepMs = std::numeric_limits<double>::quiet_NaN(); // JSON has none
    frame.elapsedMs = 1e12;
    frame.last = true;
    const QJsonObject message = parsed(frameMessage(QStringLiteral("r\"1"), frame));
    QCOMPARE(message.value(u"type").toString(), QStringLiteral("frame"));
    QCOMPARE(message.value(u"run").toString(), QStringLiteral("r\"1"));
    QCOMPARE(message.value(u"n").toInt(), static_cast<int>(frame.text.size()));
    const QJsonArray texts = message.value(u"text").toArray();
    for (qsizetype i = 0; i < texts.size(); ++i)
        QCOMPARE(texts.at(i).toString(), frame.text[static_cast<std::size_t>(i)]);
    QCOMPARE(message.value(u"entropy").toArray().at(2).toInt(), 1000);
    QCOMPARE(message.value(u"show").toArray(), (QJsonArray{1, 5}));
    QCOMPARE(message.value(u"marks").toString(), QString::fromLatin1(frame.marks));
    QVERIFY(qAbs(message.value(u"meanEntropy").toDouble() - 0.333333) < 1e-9);
    QVERIFY(message.value(u"stepMs").isDouble());
    QCOMPARE(message.value(u"elapsedMs").toDouble(), 1e12);
    QCOMPARE(message.value(u"last").toBool(), true);
    QJsonObject bare = parsed(frameText(QStringLiteral("r\"1"), frame));
    bare.insert(QStringLiteral("type"), QStringLiteral("frame"));
    QCOMPARE(bare, message);
}

void TestServerMessages::framesAreSmall()
{
    editing::Frame frame;
    for (int i = 0; i < 256; ++i) {
        frame.text.push_back(QStringLiteral(" word"));
        frame.entropy.push_back(123);
    }
    frame.marks = QByteArray(256, '+');
    const qsizetype bytes = frameMessage(QStringLiteral("0123456789abcdef0123456789abcdef"), frame).toUtf8().size();
    QVERIFY2(bytes < 4096, qPrintable(QString::number(bytes))); // 60 times a second, a quarter of a megabyte
}

void TestServerMessages::errorsHaveTheirCode_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("subject");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("param");
    const auto row = [](const char *name, ErrorKind kind, const char *subject, const char *code, const char *param) {
        QTest::newRow(name) << static_cast<int>(kind) << QString::fromLatin1(subject) << QString::fromLatin1(code)
                            << QString::fromLatin1(param);
    };
    row("argument", ErrorKind::InvalidArgument, "start", "invalid_request", "start");
    row("stale", ErrorKind::InvalidArgument, editing::kStaleSubject, "stale", "");
    row("input", ErrorKind::InvalidInput, "text", "invalid_request", "text");
    row("missing", ErrorKind::NotFound, "run", "not_found", "");
    row("disk", ErrorKind::Io, "/x/documents.sqlite", "storage_failed", "");
    row("not writable", ErrorKind::PermissionDenied, "/x", "storage_failed", "");
    row("context", ErrorKind::ContextLength, "prompt", "context_length_exceeded", "");
    row("queue", ErrorKind::QueueFull, "", "queue_full", "");
    row("loading", ErrorKind::Backend, "loading", "model_unavailable", "");
    row("damaged model", ErrorKind::InvalidCheckpoint, "model.safetensors", "model_unavailable", "");
    row("memory", ErrorKind::OutOfMemory, "", "server_error", "");
}

void TestServerMessages::errorsHaveTheirCode()
{
    QFETCH(const int, kind);
    QFETCH(const QString, subject);
    const Problem problem = problemOf(Error(static_cast<ErrorKind>(kind), "words", subject.toStdString()));
    QTEST(QString::fromStdString(problem.code), "code");
    QTEST(QString::fromStdString(problem.param), "param");
    QCOMPARE(problem.message, std::string("words"));
}

void TestServerMessages::snippetsAreMarked()
{
    documents::SearchHit hit;
    hit.document = {.id = "d", .title = "T", .modifiedMs = 5, .lastRevision = 2};
    hit.snippet = "\xC3\xA4 one and two";
    hit.marks = {{.begin = 3, .end = 6}, {.begin = 11, .end = 14}};
    const QJsonObject entry = libraryFields({hit}).value(u"documents").toArray().first().toObject();
    QCOMPARE(entry.value(u"snippet").toString(), QStringLiteral("\u00E4 \u0002one\u0003 and \u0002two\u0003"));
    QCOMPARE(entry.value(u"modified").toInt(), 5);
    hit.snippet.clear();
    hit.marks.clear();
    QVERIFY(!libraryFields({hit}).value(u"documents").toArray().first().toObject().contains(u"snippet"));
}

void TestServerMessages::nobodyIsNull()
{
    QVERIFY(windowName(editing::kNobody).isNull());
    QCOMPARE(windowName(12).toString(), QStringLiteral("12"));
}

void TestServerMessages::statusOfEachPhase()
{
    EngineState engine;
    engine.progress = 0.5;
    QJsonObject status = statusFields(engine, std::nullopt, 3);
    QCOMPARE(status.value(u"state").toString(), QStringLiteral("loading"));
    QCOMPARE(status.value(u"progress").toDouble(), 0.5);
    QCOMPARE(status.value(u"windows").toInt(), 3);
    QVERIFY(!status.contains(u"model"));
    engine.phase = EngineState::Phase::Failed;
    engine.error = Error(ErrorKind::InvalidCheckpoint, "config.json: damaged", "config.json");
    status = statusFields(engine, std::nullopt, 0);
    QCOMPARE(status.value(u"state").toString(), QStringLiteral("error"));
    QCOMPARE(status.value(u"problem").toString(), QStringLiteral("config.json: damaged"));
    engine.phase = EngineState::Phase::Ready;
    engine.error.reset();
    DeskStatus desk;
    QCOMPARE(statusFields(engine, desk, 0).value(u"state").toString(), QStringLiteral("ready"));
    desk.waiting = 1;
    QCOMPARE(statusFields(engine, desk, 0).value(u"state").toString(), QStringLiteral("busy"));
    desk.lastStepMs = 6.5;
    QCOMPARE(statusFields(engine, desk, 0).value(u"stepMs").toDouble(), 6.5);
}

QTEST_APPLESS_MAIN(TestServerMessages)
#include "tst_server_messages.moc"
