// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/access_policy.h"
#include "engine/error.h"
#include "tests/app/server/http/access_bench.h"
#include "tests/app/server/http/raw_client.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace palimpsest;
using namespace palimpsest::http;
using namespace palimpsest::test;

/// Who is let in: by the name they call, the page they come from, and their key.
class TestHttpAccess : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void hosts_data();
    void hosts();
    void origins_data();
    void origins();
    void originsForConfiguration_data();
    void originsForConfiguration();
    void keys_data();
    void keys();
    void preflightNeedsNoKey();
    void preflightOfAForeignPage();
    void errorsCanBeReadByAllowedPages();
    void clientsWithoutKeysAreConnections();
    void storedKeys();
    void badKeyFiles_data();
    void badKeyFiles();
};

void TestHttpAccess::hosts_data()
{
    QTest::addColumn<QString>("host"); // PORT stands for the server's
    QTest::addColumn<bool>("allowed");
    QTest::newRow("F073: 127.0.0.1") << "127.0.0.1:PORT" << true;
    QTest::newRow("F073: localhost") << "LocalHost:PORT" << true;
    QTest::newRow("F073: [::1]") << "[::1]:PORT" << true;
    QTest::newRow("F073: rebound name") << "studio.evil.test:PORT" << false;
    QTest::newRow("no port") << "127.0.0.1" << false;
    QTest::newRow("other port") << "127.0.0.1:1" << false;
    QTest::newRow("empty") << "" << false;
    QTest::newRow("only a port") << ":PORT" << false;
    QTest::newRow("port is no number") << "127.0.0.1:PORTx" << false;
    QTest::newRow("port too large") << "127.0.0.1:99999" << false;
    QTest::newRow("name with a dot") << "localhost.:PORT" << false;
    QTest::newRow("name within") << "localhost.evil.test:PORT" << false;
    QTest::newRow("other address") << "127.0.0.2:PORT" << false;
    QTest::newRow("allowed name") << "palimpsest.test" << true;
    QTest::newRow("allowed name, any port") << "palimpsest.test:443" << true;
    QTest::newRow("allowed address with port") << "[FD00::1]:9000" << true;
    QTest::newRow("its other port") << "[fd00::1]:9001" << false;
    QTest::newRow("bracket missing") << "[::1:PORT" << false;
}

void TestHttpAccess::hosts()
{
    QFETCH(QString, host);
    QFETCH(bool, allowed);
    const auto server = serve(keyed());
    host.replace("PORT", QString::number(server->port()));
    RawClient raw(server->port());
    QVERIFY(raw.send("GET /health HTTP/1.1\r\nHost: " + host.toStdString() + "\r\n\r\n"));
    const auto answer = raw.answer();
    QCOMPARE(answer->status, allowed ? 200 : 403);
    QCOMPARE(answer->body.find("host_not_allowed") != std::string::npos, !allowed);
}

void TestHttpAccess::origins_data()
{
    QTest::addColumn<QString>("origin");
    QTest::addColumn<bool>("allowed");
    QTest::newRow("own") << "http://127.0.0.1:PORT" << true;
    QTest::newRow("own other name") << "http://localhost:PORT" << true;
    QTest::newRow("behind TLS") << "https://127.0.0.1:PORT" << true;
    QTest::newRow("other port of loopback") << "http://127.0.0.1:1" << false;
    QTest::newRow("listed") << "https://page.test" << true;
    QTest::newRow("listed, case") << "HTTPS://Page.Test" << true;
    QTest::newRow("listed, other scheme") << "http://page.test" << false;
    QTest::newRow("listed, other port") << "https://page.test:8443" << false;
    QTest::newRow("F074: foreign") << "https://evil.test" << false;
    QTest::newRow("null") << "null" << false;
    QTest::newRow("empty") << "" << false;
    QTest::newRow("prefix") << "https://page.test.evil.test" << false;
}

void TestHttpAccess::origins()
{
    QFETCH(QString, origin);
    QFETCH(bool, allowed);
    const auto server = serve(keyed());
    origin.replace("PORT", QString::number(server->port()));
    RawClient raw(server->port());
    QVERIFY(raw.send("GET /health HTTP/1.1\r\nHost: " + server->host() + "\r\nOrigin: " + origin.toStdString() +
                     "\r\n\r\n"));
    const auto answer = raw.answer();
    QCOMPARE(answer->status, allowed ? 200 : 403);
    QCOMPARE(answer->field("access-control-allow-origin"), allowed ? origin.toStdString() : std::string());
    QCOMPARE(answer->field("vary"), std::string(allowed ? "Origin" : ""));
}

void TestHttpAccess::originsForConfiguration_data()
{
    QTest::addColumn<QString>("origin");
    QTest::addColumn<bool>("good");
    for (const char *origin : {"*", "http://a", "https://a.b:1", "http://[::1]:8080", "app://studio"})
        QTest::newRow(origin) << origin << true;
    for (const char *origin :
         {"", "a", "a.b", "http://", "://a", "http://a/", "http://a/b", "http://*.a", "http://a:x", "http://u@a"})
        QTest::newRow(qPrintable(QString("not ") + origin)) << origin << false;
}

void TestHttpAccess::originsForConfiguration()
{
    QFETCH(QString, origin);
    QFETCH(bool, good);
    if (good)
        requireOrigin(origin.toStdString());
    else
        QVERIFY_EXCEPTION_THROWN(requireOrigin(origin.toStdString()), Error);
}

void TestHttpAccess::keys_data()
{
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("fields");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("body");
    QTest::newRow("open") << "GET /health"
                          << "" << 200 << "{}";
    QTest::newRow("open, wrong key") << "GET /health"
                                     << "Authorization: Bearer x\r\n"
                                     << 200 << "{}";
    QTest::newRow("none") << "GET /v1/models"
                          << "" << 401 << "";
    QTest::newRow("first") << "GET /v1/models"
                           << "Authorization: Bearer first-key\r\n"
                           << 200 << "key-1";
    QTest::newRow("second") << "GET /v1/models"
                            << "authorization: bearer  second-key\r\n"
                            << 200 << "key-2";
    QTest::newRow("field of its own") << "GET /v1/models"
                                      << "x-api-key: second-key\r\n"
                                      << 200 << "key-2";
    QTest::newRow("wrong") << "GET /v1/models"
                           << "Authorization: Bearer first-kez\r\n"
                           << 401 << "";
    QTest::newRow("prefix") << "GET /v1/models"
                            << "Authorization: Bearer first-ke\r\n"
                            << 401 << "";
    QTest::newRow("empty") << "GET /v1/models"
                           << "Authorization: Bearer \r\n"
                           << 401 << "";
    QTest::newRow("other scheme") << "GET /v1/models"
                                  << "Authorization: Basic first-key\r\n"
                                  << 401 << "";
    QTest::newRow("in the query") << "GET /v1/models?key=first-key"
                                  << "" << 401 << "";
    QTest::newRow("another spelling of the path") << "GET /%76%31/models"
                                                  << "" << 401 << "";
    QTest::newRow("unknown path") << "GET /nope"
                                  << "" << 401 << "";
    QTest::newRow("before the body") << "POST /v1/echo"
                                     << "Content-Length: 1000000\r\n"
                                     << 401 << "";
    QTest::newRow("open path, other method") << "POST /health"
                                             << "" << 405 << "";
}

void TestHttpAccess::keys()
{
    QFETCH(QString, line);
    QFETCH(QString, fields);
    QFETCH(int, status);
    QFETCH(QString, body);
    const auto server = serve(keyed());
    RawClient raw(server->port());
    QVERIFY(
        raw.send(line.toStdString() + " HTTP/1.1\r\nHost: " + server->host() + "\r\n" + fields.toStdString() + "\r\n"));
    const auto answer = raw.answer();
    QCOMPARE(answer->status, status);
    QCOMPARE(answer->field("www-authenticate"), std::string(status == 401 ? "Bearer" : ""));
    if (status == 401)
        QVERIFY(answer->body.find("\"code\":\"invalid_api_key\"") != std::string::npos);
    if (status == 200)
        QCOMPARE(QString::fromStdString(answer->body), body);
}

void TestHttpAccess::preflightNeedsNoKey()
{
    // F068
    const auto server = serve(keyed());
    RawClient raw(server->port());
    QVERIFY(raw.send("OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: " + server->host() +
                     "\r\nOrigin: https://page.test\r\nAccess-Control-Request-Method: POST\r\n"
                     "Access-Control-Request-Headers: authorization,content-type, x-stainless-retry-count\r\n\r\n"));
    const auto answer = raw.answer();
    QCOMPARE(answer->status, 204);
    QCOMPARE(answer->field("access-control-allow-origin"), std::string("https://page.test"));
    QCOMPARE(answer->field("access-control-allow-headers"),
             std::string("authorization,content-type, x-stainless-retry-count"));
    QVERIFY(answer->field("access-control-allow-methods").find("POST") != std::string::npos);
    QVERIFY(answer->body.empty());
    QVERIFY(answer->field("content-length").empty());
}

void TestHttpAccess::preflightOfAForeignPage()
{
    const auto server = serve({});
    RawClient raw(server->port());
    QVERIFY(raw.send("OPTIONS /v1/echo HTTP/1.1\r\nHost: " + server->host() +
                     "\r\nOrigin: https://page.test\r\nAccess-Control-Request-Method: POST\r\n\r\n"));
    const auto answer = raw.answer();
    QCOMPARE(answer->status, 403);
    QVERIFY(answer->field("access-control-allow-origin").empty());
}

void TestHttpAccess::errorsCanBeReadByAllowedPages()
{
    // F069
    const auto server = serve(keyed());
    RawClient raw(server->port());
    const std::string head = " HTTP/1.1\r\nHost: " + server->host() + "\r\nOrigin: https://page.test\r\n";
    const std::string key = "Authorization: Bearer first-key\r\n";
    QVERIFY(raw.send("GET /v1/models" + head + "\r\n" + "GET /nope" + head + key + "\r\n" + "DELETE /v1/models" + head +
                     key + "\r\n" + "POST /v1/echo" + head + key +
                     "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nx"));
    for (const int status : {401, 404, 405, 400}) {
        const auto answer = raw.answer();
        QCOMPARE(answer->status, status);
        QCOMPARE(answer->field("access-control-allow-origin"), std::string("https://page.test"));
        QVERIFY(answer->field("access-control-expose-headers").find("x-request-id") != std::string::npos);
    }
}

void TestHttpAccess::clientsWithoutKeysAreConnections()
{
    const auto server = serve({});
    RawClient one(server->port());
    RawClient two(server->port());
    const std::string request = "GET /v1/models HTTP/1.1\r\nHost: " + server->host() + "\r\n\r\n";
    QVERIFY(one.send(request + request));
    QVERIFY(two.send(request));
    const std::string first = one.answer()->body;
    QVERIFY(first.starts_with("connection-"));
    QCOMPARE(one.answer()->body, first);
    QVERIFY(two.answer()->body != first);
}

void TestHttpAccess::storedKeys()
{
    const QTemporaryDir folder;
    QFile file(folder.filePath("keys"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("# keys\n\nplain-key\r\n"
               "sha256:73616c74:"
               "92fea113b06a122e2267c2ebec60b6492e12a910f0d8f128088a79e5e8f4c6b5\n");
    file.close();
    ApiKeys keys;
    keys.addFile(file.fileName().toStdString());
    QCOMPARE(keys.holder("plain-key").value_or(""), std::string("key-1"));
    QCOMPARE(keys.holder("stored-key").value_or(""), std::string("key-2"));
    QVERIFY(!keys.holder("sha256:73616c74"));
    QVERIFY(!keys.holder(""));
}

void TestHttpAccess::badKeyFiles_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("empty") << QByteArray("# nothing\n");
    QTest::newRow("blank in a key") << QByteArray("a b\n");
    QTest::newRow("not ASCII") << QByteArray("schl\xc3\xbcssel\n");
    QTest::newRow("stored, short") << QByteArray("sha256:00:00\n");
    QTest::newRow("stored, not hexadecimal") << "sha256:0g:" + QByteArray(64, '0');
    QTest::newRow("stored, no salt part") << "sha256:" + QByteArray(64, '0');
}

void TestHttpAccess::badKeyFiles()
{
    QFETCH(QByteArray, content);
    const QTemporaryDir folder;
    QFile file(folder.filePath("keys"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(content);
    file.close();
    ApiKeys keys;
    QVERIFY_EXCEPTION_THROWN(keys.addFile(file.fileName().toStdString()), Error);
    QVERIFY_EXCEPTION_THROWN(keys.addFile(folder.filePath("none").toStdString()), Error);
}

QTEST_GUILESS_MAIN(TestHttpAccess)
#include "tst_http_access.moc"
