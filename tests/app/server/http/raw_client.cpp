// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/http/raw_client.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace palimpsest::test {

namespace {

constexpr int kTimeoutMs = 10'000; // far more than anything takes, also under sanitizers

} // namespace

std::string RawAnswer::field(std::string_view name) const
{
    const std::string *value = http::findField(fields, name);
    return value != nullptr ? *value : std::string();
}

RawClient::RawClient(std::uint16_t port) : m_descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(m_descriptor, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0)
        throw std::runtime_error("cannot connect to the server under test");
}

RawClient::~RawClient()
{
    leave();
}

RawClient::RawClient(RawClient &&other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)), m_buffer(std::move(other.m_buffer)), m_ended(other.m_ended)
{
}

bool RawClient::send(std::string_view bytes) const
{
    while (!bytes.empty()) {
        const ssize_t count = ::send(m_descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

void RawClient::finishSending() const
{
    ::shutdown(m_descriptor, SHUT_WR);
}

void RawClient::reset()
{
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(m_descriptor, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    leave();
}

void RawClient::leave()
{
    if (m_descriptor >= 0)
        ::close(std::exchange(m_descriptor, -1));
}

bool RawClient::fill(int timeoutMs)
{
    if (m_ended)
        return false;
    pollfd waiting{.fd = m_descriptor, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, timeoutMs) <= 0)
        return false;
    std::array<char, 65536> bytes{};
    const ssize_t count = ::recv(m_descriptor, bytes.data(), bytes.size(), 0);
    if (count <= 0) {
        m_ended = true;
        return false;
    }
    m_buffer.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
}

std::optional<std::string> RawClient::line()
{
    std::size_t end = m_buffer.find("\r\n");
    while (end == std::string::npos) {
        if (!fill(kTimeoutMs))
            return std::nullopt;
        end = m_buffer.find("\r\n");
    }
    std::string text = m_buffer.substr(0, end);
    m_buffer.erase(0, end + 2);
    return text;
}

bool RawClient::take(std::size_t count, std::string &out)
{
    while (m_buffer.size() < count) {
        if (!fill(kTimeoutMs)) {
            out += std::exchange(m_buffer, {});
            return false;
        }
    }
    out.append(m_buffer, 0, count);
    m_buffer.erase(0, count);
    return true;
}

bool RawClient::readBody(RawAnswer &answer)
{
    if (answer.field("transfer-encoding") == "chunked") {
        while (const auto size = line()) {
            std::string chunk;
            std::string end;
            const std::size_t count = std::stoul(*size, nullptr, 16);
            if (!take(count, chunk) || !take(2, end) || end != "\r\n")
                return false;
            if (count == 0)
                return true;
            answer.body += chunk;
            answer.chunks.push_back(std::move(chunk));
        }
        return false;
    }
    if (!answer.field("content-length").empty())
        return take(std::stoul(answer.field("content-length")), answer.body);
    if (answer.status == 204 || answer.status == 304 || answer.status < 200)
        return true;
    while (fill(kTimeoutMs)) {
    }
    answer.body = std::exchange(m_buffer, {});
    return m_ended;
}

std::optional<RawAnswer> RawClient::answer(bool headOnly)
{
    const auto status = line();
    if (!status || status->size() < 12 || !status->starts_with("HTTP/1.1 "))
        return std::nullopt;
    RawAnswer answer;
    answer.status = std::stoi(status->substr(9, 3));
    while (const auto text = line()) {
        if (text->empty()) {
            answer.complete = headOnly || readBody(answer);
            return answer;
        }
        const std::size_t colon = text->find(": ");
        if (colon == std::string::npos)
            return std::nullopt;
        answer.fields.push_back({text->substr(0, colon), text->substr(colon + 2)});
    }
    return std::nullopt;
}

std::string RawClient::rest()
{
    while (fill(kTimeoutMs)) {
    }
    return std::exchange(m_buffer, {});
}

bool RawClient::closed()
{
    (void)rest();
    return m_ended;
}

std::string RawClient::piece(int timeoutMs)
{
    if (m_buffer.empty())
        (void)fill(timeoutMs);
    return std::exchange(m_buffer, {});
}

} // namespace palimpsest::test
