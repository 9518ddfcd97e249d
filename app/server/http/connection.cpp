// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/connection.h"

#include "app/server/http/ascii.h"
#include "app/server/http/upgrade.h"

#include <QHostAddress>
#include <algorithm>
#include <array>

namespace palimpsest::http {

namespace {

constexpr std::array<std::string_view, 7> kMethods{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

bool hasBody(const RequestHead &head)
{
    return head.chunked || head.contentLength.value_or(0) > 0;
}

ErrorText tooLarge(std::size_t limit)
{
    return {.message = "The body is larger than this server takes: at most " + std::to_string(limit) + " bytes.",
            .code = "request_too_large"};
}

} // namespace

Connection::Connection(Gate &gate, QTcpSocket *socket, std::uint64_t number, Welcome welcome)
    : m_gate(gate), m_socket(socket), m_number(number)
{
    m_socket->setParent(this);
    m_socket->setReadBufferSize(static_cast<qint64>(limits().readBufferBytes));
    m_socket->setSocketOption(QAbstractSocket::LowDelayOption, 1); // events are small, and each is wanted at once
    for (QTimer *timer : {&m_deadline, &m_stall})
        timer->setSingleShot(true);
    m_ping.setInterval(limits().pingTime);
    connect(m_socket, &QTcpSocket::readyRead, this, &Connection::onReadyRead);
    connect(m_socket, &QTcpSocket::bytesWritten, this, &Connection::onBytesWritten);
    connect(m_socket, &QTcpSocket::disconnected, this, &Connection::onDisconnected);
    connect(&m_deadline, &QTimer::timeout, this, &Connection::onTimeout);
    connect(&m_stall, &QTimer::timeout, this, &Connection::cutOff);
    connect(&m_ping, &QTimer::timeout, this, &Connection::onPing);
    if (welcome == Welcome::TooMany)
        refuse(errorResponse(503, {.message = "Too many connections; try again in a moment.", .type = "server_error"},
                             {{"Retry-After", "1"}}));
    else
        arm(limits().idleTime);
}

Connection::~Connection()
{
    if (m_reply)
        m_reply->cancel();
    dropBody();
    if (m_claimed)
        --m_gate.m_replies;
    m_gate.m_leaving.erase(this);
}

void Connection::onReadyRead()
{
    if (m_phase == Phase::Linger) {
        m_socket->skip(m_socket->bytesAvailable());
        return;
    }
    if (!busy()) {
        advance();
        return;
    }
    if (m_input.size() + static_cast<std::size_t>(m_socket->bytesAvailable()) > limits().aheadBytes)
        cutOff();
}

void Connection::onDisconnected()
{
    if (m_phase == Phase::Gone)
        return;
    m_phase = Phase::Gone;
    for (QTimer *timer : {&m_deadline, &m_stall, &m_ping})
        timer->stop();
    if (m_reply)
        m_reply->cancel();
    m_gate.forget(this);
}

void Connection::onTimeout()
{
    switch (m_phase) {
    case Phase::Head:
        if (m_headTimed)
            refuse(408, "The request's head did not arrive in time.");
        else if (unsent() > 0)
            arm(limits().idleTime); // it still reads the last answer
        else
            cutOff();
        return;
    case Phase::Body:
        refuse(408, "The request's body did not arrive in time.");
        return;
    case Phase::Linger:
        cutOff();
        return;
    case Phase::Reply:
    case Phase::Gone:
        return;
    }
}

void Connection::advance()
{
    for (int done = 0; !busy(); ++done) {
        if (done == limits().burst) { // let others have a turn
            if (!m_resumeQueued)
                QMetaObject::invokeMethod(this, "resume", Qt::QueuedConnection);
            m_resumeQueued = true;
            return;
        }
        if (m_phase == Phase::Head && !readHead())
            return;
        if (m_phase == Phase::Body && !readBody())
            return;
        serve();
    }
}

void Connection::resume()
{
    m_resumeQueued = false;
    advance();
}

void Connection::readSocket(std::size_t most)
{
    const std::size_t count = std::min(most, static_cast<std::size_t>(m_socket->bytesAvailable()));
    const std::size_t before = m_input.size();
    m_input.resize(before + count);
    const qint64 got = m_socket->read(m_input.data() + before, static_cast<qint64>(count));
    m_input.resize(before + static_cast<std::size_t>(std::max<qint64>(got, 0)));
}

/// True: the head is there and allowed, and its body is what comes next.
bool Connection::readHead()
{
    while (true) {
        readSocket(limits().headBytes - std::min(m_input.size(), limits().headBytes));
        const HeadScanner::State state = m_scanner.scan(m_input);
        if (state == HeadScanner::State::Complete && m_scanner.headBytes() == 2) {
            m_input.erase(0, 2); // an empty line before a request is to be ignored
            m_scanner.reset();
            continue;
        }
        const bool tooLong = m_scanner.headBytes() >= limits().headBytes;
        if (state == HeadScanner::State::Complete && !tooLong)
            break;
        if (state == HeadScanner::State::Malformed) {
            refuse(400, "The request's head has a line that does not end with CR LF, or a control character.");
        } else if (tooLong) {
            refuse(431, "The request's head is larger than " + std::to_string(limits().headBytes) + " bytes.");
        } else if (!m_input.empty() && !m_headTimed) {
            m_headTimed = true;
            arm(limits().headTime);
        }
        return false;
    }
    auto parsed = parseHead(std::string_view(m_input).substr(0, m_scanner.headBytes()));
    m_input.erase(0, m_scanner.headBytes());
    m_scanner.reset();
    m_headTimed = false;
    m_deadline.stop();
    if (const auto *fault = std::get_if<HeadFault>(&parsed)) {
        refuse(fault->status, fault->message);
        return false;
    }
    return admit(std::move(std::get<RequestHead>(parsed)));
}

/// Decides on a head alone. What is not allowed may still keep its connection, unless a body is on its way.
bool Connection::admit(RequestHead head)
{
    m_head = std::move(head);
    m_keepAlive = m_head->keepAlive;
    m_early = earlyAnswer();
    if (m_early && hasBody(*m_head)) {
        refuse(std::move(*m_early));
        return false;
    }
    if (!m_early && m_head->webSocketUpgrade && m_gate.m_settings.dispatcher.webSocket(m_head->target.path) != nullptr)
        return upgrade();
    return beginBody();
}

std::optional<Response> Connection::earlyAnswer()
{
    const AccessPolicy &access = m_gate.m_settings.access;
    m_client.reset();
    if (auto refusal = access.refusal(*m_head, localAddress()))
        return refusal;
    m_originChecked = true;
    if (auto preflight = access.preflight(*m_head))
        return preflight;
    if (auto refusal = access.keyRefusal(*m_head, m_client))
        return refusal;
    if (std::find(kMethods.begin(), kMethods.end(), m_head->method) == kMethods.end()) {
        return errorResponse(501, {.message = "This server does not know the method " + m_head->method + ".",
                                   .code = "method_not_implemented"});
    }
    if (m_head->contentLength.value_or(0) > limits().bodyBytes)
        return errorResponse(413, tooLarge(limits().bodyBytes));
    return std::nullopt;
}

bool Connection::beginBody()
{
    m_phase = Phase::Body;
    m_chunks.reset();
    if (!hasBody(*m_head))
        return true;
    if (m_head->chunked)
        m_chunks.emplace(limits().bodyBytes);
    if (m_head->expectsContinue)
        write(kContinue);
    arm(limits().bodyTime);
    return true;
}

/// True: the body is complete.
bool Connection::readBody()
{
    if (!hasBody(*m_head))
        return true;
    if (m_chunks)
        return readChunkedBody();
    std::string &body = m_request.body;
    const std::size_t length = static_cast<std::size_t>(*m_head->contentLength);
    const std::size_t fromInput = std::min(length - body.size(), m_input.size());
    body.append(m_input, 0, fromInput);
    m_input.erase(0, fromInput);
    const std::size_t before = body.size();
    const std::size_t count = std::min(length - before, static_cast<std::size_t>(m_socket->bytesAvailable()));
    body.resize(before + count);
    const qint64 got = m_socket->read(body.data() + before, static_cast<qint64>(count));
    body.resize(before + static_cast<std::size_t>(std::max<qint64>(got, 0)));
    return countBody() && body.size() == length;
}

bool Connection::readChunkedBody()
{
    while (true) {
        readSocket(limits().headBytes - std::min(m_input.size(), limits().headBytes)); // what is left may be a head
        const ChunkDecoder::Progress progress = m_chunks->feed(m_input, m_request.body);
        m_input.erase(0, progress.consumed);
        if (progress.state == ChunkDecoder::State::Malformed) {
            refuse(400, "The chunks of the request's body are malformed.");
            return false;
        }
        if (progress.state == ChunkDecoder::State::TooLarge) {
            refuse(errorResponse(413, tooLarge(limits().bodyBytes)));
            return false;
        }
        if (!countBody())
            return false;
        if (progress.state == ChunkDecoder::State::Done)
            return true;
        if (m_socket->bytesAvailable() == 0)
            return false;
    }
}

/// Adds what came to the sum of all bodies. False: that is full, and the request was refused.
bool Connection::countBody()
{
    m_gate.m_bodyBytes += m_request.body.size() - m_countedBytes;
    m_countedBytes = m_request.body.size();
    if (m_gate.m_bodyBytes <= limits().allBodiesBytes)
        return true;
    refuse(errorResponse(
        503, {.message = "The server is receiving more than it can hold; try again.", .type = "server_error"},
        {{"Retry-After", "1"}}));
    return false;
}

void Connection::dropBody()
{
    m_gate.m_bodyBytes -= m_countedBytes;
    m_countedBytes = 0;
    m_request.body = {};
}

/// Always false: either the socket is a WebSocket's from now on, or the request was refused.
bool Connection::upgrade()
{
    if (const auto fault = upgradeFault(*m_head); fault || !m_input.empty() || hasBody(*m_head)) {
        refuse(400, fault.value_or("A WebSocket's handshake has no body, and nothing follows it unanswered."));
        return false;
    }
    m_deadline.stop();
    makeRequest();
    m_gate.upgrade(*this);
    return false;
}

QTcpSocket *Connection::release()
{
    m_phase = Phase::Gone;
    m_stall.stop();
    QTcpSocket *socket = m_socket;
    socket->disconnect(this);
    socket->setParent(nullptr);
    socket->setReadBufferSize(0);
    const std::string text = upgradeText(*m_head);
    std::for_each(text.rbegin(), text.rend(), [socket](char c) { socket->ungetChar(c); });
    return socket;
}

void Connection::arm(std::chrono::milliseconds time)
{
    m_deadline.start(time);
}

std::size_t Connection::unsent() const
{
    return static_cast<std::size_t>(m_socket->bytesToWrite());
}

bool Connection::busy() const
{
    return (m_phase != Phase::Head && m_phase != Phase::Body) || unsent() > limits().unsentBytes;
}

std::string Connection::localAddress() const
{
    bool isIpv4 = false; // also one that is written as IPv6, on a socket for both
    const quint32 address = m_socket->localAddress().toIPv4Address(&isIpv4);
    return (isIpv4 ? QHostAddress(address) : m_socket->localAddress()).toString().toStdString();
}

} // namespace palimpsest::http
