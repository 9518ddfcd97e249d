// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/single_instance.h"

#include <QCryptographicHash>
#include <QLocalSocket>

namespace palimpsest::studio {

namespace {

constexpr int kWaitMs = 1000;
constexpr qint64 kMostBytes = 64 * 1024;

} // namespace

SingleInstance::SingleInstance(const QString &profile, QObject *parent)
    : QObject(parent),
      m_name(
          QStringLiteral("palimpsest-") +
          QString::fromLatin1(QCryptographicHash::hash(profile.toUtf8(), QCryptographicHash::Sha256).toHex().left(16)))
{
    m_server.setSocketOptions(QLocalServer::UserAccessOption); // no other user's program hands files over
    connect(&m_server, &QLocalServer::newConnection, this, &SingleInstance::take);
}

bool SingleInstance::handOver(const QStringList &files)
{
    QLocalSocket socket;
    socket.connectToServer(m_name);
    if (socket.waitForConnected(kWaitMs)) {
        socket.write(files.join(u'\n').toUtf8() + '\0');
        return socket.waitForBytesWritten(kWaitMs);
    }
    // Nobody answers: what is left of a studio that was killed goes.
    if (!m_server.listen(m_name)) {
        QLocalServer::removeServer(m_name);
        m_server.listen(m_name);
    }
    return false;
}

void SingleInstance::take()
{
    while (QLocalSocket *socket = m_server.nextPendingConnection()) {
        connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
        connect(socket, &QLocalSocket::readyRead, this, [this, socket] {
            if (socket->bytesAvailable() > kMostBytes) {
                socket->abort();
                return;
            }
            const QByteArray text = socket->peek(kMostBytes);
            if (!text.endsWith('\0'))
                return;
            socket->readAll();
            Q_EMIT asked(QString::fromUtf8(text.chopped(1)).split(u'\n', Qt::SkipEmptyParts));
        });
    }
}

} // namespace palimpsest::studio
