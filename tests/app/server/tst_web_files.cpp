// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/web_files.h"
#include "tests/app/server/http/listener_thread.h"
#include "tests/app/server/http/raw_client.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <utility>

using namespace palimpsest;
using namespace palimpsest::server;
using namespace palimpsest::test;

/// The browser studio's files, and what a page of them may do.
class TestWebFiles : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void webFiles();
    void withoutTheStudio();
    void policyNamesItsOwnSockets();
};

void TestWebFiles::webFiles()
{
    const QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkdir("fonts"));
    const std::array<std::pair<const char *, const char *>, 4> files{
        {{"index.html", "<!doctype html>"}, {"studio.js", "export {};"}, {"a.css", "p {}"}, {"fonts/f.woff2", "font"}}};
    for (const auto &[name, content] : files) {
        QFile file(folder.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    }
    http::Routes routes;
    QVERIFY(addWebFiles(routes, folder.path()));
    http::AccessSettings access;
    access.keys.add("a-key"); // the files need none
    ListenerThread server({.limits = {}, .access = std::move(access), .routes = std::move(routes), .served = {}});
    RawClient client(server.port());
    const auto get = [&](const std::string &path, const std::string &fields = {}) {
        (void)client.send("GET " + path + " HTTP/1.1\r\nHost: " + server.host() + "\r\n" + fields + "\r\n");
        return client.answer().value_or(RawAnswer());
    };
    const RawAnswer page = get("/");
    QCOMPARE(page.body, std::string("<!doctype html>"));
    QCOMPARE(get("/index.html").body, page.body);
    QCOMPARE(page.field("content-type"), std::string("text/html; charset=utf-8"));
    QCOMPARE(page.field("x-content-type-options"), std::string("nosniff"));
    QCOMPARE(page.field("cache-control"), std::string("no-cache"));
    QVERIFY(page.field("content-security-policy").starts_with("default-src 'self'; "));
    QVERIFY(page.field("content-security-policy").find("unsafe") == std::string::npos);
    QCOMPARE(get("/studio.js").field("content-type"), std::string("text/javascript; charset=utf-8"));
    QCOMPARE(get("/a.css").field("content-type"), std::string("text/css; charset=utf-8"));
    QCOMPARE(get("/fonts/f.woff2").field("content-type"), std::string("font/woff2"));
    const RawAnswer same = get("/", "If-None-Match: " + page.field("etag") + "\r\n");
    QCOMPARE(same.status, 304);
    QVERIFY(same.body.empty());
    QCOMPARE(same.field("etag"), page.field("etag"));
    QCOMPARE(get("/", "If-None-Match: \"other\"\r\n").status, 200);
    QCOMPARE(get("/fonts/").status, 401); // unknown, so not open either
}

void TestWebFiles::withoutTheStudio()
{
    http::Routes routes;
    QVERIFY(!addWebFiles(routes, {}));
    ListenerThread server({.limits = {}, .access = {}, .routes = std::move(routes), .served = {}});
    RawClient client(server.port());
    QVERIFY(client.send("GET / HTTP/1.1\r\nHost: " + server.host() + "\r\n\r\n"));
    QVERIFY(client.answer()->body.find("no browser studio") != std::string::npos);
}

void TestWebFiles::policyNamesItsOwnSockets()
{
    const std::string policy = contentSecurityPolicy("127.0.0.1:8080");
    QVERIFY(policy.find("connect-src 'self' ws://127.0.0.1:8080 wss://127.0.0.1:8080;") != std::string::npos);
    QVERIFY(contentSecurityPolicy("").find("connect-src 'self';") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestWebFiles)
#include "tst_web_files.moc"
