// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_client.h"

#include <QJsonDocument>
#include <QNetworkRequest>
#include <QTest>

#include <chrono>
#include <stdexcept>

namespace palimpsest::test {

namespace {

constexpr std::chrono::seconds kPatience{60}; // sanitizers on a busy machine

QString textOf(const QJsonObject &message)
{
    return QString::fromUtf8(QJsonDocument(message).toJson(QJsonDocument::Compact));
}

void require(bool claim, const QString &complaint)
{
    if (!claim)
        throw std::runtime_error(complaint.toStdString());
}

bool fits(const QJsonObject &message, const char *type, const LiveClient::Wanted &wanted)
{
    return message.value(u"type").toString() == QLatin1String(type) && (!wanted || wanted(message));
}

} // namespace

LiveClient::LiveClient(const QUrl &url, Frames frames, const QByteArray &origin)
    : m_socket(QString::fromUtf8(origin)), m_frames(frames)
{
    connect(&m_socket, &QWebSocket::textMessageReceived, this, &LiveClient::take);
    connect(&m_socket, &QWebSocket::disconnected, this, [this] { m_isClosed = true; });
    m_socket.open(url);
    waitFor("hello");
}

std::int64_t LiveClient::send(const char *type, QJsonObject fields)
{
    fields.insert(QStringLiteral("type"), QLatin1String(type));
    fields.insert(QStringLiteral("ref"), static_cast<qint64>(++m_ref));
    m_socket.sendTextMessage(textOf(fields));
    return m_ref;
}

QJsonObject LiveClient::ask(const char *type, const QJsonObject &fields)
{
    return answerTo(send(type, fields));
}

QJsonObject LiveClient::demand(const char *type, const QJsonObject &fields)
{
    QJsonObject answer = ask(type, fields);
    require(fits(answer, "reply", {}), textOf(fields) + QStringLiteral(" -> ") + textOf(answer));
    return answer;
}

QString LiveClient::refusal(const char *type, const QJsonObject &fields)
{
    const QJsonObject answer = ask(type, fields);
    require(fits(answer, "error", {}), textOf(fields) + QStringLiteral(" -> ") + textOf(answer));
    require(!answer.value(u"message").toString().isEmpty(), QStringLiteral("an error says something"));
    return answer.value(u"code").toString();
}

QJsonObject LiveClient::waitFor(const char *type, const Wanted &wanted, std::size_t from)
{
    std::size_t looked = from;
    const auto isThere = [&] {
        for (; looked < m_log.size(); ++looked) {
            if (fits(m_log[looked], type, wanted))
                return true;
        }
        return m_isClosed;
    };
    const bool came = QTest::qWaitFor(isThere, static_cast<int>(std::chrono::milliseconds(kPatience).count()));
    require(came && looked < m_log.size(),
            QStringLiteral("no such message came: ") + QLatin1String(type) +
                (m_log.empty() ? QString() : QStringLiteral("; the last was ") + textOf(m_log.back()).left(400)));
    return m_log[looked];
}

QJsonObject LiveClient::answerTo(std::int64_t ref)
{
    std::size_t looked = 0;
    const auto isThere = [&] {
        for (; looked < m_log.size(); ++looked) {
            if (m_log[looked].value(u"ref").toInteger(-1) == ref)
                return true;
        }
        return m_isClosed;
    };
    const bool came = QTest::qWaitFor(isThere, static_cast<int>(std::chrono::milliseconds(kPatience).count()));
    require(came && looked < m_log.size(), QStringLiteral("no answer to message %1 came").arg(ref));
    return m_log[looked];
}

std::vector<QJsonObject> LiveClient::heard(const char *type, const Wanted &wanted) const
{
    std::vector<QJsonObject> found;
    for (const QJsonObject &message : m_log) {
        if (fits(message, type, wanted))
            found.push_back(message);
    }
    return found;
}

QString LiveClient::openNew(const QString &text, const QString &title)
{
    const QJsonObject made = demand("document.create", {{"title", title}, {"text", text}});
    QString document = made.value(u"document").toString();
    reopen(document);
    return document;
}

QJsonObject LiveClient::reopen(const QString &document)
{
    const std::size_t from = mark();
    demand("open", {{"document", document}});
    return waitFor(
        "document", [&](const QJsonObject &message) { return message.value(u"document").toString() == document; },
        from);
}

QJsonObject LiveClient::waitForEnd(const QString &run)
{
    return waitFor("run", [&](const QJsonObject &message) {
        const QString state = message.value(u"state").toString();
        return message.value(u"run").toString() == run &&
               (state == u"done" || state == u"stopped" || state == u"failed");
    });
}

void LiveClient::take(const QString &text)
{
    const QJsonDocument parsed = QJsonDocument::fromJson(text.toUtf8());
    require(parsed.isObject(), QStringLiteral("not an object: ") + text.left(200));
    const QJsonObject message = parsed.object();
    if (m_frames == Frames::Confirm && fits(message, "frame", {}))
        m_socket.sendTextMessage(textOf({{"type", "seen"},
                                         {"run", message.value(u"run")},
                                         {"lane", message.value(u"lane")},
                                         {"canvas", message.value(u"canvas")},
                                         {"step", message.value(u"step")}}));
    if (onMessage)
        onMessage(message);
    m_log.push_back(message);
}

} // namespace palimpsest::test
