// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/ascii.h"
#include "app/server/http/connection.h"

#include <QHostAddress>
#include <QRandomGenerator>
#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <utility>

namespace palimpsest::http {

namespace {

/// Fields that concern one hop, or hold a key: a handler never sees them.
constexpr std::array<std::string_view, 12> kHiddenFields{
    "authorization",          "connection", "cookie",  "expect",  "keep-alive", "proxy-authorization",
    "sec-websocket-protocol", "te",         "trailer", "upgrade", "x-api-key",  "transfer-encoding"};

std::string freshRequestId()
{
    return fmt::format("req_{:016x}", QRandomGenerator::global()->generate64());
}

bool isHidden(const HeaderField &field)
{
    const std::string name = lowerCased(field.name);
    return std::find(kHiddenFields.begin(), kHiddenFields.end(), name) != kHiddenFields.end();
}

} // namespace

void Connection::makeRequest()
{
    m_request.method = m_head->method == "HEAD" ? "GET" : m_head->method;
    m_request.path = m_head->target.path;
    for (const auto &parameter : m_head->target.query) {
        if (parameter.first != "key")
            m_request.query.push_back(parameter);
    }
    for (const HeaderField &field : m_head->fields) {
        if (!isHidden(field))
            m_request.fields.push_back(field);
    }
    m_request.client = m_client.value_or("connection-" + std::to_string(m_number));
    m_request.peer = peerText(m_socket->peerAddress(), m_socket->peerPort());
    m_request.id = freshRequestId();
}

void Connection::serve()
{
    m_deadline.stop();
    m_sinceComplete.start();
    m_phase = Phase::Reply;
    makeRequest();
    if (m_early) {
        send(std::move(*m_early));
        return;
    }
    m_reply = std::make_shared<ReplyState>();
    m_gate.offer(m_head->target.encodedPath, this);
    dropBody();
    if (m_claimed) {
        ++m_gate.m_replies;
        m_reply->attach(this);
    } else {
        send(m_whole ? std::move(*m_whole)
                     : errorResponse(500, {.message = "The server did not route this request.", .type = "api_error"}));
    }
}

void Connection::answer(const std::string &pattern, std::vector<std::string> arguments)
{
    m_pattern = pattern;
    m_request.arguments = std::move(arguments);
    Call call(m_request, m_reply);
    m_whole = m_gate.m_settings.dispatcher.answer(pattern, call);
    m_claimed = call.claimed() && !m_whole;
    if (call.claimed() && m_whole) // the handler changed its mind, or threw: its answer counts
        m_reply->cancel();
}

/// Queued by the reply when it has something, and called when the socket has room again.
void Connection::drain()
{
    if (m_phase != Phase::Reply || !m_claimed || m_socket->state() != QAbstractSocket::ConnectedState)
        return; // a wake-up may come after the answer, or after the client left
    ReplyState::Taken taken = m_reply->take(unsent());
    if (taken.end == ReplyState::End::CutOff) {
        spdlog::info("{} does not read its answer and is cut off", m_request.peer);
        cutOff();
        return;
    }
    if (taken.head && taken.kind == ReplyState::Kind::Whole) {
        taken.head->body = std::move(taken.text);
        send(std::move(*taken.head));
        advance();
        return;
    }
    if (taken.head && !isSound(*taken.head)) {
        m_reply->cancel();
        send(std::move(*taken.head));
        return;
    }
    // A wake-up may also be for the answer before this one: without a head there is nothing to end yet.
    const bool headIsAll = taken.head && m_head->method == "HEAD";
    if (taken.head)
        startAnswer(*taken.head, taken.kind);
    writeText(taken.text);
    if (taken.end == ReplyState::End::Aborted) {
        m_keepAlive = false;
        m_framing = Framing::UntilClose; // no last chunk: the client shall see that it is cut short
    }
    if (headIsAll)
        m_reply->cancel();
    if (taken.end != ReplyState::End::Open || headIsAll) {
        endAnswer();
        advance();
    }
}

void Connection::send(Response response)
{
    if (!isSound(response)) {
        spdlog::error("the answer to {} {} has a broken header field ({})", m_request.method, m_request.path,
                      m_request.id);
        response = errorResponse(
            500, {.message = "The server made a broken answer; please report it with its id, " + m_request.id + ".",
                  .type = "api_error"});
    }
    startAnswer(response, ReplyState::Kind::Whole);
    const bool noBody = response.status == 204 || response.status == 304 || (m_head && m_head->method == "HEAD");
    if (!noBody)
        write(response.body);
    endAnswer();
}

void Connection::startAnswer(const Response &response, ReplyState::Kind kind)
{
    const bool old = m_head && m_head->minorVersion == 0;
    m_framing = kind == ReplyState::Kind::Whole ? Framing::Length : old ? Framing::UntilClose : Framing::Chunked;
    if (m_framing == Framing::UntilClose)
        m_keepAlive = false;
    if (m_request.id.empty())
        m_request.id = freshRequestId();
    const double elapsedMs =
        m_sinceComplete.isValid() ? static_cast<double>(m_sinceComplete.nsecsElapsed()) / 1e6 : 0.0;
    HeaderFields fields{{"x-request-id", m_request.id},
                        {"openai-processing-ms", std::to_string(static_cast<std::int64_t>(elapsedMs))},
                        {"X-Content-Type-Options", "nosniff"}};
    if (m_originChecked) {
        for (HeaderField &field : m_gate.m_settings.access.crossOriginFields(*m_head))
            fields.push_back(std::move(field));
    }
    write(answerHeadText({.response = response,
                          .framing = m_framing,
                          .bodyBytes = response.body.size(),
                          .keepAlive = m_keepAlive,
                          .sayKeepAlive = old,
                          .fields = std::move(fields),
                          .now = std::time(nullptr)}));
    if (kind == ReplyState::Kind::Events)
        m_ping.start();
    if (m_gate.m_settings.served)
        m_gate.m_settings.served({m_pattern, m_head ? m_head->method : "", response.status, elapsedMs});
}

void Connection::writeText(std::string_view text)
{
    if (text.empty() || m_head->method == "HEAD")
        return;
    if (m_framing == Framing::Chunked)
        write(chunkText(text));
    else
        write(text);
    if (m_ping.isActive())
        m_ping.start();
}

void Connection::onPing()
{
    if (m_phase == Phase::Reply && unsent() == 0)
        writeText(": ping\n\n");
}

void Connection::endAnswer()
{
    if (m_framing == Framing::Chunked && m_head->method != "HEAD")
        write("0\r\n\r\n");
    m_ping.stop();
    if (m_claimed)
        --m_gate.m_replies;
    if (m_reply)
        m_reply->detach();
    m_claimed = false;
    m_reply.reset();
    m_whole.reset();
    m_early.reset();
    m_pattern.clear();
    dropBody();
    m_request = {};
    m_head.reset();
    m_originChecked = false;
    m_sinceComplete.invalidate();
    if (!m_keepAlive) {
        linger();
        return;
    }
    m_phase = Phase::Head;
    arm(limits().idleTime);
}

void Connection::refuse(Response response)
{
    m_keepAlive = false;
    m_deadline.stop();
    m_phase = Phase::Reply;
    send(std::move(response));
}

void Connection::refuse(int status, std::string message)
{
    refuse(errorResponse(status, {.message = std::move(message)}));
}

/// Closes so that the client can still read the answer: closing a socket with unread input resets it, and the answer
/// that explains why is lost.
void Connection::linger()
{
    m_phase = Phase::Linger;
    m_input = {};
    m_socket->skip(m_socket->bytesAvailable());
    if (unsent() == 0)
        halfClose();
}

void Connection::halfClose()
{
    if (m_halfClosed)
        return;
    m_halfClosed = true;
    ::shutdown(static_cast<int>(m_socket->socketDescriptor()), SHUT_WR);
    arm(limits().lingerTime);
}

void Connection::cutOff()
{
    if (m_phase == Phase::Gone)
        return;
    m_socket->abort();
    onDisconnected(); // abort() is silent where the client has left
}

void Connection::write(std::string_view bytes)
{
    m_socket->write(bytes.data(), std::ssize(bytes));
    if (!m_stall.isActive())
        m_stall.start(limits().stallTime);
}

void Connection::onBytesWritten()
{
    if (unsent() > 0) {
        m_stall.start(limits().stallTime);
    } else {
        m_stall.stop();
        if (m_phase == Phase::Linger)
            halfClose();
    }
    if (m_phase == Phase::Reply)
        drain();
    else if (m_phase == Phase::Head && (!m_input.empty() || m_socket->bytesAvailable() > 0))
        advance();
}

} // namespace palimpsest::http
