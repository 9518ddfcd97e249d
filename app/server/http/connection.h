// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/answer_head.h"
#include "app/server/http/chunk_decoder.h"
#include "app/server/http/gate.h"
#include "app/server/http/head_parser.h"
#include "app/server/http/reply_state.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTcpSocket>
#include <QTimer>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace palimpsest::http {

/// One client's socket: reads requests strictly one after the other, has each answered through the gate, and writes the
/// answers in order. Lives on the server's thread; the gate owns it.
class Connection : public QObject
{
    Q_OBJECT

public:
    enum class Welcome : std::uint8_t { Served, TooMany };

    Connection(Gate &gate, QTcpSocket *socket, std::uint64_t number, Welcome welcome);
    ~Connection() override; ///< cancels the reply that is under way

    /// The route's answer to the running request, while it is offered.
    void answer(const std::string &pattern, std::vector<std::string> arguments);

    // For the gate, when the client changes to WebSocket.
    [[nodiscard]] const Request &request() const noexcept { return m_request; }
    /// Gives the socket away, with an upgrade request that we wrote as if it were unread.
    [[nodiscard]] QTcpSocket *release();

private:
    enum class Phase : std::uint8_t {
        Head,
        Body,
        Reply,  ///< its answer is being made; the next request waits
        Linger, ///< the last answer is written; what the client still sends is dropped
        Gone,
    };

    void onReadyRead();
    void onBytesWritten();
    void onDisconnected();
    void onTimeout();
    void onPing();

    // Reading: connection.cpp.
    void advance();
    Q_INVOKABLE void resume();
    [[nodiscard]] bool readHead();
    [[nodiscard]] bool admit(RequestHead head);
    [[nodiscard]] std::optional<Response> earlyAnswer();
    [[nodiscard]] bool beginBody();
    [[nodiscard]] bool readBody();
    [[nodiscard]] bool readChunkedBody();
    void readSocket(std::size_t most);
    [[nodiscard]] bool countBody();
    void dropBody();
    [[nodiscard]] bool upgrade();

    // Answering: connection_answer.cpp.
    void serve();
    void makeRequest();
    Q_INVOKABLE void drain();
    void send(Response response);
    void startAnswer(const Response &response, ReplyState::Kind kind);
    void writeText(std::string_view text);
    void endAnswer();
    void refuse(Response response); ///< answers, and closes
    void refuse(int status, std::string message);
    void linger();
    void halfClose();
    void cutOff();
    void write(std::string_view bytes);

    void arm(std::chrono::milliseconds time);
    [[nodiscard]] std::size_t unsent() const;
    [[nodiscard]] bool busy() const;
    [[nodiscard]] const Limits &limits() const { return m_gate.m_settings.limits; }
    [[nodiscard]] std::string localAddress() const;

    Gate &m_gate;
    QTcpSocket *m_socket; ///< a child, until it is released
    const std::uint64_t m_number;
    Phase m_phase = Phase::Head;
    QTimer m_deadline; ///< of the phase
    QTimer m_stall;    ///< runs while bytes of an answer wait to leave
    QTimer m_ping;     ///< runs during a stream of events

    std::string m_input; ///< received, and not yet part of a request
    HeadScanner m_scanner;
    bool m_headTimed = false;
    bool m_resumeQueued = false;

    // The running request.
    std::optional<RequestHead> m_head;
    Request m_request;
    std::optional<std::string> m_client; ///< holder of the key
    std::optional<ChunkDecoder> m_chunks;
    std::size_t m_countedBytes = 0;  ///< of its body, in the gate's sum
    std::optional<Response> m_early; ///< an answer that needs no handler
    bool m_originChecked = false;
    QElapsedTimer m_sinceComplete;

    // Its answer.
    std::string m_pattern;           ///< that it matched
    std::optional<Response> m_whole; ///< if it was not claimed
    std::shared_ptr<ReplyState> m_reply;
    bool m_claimed = false;
    Framing m_framing = Framing::Length;
    bool m_keepAlive = true;
    bool m_halfClosed = false;
};

} // namespace palimpsest::http
