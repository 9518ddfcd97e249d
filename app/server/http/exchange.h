// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QByteArray>
#include <QTcpSocket>

namespace palimpsest::http {

/// What QHttpServer takes for a client's socket: one request that we wrote, and no network behind it.
///
/// QHttpServer 6.4 keeps a pointer to the socket of a request and to its state, and answers whatever it reads: a client
/// that leaves at the wrong moment is a use after free, a second request in the middle of a stream is answered there.
/// So it never gets a client's socket. What it writes is dropped, since the gate frames answers itself.
///
/// Belongs to whoever reacts to its disconnected(), that is QHttpServer, from the moment it is offered.
class Exchange : public QTcpSocket
{
    Q_OBJECT

public:
    explicit Exchange(QByteArray request);
    ~Exchange() override;

    void begin(); ///< lets QHttpServer read: when this returns the request was parsed and routed
    void end();   ///< lets QHttpServer forget it; it is deleted later

    [[nodiscard]] qint64 bytesAvailable() const override;
    [[nodiscard]] qint64 bytesToWrite() const override { return 0; }
    [[nodiscard]] bool isSequential() const override { return true; }
    void disconnectFromHost() override {}
    void close() override {}

    [[nodiscard]] static int liveCount() noexcept; ///< of the whole process, for tests

protected:
    qint64 readData(char *data, qint64 maxSize) override;
    qint64 writeData(const char *data, qint64 size) override;

private:
    QByteArray m_request;
    qint64 m_read = 0;
};

} // namespace palimpsest::http
