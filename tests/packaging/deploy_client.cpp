// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/packaging/deploy_client.h"

#include <QEventLoop>
#include <QSslSocket>

#include <nlohmann/json.hpp>

namespace palimpsest::test {

std::unique_ptr<QNetworkReply> DeployClient::start(const QString &path, const QByteArray &body,
                                                   const RequestFields &fields)
{
    QNetworkRequest request(QUrl(m_base + path));
    request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false); // a connection for each request under way
    request.setTransferTimeout(120'000);
    if (!body.isEmpty())
        request.setHeader(QNetworkRequest::ContentTypeHeader, QByteArray("application/json"));
    for (const auto &[name, value] : fields)
        request.setRawHeader(name, value);
    std::unique_ptr<QNetworkReply> reply(body.isEmpty() ? m_manager.get(request) : m_manager.post(request, body));
    reply->ignoreSslErrors();
    return reply;
}

Exchange DeployClient::resultOf(QNetworkReply &reply)
{
    return {.status = reply.attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt(),
            .body = reply.readAll(),
            .whole = reply.error() == QNetworkReply::NoError};
}

Exchange DeployClient::ask(const QString &path, const QByteArray &body, const RequestFields &fields)
{
    const std::unique_ptr<QNetworkReply> reply = start(path, body, fields);
    QEventLoop loop;
    QObject::connect(reply.get(), &QNetworkReply::finished, &loop, &QEventLoop::quit);
    if (!reply->isFinished())
        loop.exec();
    return resultOf(*reply);
}

QByteArray askRaw(std::uint16_t port, const QByteArray &bytes)
{
    constexpr int kPatienceMs = 30'000;
    QSslSocket socket;
    socket.setPeerVerifyMode(QSslSocket::VerifyNone); // the test's own certificate
    socket.connectToHostEncrypted(QStringLiteral("127.0.0.1"), port);
    if (!socket.waitForEncrypted(kPatienceMs))
        return "no connection: " + socket.errorString().toUtf8();
    socket.write(bytes);
    QByteArray answer;
    while (answer.isEmpty() && socket.waitForReadyRead(kPatienceMs)) // TLS has messages of its own
        answer = socket.readAll();
    return answer;
}

QByteArray chatRequest(int number, bool stream)
{
    const nlohmann::json body{
        {"model", "palimpsest-demo"},
        {"messages", {{{"role", "user"}, {"content", "Fix the spelling: teh cat number " + std::to_string(number)}}}},
        {"seed", number},
        {"max_tokens", 48},
        {"stream", stream},
        {"palimpsest", {{"steps", 4}}}};
    return QByteArray::fromStdString(body.dump());
}

QByteArray answerText(const QByteArray &body, bool stream)
{
    std::string text;
    if (!stream) {
        const nlohmann::json answer = nlohmann::json::parse(body.toStdString());
        return QByteArray::fromStdString(answer.at("choices").at(0).at("message").at("content").get<std::string>());
    }
    for (const QByteArray &line : body.split('\n')) {
        if (!line.startsWith("data: {") || !line.endsWith('}'))
            continue; // a comment, the end, or a line that was cut through
        const nlohmann::json chunk = nlohmann::json::parse(line.mid(6).toStdString(), nullptr, false);
        if (chunk.is_discarded() || chunk.at("choices").empty())
            continue;
        const nlohmann::json &delta = chunk.at("choices").at(0).at("delta");
        if (delta.contains("content") && delta.at("content").is_string())
            text += delta.at("content").get<std::string>();
    }
    return QByteArray::fromStdString(text);
}

bool streamEnded(const QByteArray &body)
{
    return body.contains("data: [DONE]\n\n");
}

} // namespace palimpsest::test
