// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QJsonArray>
#include <QJsonObject>
#include <QObject>
#include <QString>
#include <QUrl>
#include <QWebSocket>

#include <cstdint>
#include <functional>
#include <vector>

namespace palimpsest::test {

/// A window as a test drives it: sends messages, keeps everything it hears in order. Throws std::runtime_error for
/// what does not come in time.
class LiveClient : public QObject
{
    Q_OBJECT

public:
    using Wanted = std::function<bool(const QJsonObject &)>;

    enum class Frames { Confirm, Leave };
    /// Connects and waits for `hello`.
    explicit LiveClient(const QUrl &url, Frames frames = Frames::Confirm, const QByteArray &origin = {});

    void sendText(const QString &text) { m_socket.sendTextMessage(text); }
    /// Sends a message with a fresh `ref`, which it returns.
    std::int64_t send(const char *type, QJsonObject fields = {});
    /// Sends, and waits for the answer.
    QJsonObject ask(const char *type, const QJsonObject &fields = {});
    /// The answer has to be a reply.
    QJsonObject demand(const char *type, const QJsonObject &fields = {});
    /// The answer has to be an error; returns its code.
    QString refusal(const char *type, const QJsonObject &fields = {});

    /// The first message from `from` on that fits; waits for it.
    QJsonObject waitFor(const char *type, const Wanted &wanted = {}, std::size_t from = 0);
    QJsonObject answerTo(std::int64_t ref);
    /// All messages of a type so far.
    [[nodiscard]] std::vector<QJsonObject> heard(const char *type, const Wanted &wanted = {}) const;
    [[nodiscard]] const std::vector<QJsonObject> &log() const noexcept { return m_log; }
    [[nodiscard]] std::size_t mark() const noexcept { return m_log.size(); }

    /// Makes a document and opens it; returns its id.
    QString openNew(const QString &text, const QString &title = QStringLiteral("Draft"));
    /// The state of a document as a newcomer gets it.
    QJsonObject reopen(const QString &document);
    /// Waits until a run has ended; its last `run` message.
    QJsonObject waitForEnd(const QString &run);

    [[nodiscard]] QWebSocket &socket() noexcept { return m_socket; }
    [[nodiscard]] bool isClosed() const noexcept { return m_isClosed; }

    /// Called for every message before it is kept.
    std::function<void(const QJsonObject &)> onMessage;

private:
    void take(const QString &text);

    QWebSocket m_socket;
    Frames m_frames;
    std::vector<QJsonObject> m_log;
    std::int64_t m_ref = 0;
    bool m_isClosed = false;
};

} // namespace palimpsest::test
