// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QString>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace palimpsest::test {

using RequestFields = std::vector<std::pair<QByteArray, QByteArray>>;

struct Exchange
{
    int status = 0; ///< 0: no answer came
    QByteArray body;
    bool whole = false; ///< as far as HTTP tells
};

/// Sends requests to one base address, whatever its certificate says.
class DeployClient
{
public:
    explicit DeployClient(QString base) : m_base(std::move(base)) {}

    [[nodiscard]] std::unique_ptr<QNetworkReply> start(const QString &path, const QByteArray &body,
                                                       const RequestFields &fields = {});
    [[nodiscard]] static Exchange resultOf(QNetworkReply &reply);
    /// Waits for the answer; GET without a body.
    [[nodiscard]] Exchange ask(const QString &path, const QByteArray &body = {}, const RequestFields &fields = {});

private:
    QString m_base;
    QNetworkAccessManager m_manager;
};

/// Sends the bytes over TLS, and returns the beginning of what comes back.
[[nodiscard]] QByteArray askRaw(std::uint16_t port, const QByteArray &bytes);

/// The body of a chat request with a prompt and a seed of that number.
[[nodiscard]] QByteArray chatRequest(int number, bool stream);
/// The answer's text; of a stream, as far as it came.
[[nodiscard]] QByteArray answerText(const QByteArray &body, bool stream);
/// Whether a stream says that it is complete.
[[nodiscard]] bool streamEnded(const QByteArray &body);

} // namespace palimpsest::test
