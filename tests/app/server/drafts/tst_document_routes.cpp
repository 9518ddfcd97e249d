// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_worker.h"
#include "app/server/drafts/document_routes.h"
#include "tests/app/documents/store_fixture.h"
#include "tests/app/server/http/listener_thread.h"
#include "tests/app/server/http/raw_client.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <fstream>
#include <memory>

using namespace palimpsest;
using namespace palimpsest::documents;
using palimpsest::test::ListenerThread;
using palimpsest::test::RawAnswer;
using palimpsest::test::RawClient;
using palimpsest::test::StoreFixture;

namespace {

/// A store behind a server.
class Bench
{
public:
    explicit Bench(const StoreOptions &options) : worker(options), m_listener(settings()) {}

    RawAnswer ask(const std::string &method, const std::string &target, const std::string &body = {},
                  const std::string &type = "text/plain")
    {
        RawClient client(m_listener.port());
        std::string request = method + " " + target + " HTTP/1.1\r\nHost: " + m_listener.host() + "\r\n";
        if (method == "POST")
            request += "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
        if (!client.send(request + "\r\n" + body))
            throw std::runtime_error("the server closed");
        return client.answer().value();
    }
    OpaqueId create(const std::string &title, const std::string &text)
    {
        return worker.run([=](DocumentStore &store) { return store.create(title, text).summary.id; }).get();
    }

    std::vector<std::string> importedTitles; ///< written on the worker's thread, before the answer
    DocumentWorker worker;

private:
    http::ListenerSettings settings()
    {
        http::ListenerSettings settings;
        addDocumentRoutes(settings.routes, worker,
                          [this](const DocumentSummary &made) { importedTitles.push_back(made.title); });
        return settings;
    }

    ListenerThread m_listener;
};

nlohmann::json errorOf(const RawAnswer &answer)
{
    return nlohmann::json::parse(answer.body).at("error");
}

} // namespace

class TestDocumentRoutes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void exportsAreFiles_data();
    void exportsAreFiles();
    void diffsAreBetweenRevisions();
    void provenanceIsKeptWhenAsked();
    void importsMakeDocuments();
    void wrongRequestsSayWhatIsWrong_data();
    void wrongRequestsSayWhatIsWrong();
    void storesWithTroubleSaySo();
};

void TestDocumentRoutes::exportsAreFiles_data()
{
    QTest::addColumn<QByteArray>("query");
    QTest::addColumn<QByteArray>("type");
    QTest::addColumn<QByteArray>("disposition");
    QTest::addColumn<QByteArray>("body");
    const QByteArray text("\xEF\xBB\xBF"
                          "a\r\nb");
    QTest::newRow("by default Markdown")
        << QByteArray("") << QByteArray("text/markdown; charset=utf-8")
        << QByteArray("attachment; filename=\"Caf_ -1-.md\"; filename*=UTF-8''Caf%C3%A9%20-1-.md")
        << QByteArray("\xEF\xBB\xBF# Caf\xC3\xA9 \"1\"\r\n\r\na\r\nb");
    QTest::newRow("text") << QByteArray("?format=text") << QByteArray("text/plain; charset=utf-8")
                          << QByteArray("attachment; filename=\"Caf_ -1-.txt\"; filename*=UTF-8''Caf%C3%A9%20-1-.txt")
                          << text;
}

void TestDocumentRoutes::exportsAreFiles()
{
    QFETCH(QByteArray, query);
    QFETCH(QByteArray, type);
    QFETCH(QByteArray, disposition);
    QFETCH(QByteArray, body);
    StoreFixture fixture;
    Bench bench(fixture.options());
    const OpaqueId id = bench.create("Caf\xC3\xA9 \"1\"", "\xEF\xBB\xBF"
                                                          "a\r\nb");
    const RawAnswer answer = bench.ask("GET", "/api/documents/" + id + "/export" + query.toStdString());
    QCOMPARE(answer.status, 200);
    QCOMPARE(answer.body, body.toStdString());
    QCOMPARE(answer.field("content-type"), type.toStdString());
    QCOMPARE(answer.field("content-disposition"), disposition.toStdString());
    QCOMPARE(answer.field("cache-control"), std::string("no-store"));
}

void TestDocumentRoutes::diffsAreBetweenRevisions()
{
    StoreFixture fixture;
    Bench bench(fixture.options());
    const OpaqueId id = bench.create("t", "one\n");
    bench.worker
        .run([id](DocumentStore &store) {
            store.save(id, {.text = "two\n", .revision = NewRevision{}});
            store.saveText(id, "three\n", {}, std::nullopt);
        })
        .get();
    const std::string target = "/api/documents/" + id + "/export?format=diff";
    const RawAnswer whole = bench.ask("GET", target);
    QVERIFY(whole.body.starts_with("--- t (revision 1)\t"));
    QVERIFY(whole.body.find("\n+++ t (now)\t") != std::string::npos);
    QVERIFY(whole.body.ends_with("@@ -1 +1 @@\n-one\n+three\n"));
    QVERIFY(bench.ask("GET", target + "&from=1&to=2").body.ends_with("@@ -1 +1 @@\n-one\n+two\n"));
    QVERIFY(bench.ask("GET", target + "&from=2&to=1").body.ends_with("@@ -1 +1 @@\n-two\n+one\n"));
    const RawAnswer none = bench.ask("GET", target + "&from=2&to=2");
    QCOMPARE(none.status, 200);
    QCOMPARE(none.body, std::string());
    QCOMPARE(bench.ask("GET", target + "&from=9").status, 404);
}

void TestDocumentRoutes::provenanceIsKeptWhenAsked()
{
    StoreFixture fixture;
    Bench bench(fixture.options());
    const OpaqueId id = bench.create("", "one");
    bench.worker
        .run([id](DocumentStore &store) {
            store.addRevision(id, {.origin = Origin::Model, .model = ModelOrigin{.model = "demo", .seed = 42}});
        })
        .get();
    const std::string target = "/api/documents/" + id + "/export";
    QCOMPARE(bench.ask("GET", target).body, std::string("one"));
    QVERIFY(bench.ask("GET", target + "?provenance=keep").body.find("\"seed\":42") != std::string::npos);
}

void TestDocumentRoutes::importsMakeDocuments()
{
    StoreFixture fixture;
    Bench bench(fixture.options());
    const std::string text = "\xEF\xBB\xBF# A letter\r\n\r\nDear all \xF0\x9F\x98\x80\r\n";
    const RawAnswer answer = bench.ask("POST", "/api/documents/import?name=my%20file.md", text, "text/markdown");
    QCOMPARE(answer.status, 201);
    const auto made = nlohmann::json::parse(answer.body);
    QCOMPARE(made.at("title").get<std::string>(), std::string("A letter"));
    QCOMPARE(made.at("revisions").get<int>(), 1);
    const auto id = made.at("id").get<std::string>();
    const Revision revision = bench.worker.run([id](DocumentStore &store) { return store.revision(id, 1); }).get();
    QCOMPARE(revision.text, text);
    QVERIFY(revision.summary.origin == Origin::Imported);
    QVERIFY((bench.importedTitles == std::vector<std::string>{"A letter"}));
    QCOMPARE(bench.ask("GET", "/api/documents/" + id + "/export").body, text); // what came in goes out
    QCOMPARE(bench.ask("POST", "/api/documents/import", "").status, 201);      // an empty file is one, too
}

void TestDocumentRoutes::wrongRequestsSayWhatIsWrong_data()
{
    QTest::addColumn<QByteArray>("method");
    QTest::addColumn<QByteArray>("target"); // behind /api/documents/
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QByteArray>("type");
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("param");
    const QByteArray plain("text/plain");
    QTest::newRow("no document") << QByteArray("GET") << QByteArray("nothing/export") << QByteArray() << plain << 404
                                 << QByteArray("nothing");
    QTest::newRow("format") << QByteArray("GET") << QByteArray("x/export?format=pdf") << QByteArray() << plain << 400
                            << QByteArray("format");
    QTest::newRow("from") << QByteArray("GET") << QByteArray("x/export?format=diff&from=1x") << QByteArray() << plain
                          << 400 << QByteArray("from");
    QTest::newRow("to") << QByteArray("GET") << QByteArray("x/export?format=diff&to=-1") << QByteArray() << plain << 400
                        << QByteArray("to");
    QTest::newRow("provenance") << QByteArray("GET") << QByteArray("x/export?provenance=maybe") << QByteArray() << plain
                                << 400 << QByteArray("provenance");
    QTest::newRow("not UTF-8") << QByteArray("POST") << QByteArray("import?name=a.txt") << QByteArray("caf\xE9")
                               << plain << 400 << QByteArray("a.txt");
    QTest::newRow("binary") << QByteArray("POST") << QByteArray("import?name=a.zip") << QByteArray("PK\0\0", 4) << plain
                            << 400 << QByteArray("a.zip");
    QTest::newRow("a form") << QByteArray("POST") << QByteArray("import") << QByteArray("x")
                            << QByteArray("multipart/form-data; boundary=x") << 415 << QByteArray();
}

void TestDocumentRoutes::wrongRequestsSayWhatIsWrong()
{
    QFETCH(QByteArray, method);
    QFETCH(QByteArray, target);
    QFETCH(QByteArray, body);
    QFETCH(QByteArray, type);
    QFETCH(int, status);
    QFETCH(QByteArray, param);
    StoreFixture fixture;
    Bench bench(fixture.options());
    const RawAnswer answer = bench.ask(method.toStdString(), "/api/documents/" + target.toStdString(),
                                       body.toStdString(), type.toStdString());
    QCOMPARE(answer.status, status);
    const nlohmann::json error = errorOf(answer);
    QVERIFY(!error.at("message").get<std::string>().empty());
    if (!param.isEmpty())
        QCOMPARE(error.at("param").get<std::string>(), param.toStdString());
}

void TestDocumentRoutes::storesWithTroubleSaySo()
{
    StoreFixture fixture;
    std::ofstream(fixture.file()) << "somebody's letter";
    Bench bench(fixture.options());
    const RawAnswer answer = bench.ask("POST", "/api/documents/import", "text");
    QCOMPARE(answer.status, 500);
    QCOMPARE(errorOf(answer).at("code").get<std::string>(), std::string("storage_failed"));
    QVERIFY(errorOf(answer).at("message").get<std::string>().find("not a document store") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestDocumentRoutes)
#include "tst_document_routes.moc"
