// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The example configurations of packaging/deploy, with Debian's nginx and HAProxy in front of real servers with the
// demo model: everything but ports, names and paths is tested as it stands there.

#include "tests/packaging/deploy_bench.h"
#include "tests/packaging/deploy_client.h"

#include <QSslConfiguration>
#include <QSslSocket>
#include <QTest>
#include <QWebSocket>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

using namespace palimpsest::test;

namespace {

constexpr int kPatienceMs = 60'000;

QByteArray at(std::uint16_t port)
{
    return "127.0.0.1:" + QByteArray::number(port);
}

/// A `palimpsest serve` on a port of its own; all of a folder share their drafts.
class Server
{
public:
    Server(const DeployFolder &folder, std::uint16_t port)
        : m_port(port),
          m_daemon(QStringLiteral(PALIMPSEST_BINARY_DIR "/bin/palimpsest"),
                   {QStringLiteral("serve"), QStringLiteral("--port"), QString::number(port),
                    QStringLiteral("--allow-host"), QStringLiteral("127.0.0.1"), QStringLiteral("--data-dir"),
                    folder.path(QStringLiteral("drafts"))},
                   folder.environment()),
          m_client(QStringLiteral("http://127.0.0.1:%1").arg(port))
    {
        if (!waitForPort(port))
            throw std::runtime_error("the server does not listen");
    }

    [[nodiscard]] std::uint16_t port() const { return m_port; }
    [[nodiscard]] DeployClient &client() { return m_client; }
    void kill9() { m_daemon.kill9(); }
    [[nodiscard]] bool isReady() { return m_client.ask(QStringLiteral("/health")).status == 200; }
    /// Requests whose answer is being made.
    [[nodiscard]] int repliesInProgress()
    {
        const QByteArray figures = m_client.ask(QStringLiteral("/metrics")).body;
        const QByteArray name = "\npalimpsest_replies_in_progress ";
        const qsizetype begin = figures.indexOf(name);
        return begin < 0
                   ? -1
                   : figures.mid(begin + name.size(), figures.indexOf('\n', begin + 1) - begin - name.size()).toInt();
    }

private:
    std::uint16_t m_port;
    Daemon m_daemon;
    DeployClient m_client;
};

/// nginx as the current user, with the example as its only site.
std::unique_ptr<Daemon> startNginx(const DeployFolder &folder, std::uint16_t port, std::uint16_t serverPort)
{
    const QByteArray root = folder.path(QString()).toLocal8Bit();
    const QString site = folder.makeFromExample(
        QStringLiteral("nginx-palimpsest.conf"),
        {{"listen 80;", "listen " + at(freePort()) + ";"},
         {"listen 443 ssl http2;", "listen " + at(port) + " ssl http2;"},
         {"/etc/ssl/certs/palimpsest.example.org.pem", folder.path(QStringLiteral("certificate.pem")).toLocal8Bit()},
         {"/etc/ssl/private/palimpsest.example.org.key", folder.path(QStringLiteral("key.pem")).toLocal8Bit()},
         {"/var/log/nginx/palimpsest.log", folder.path(QStringLiteral("access.log")).toLocal8Bit()},
         {"palimpsest.example.org", "127.0.0.1"},
         {"server 127.0.0.1:8080;", "server " + at(serverPort) + ";"}});
    QByteArray main = "daemon off;\npid " + root + "/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\n";
    for (const char *kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
        main += QByteArray(kind) + "_temp_path " + root + "/" + kind + ";\n";
    main += "include " + site.toLocal8Bit() + ";\n}\n";
    const QString configuration = folder.write(QStringLiteral("nginx.conf"), main);
    return std::make_unique<Daemon>(
        QStringLiteral("nginx"),
        QStringList{QStringLiteral("-e"), QStringLiteral("stderr"), QStringLiteral("-c"), configuration},
        folder.environment());
}

std::unique_ptr<Daemon> startHaproxy(const DeployFolder &folder, std::uint16_t port, std::uint16_t firstPort,
                                     std::uint16_t secondPort)
{
    const QString configuration = folder.makeFromExample(
        QStringLiteral("haproxy-palimpsest.cfg"),
        {{"    user haproxy\n    group haproxy\n    chroot /var/lib/haproxy\n", ""},
         {"log /dev/log local0", "log stderr format raw local0"},
         {"bind :80\n", "bind " + at(freePort()) + "\n"},
         {"bind :443 ", "bind " + at(port) + " "},
         {"/etc/haproxy/palimpsest.example.org.pem", folder.path(QStringLiteral("both.pem")).toLocal8Bit()},
         {"palimpsest.example.org", "127.0.0.1"},
         {"server first 127.0.0.1:8081", "server first " + at(firstPort)},
         {"server second 127.0.0.1:8082", "server second " + at(secondPort)}});
    return std::make_unique<Daemon>(QStringLiteral("haproxy"),
                                    QStringList{QStringLiteral("-db"), QStringLiteral("-f"), configuration},
                                    folder.environment());
}

/// Asks one thing after the other through a proxy, streams and whole answers in turn, and keeps account.
class LoadClient
{
public:
    struct Account
    {
        int complete = 0;
        int cut = 0;              ///< streams that ended without saying that they are complete
        QList<QByteArray> faults; ///< what must not happen
    };

    LoadClient(const QString &base, const std::map<int, QByteArray> &expected, int offset)
        : m_client(base), m_expected(expected), m_number(offset)
    {
        next();
    }

    void serverDied() { m_startedBefore = true; }
    void stop() { m_stopping = true; }
    [[nodiscard]] bool idle() const { return m_stopping && (!m_reply || m_reply->isFinished()); }
    [[nodiscard]] const Account &account() const { return m_account; }

    /// To be called again and again.
    void look()
    {
        if (!m_reply || !m_reply->isFinished())
            return;
        judge(DeployClient::resultOf(*m_reply));
        m_reply.reset();
        if (!m_stopping)
            next();
    }

private:
    void next()
    {
        m_number = (m_number + 1) % static_cast<int>(m_expected.size());
        m_stream = !m_stream;
        m_startedBefore = false;
        m_reply = m_client.start(QStringLiteral("/v1/chat/completions"), chatRequest(m_number, m_stream));
    }
    void judge(const Exchange &exchange)
    {
        const QByteArray &expected = m_expected.at(m_number);
        if (m_stream && m_startedBefore && exchange.status == 200 && !streamEnded(exchange.body)) {
            ++m_account.cut; // visibly; and what has come is right
            if (!expected.startsWith(answerText(exchange.body, true)))
                m_account.faults += "wrong part of a stream: " + exchange.body;
            return;
        }
        if (exchange.status != 200 || (m_stream ? !streamEnded(exchange.body) : !exchange.whole))
            m_account.faults += "status " + QByteArray::number(exchange.status) + ": " + exchange.body;
        else if (answerText(exchange.body, m_stream) != expected)
            m_account.faults += "another text: " + exchange.body;
        else
            ++m_account.complete;
    }

    DeployClient m_client;
    const std::map<int, QByteArray> &m_expected;
    int m_number;
    bool m_stream = false;
    bool m_startedBefore = false; ///< the running request was sent before a server died
    bool m_stopping = false;
    std::unique_ptr<QNetworkReply> m_reply;
    Account m_account;
};

LoadClient::Account sum(const std::vector<std::unique_ptr<LoadClient>> &clients)
{
    LoadClient::Account all;
    for (const auto &client : clients) {
        all.complete += client->account().complete;
        all.cut += client->account().cut;
        all.faults += client->account().faults;
    }
    return all;
}

} // namespace

class TestDeploy : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void streamsPassUnbuffered_data() { proxies(); }
    void streamsPassUnbuffered();
    void bodiesAreLimited_data() { proxies(); }
    void bodiesAreLimited();
    void webSocketsPass_data() { proxies(); }
    void webSocketsPass();
    void hostsAreStillChecked_data() { proxies(); }
    void hostsAreStillChecked();
    void oneOfTwoServersDies();

private:
    static void proxies();
    [[nodiscard]] std::uint16_t port() const;
    [[nodiscard]] QString base(const QString &scheme) const;

    std::unique_ptr<DeployFolder> m_folder;
    std::unique_ptr<Server> m_first;
    std::unique_ptr<Server> m_second;
    std::unique_ptr<Daemon> m_nginx;
    std::unique_ptr<Daemon> m_haproxy;
    std::uint16_t m_nginxPort = 0;
    std::uint16_t m_haproxyPort = 0;
};

void TestDeploy::initTestCase()
{
    m_folder = std::make_unique<DeployFolder>();
    m_first = std::make_unique<Server>(*m_folder, freePort());
    m_second = std::make_unique<Server>(*m_folder, freePort());
    m_nginxPort = freePort();
    m_haproxyPort = freePort();
    m_nginx = startNginx(*m_folder, m_nginxPort, m_first->port());
    m_haproxy = startHaproxy(*m_folder, m_haproxyPort, m_first->port(), m_second->port());
    QVERIFY(waitForPort(m_nginxPort));
    QVERIFY(waitForPort(m_haproxyPort));
    QTRY_VERIFY_WITH_TIMEOUT(m_first->isReady() && m_second->isReady(), kPatienceMs);
    DeployClient haproxy(QStringLiteral("https://127.0.0.1:%1").arg(m_haproxyPort));
    QTRY_COMPARE_WITH_TIMEOUT(haproxy.ask(QStringLiteral("/v1/models")).status, 200, kPatienceMs); // it saw /health
}

void TestDeploy::cleanupTestCase()
{
    m_haproxy.reset();
    m_nginx.reset();
    m_second.reset();
    m_first.reset();
}

void TestDeploy::proxies()
{
    QTest::addColumn<bool>("nginx");
    QTest::newRow("nginx") << true;
    QTest::newRow("haproxy") << false;
}

std::uint16_t TestDeploy::port() const
{
    QFETCH(bool, nginx);
    return nginx ? m_nginxPort : m_haproxyPort;
}

QString TestDeploy::base(const QString &scheme) const
{
    return QStringLiteral("%1://127.0.0.1:%2").arg(scheme).arg(port());
}

void TestDeploy::streamsPassUnbuffered()
{
    // Its first canvas takes long, and before it settles only the stream's beginning comes: a proxy that collects would
    // hold that back. The client leaves then, and the server has to learn of it.
    const QByteArray body = R"({"model":"palimpsest-demo","stream":true,"max_tokens":512,"seed":1,
        "messages":[{"role":"user","content":"Write about the sea."}],
        "palimpsest":{"steps":10000,"confidence_threshold":0}})";
    DeployClient client(base(QStringLiteral("https")));
    std::unique_ptr<QNetworkReply> reply = client.start(QStringLiteral("/v1/chat/completions"), body);
    QTRY_VERIFY_WITH_TIMEOUT(reply->bytesAvailable() > 0 || reply->isFinished(), kPatienceMs);
    QVERIFY(!reply->isFinished());
    QVERIFY(reply->peek(1000).startsWith("data: {"));
    const auto inProgress = [this] {
        return m_first->repliesInProgress() + m_second->repliesInProgress();
    };
    QCOMPARE(inProgress(), 1);
    reply->abort();
    QTRY_COMPARE_WITH_TIMEOUT(inProgress(), 0, 4000); // a proxy that noticed only when it writes: 5 s, the next comment
}

void TestDeploy::bodiesAreLimited()
{
    // A client that waits to be told to go on is told what is wrong before it has sent anything.
    const QByteArray tooLarge =
        "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json"
        "\r\nExpect: 100-continue\r\nContent-Length: 33554433\r\n\r\n";
    const QByteArray refusal = askRaw(port(), tooLarge);
    QVERIFY2(refusal.startsWith("HTTP/1.1 413 "), refusal.constData());
    DeployClient client(base(QStringLiteral("https")));
    const QByteArray large = "{\"x\":\"" + QByteArray(8 << 20, 'x') + "\"}"; // passes, and is no request
    QCOMPARE(client.ask(QStringLiteral("/v1/chat/completions"), large).status, 400);
}

void TestDeploy::webSocketsPass()
{
    QWebSocket socket;
    QSslConfiguration anyCertificate;
    anyCertificate.setPeerVerifyMode(QSslSocket::VerifyNone);
    socket.setSslConfiguration(anyCertificate);
    QString greeting;
    connect(&socket, &QWebSocket::textMessageReceived, this, [&greeting](const QString &text) {
        if (greeting.isEmpty())
            greeting = text;
    });
    socket.open(QUrl(base(QStringLiteral("wss")) + QStringLiteral("/ws")));
    QTRY_VERIFY_WITH_TIMEOUT(!greeting.isEmpty(), kPatienceMs);
    QVERIFY2(greeting.contains(QStringLiteral("\"hello\"")), qPrintable(greeting));
    socket.close();
}

void TestDeploy::hostsAreStillChecked()
{
    DeployClient client(base(QStringLiteral("https")));
    QCOMPARE(client.ask(QStringLiteral("/v1/models")).status, 200);
    QCOMPARE(client.ask(QStringLiteral("/v1/models"), {}, {{"Host", "evil.example"}}).status, 403);
    QCOMPARE(client.ask(QStringLiteral("/v1/models"), {}, {{"Origin", "https://evil.example"}}).status, 403);
}

void TestDeploy::oneOfTwoServersDies()
{
    std::map<int, QByteArray> expected;
    for (int number = 0; number < 6; ++number) {
        const Exchange exchange =
            m_second->client().ask(QStringLiteral("/v1/chat/completions"), chatRequest(number, false));
        QCOMPARE(exchange.status, 200);
        expected[number] = answerText(exchange.body, false);
    }
    constexpr int kClients = 4;
    std::vector<std::unique_ptr<LoadClient>> clients;
    clients.reserve(kClients);
    for (int offset = 0; offset < kClients; ++offset)
        clients.push_back(
            std::make_unique<LoadClient>(QStringLiteral("https://127.0.0.1:%1").arg(m_haproxyPort), expected, offset));
    const auto completed = [&clients] {
        for (const auto &client : clients)
            client->look();
        return sum(clients).complete;
    };
    QTRY_VERIFY_WITH_TIMEOUT(completed() >= 8 && m_first->repliesInProgress() > 0, kPatienceMs);
    m_first->kill9();
    for (const auto &client : clients)
        client->serverDied();
    const int before = completed();
    QTRY_VERIFY_WITH_TIMEOUT(completed() >= before + 12, kPatienceMs);
    for (const auto &client : clients)
        client->stop();
    const auto allIdle = [&] {
        (void)completed();
        return std::all_of(clients.begin(), clients.end(), [](const auto &client) { return client->idle(); });
    };
    QTRY_VERIFY_WITH_TIMEOUT(allIdle(), kPatienceMs);
    const LoadClient::Account account = sum(clients);
    qInfo("%d answers complete, %d before the server died; %d streams cut, visibly", account.complete, before,
          account.cut);
    QVERIFY2(account.faults.isEmpty(), account.faults.join("\n").constData());
    QVERIFY(account.cut <= kClients);

    m_first = std::make_unique<Server>(*m_folder, m_first->port()); // and comes back
    QTRY_VERIFY_WITH_TIMEOUT(m_first->isReady(), kPatienceMs);
}

QTEST_GUILESS_MAIN(TestDeploy)
#include "tst_deploy.moc"
