// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/exchange.h"

#include <QHostAddress>
#include <algorithm>
#include <atomic>
#include <cstring>

namespace palimpsest::http {

namespace {

std::atomic<int> liveExchanges = 0; // counts only; nothing depends on it

} // namespace

Exchange::Exchange(QByteArray request) : m_request(std::move(request))
{
    ++liveExchanges;
    setPeerAddress(QHostAddress(QHostAddress::LocalHost));
    setLocalAddress(QHostAddress(QHostAddress::LocalHost));
    setSocketState(ConnectedState);
    QIODevice::open(ReadWrite);
}

Exchange::~Exchange()
{
    setSocketState(UnconnectedState);
    QIODevice::close(); // NOLINT(bugprone-parent-virtual-call): there is no socket that QAbstractSocket could close
    --liveExchanges;
}

void Exchange::begin()
{
    Q_EMIT readyRead();
}

void Exchange::end()
{
    setSocketState(UnconnectedState);
    Q_EMIT disconnected(); // Qt deletes the socket (6.4), or its stream together with the socket (6.5 and later)
}

qint64 Exchange::bytesAvailable() const
{
    // NOLINTNEXTLINE(bugprone-parent-virtual-call): nor one that could hold bytes
    return m_request.size() - m_read + QIODevice::bytesAvailable();
}

qint64 Exchange::readData(char *data, qint64 maxSize)
{
    const qint64 count = std::min<qint64>(maxSize, m_request.size() - m_read);
    std::memcpy(data, m_request.constData() + m_read, static_cast<std::size_t>(count));
    m_read += count;
    return count;
}

qint64 Exchange::writeData(const char * /*data*/, qint64 size)
{
    return size;
}

int Exchange::liveCount() noexcept
{
    return liveExchanges;
}

} // namespace palimpsest::http
