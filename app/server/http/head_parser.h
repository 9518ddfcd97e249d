// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/message.h"
#include "app/server/http/target.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// Strict reading of HTTP/1.x request heads (RFC 9112): whatever two programs could understand differently is refused,
/// so that nothing can be smuggled past one of them. Pure: no network, no Qt, no state but the scanner's.
namespace palimpsest::http {

/// Why a head is refused.
struct HeadFault
{
    int status = 400;
    std::string message;
};

/// Finds the end of a head in bytes that come in pieces, and refuses at once what can be no head: a bare CR or LF, a
/// control character. Any split of the bytes gives the same result.
class HeadScanner
{
public:
    enum class State : std::uint8_t { More, Complete, Malformed };

    /// `received`: all bytes of the head so far; those of the last call come first again.
    [[nodiscard]] State scan(std::string_view received);
    /// How much was looked at; after Complete, how long the head is, with the empty line.
    [[nodiscard]] std::size_t headBytes() const noexcept { return m_position; }
    void reset() noexcept { *this = HeadScanner(); }

private:
    std::size_t m_position = 0;
    std::size_t m_lineBegin = 0;
    bool m_afterCr = false;
};

struct RequestHead
{
    std::string method;
    std::string targetText; ///< as it came
    Target target;
    int minorVersion = 1; ///< HTTP/1.x
    HeaderFields fields;
    std::string host;                           ///< value of Host; empty only for HTTP/1.0
    std::optional<std::uint64_t> contentLength; ///< never together with `chunked`
    bool chunked = false;
    bool keepAlive = true;
    bool expectsContinue = false;
    bool webSocketUpgrade = false;

    [[nodiscard]] const std::string *field(std::string_view name) const { return findField(fields, name); }
};

/// `text`: a whole head, with the empty line that ends it.
[[nodiscard]] std::variant<RequestHead, HeadFault> parseHead(std::string_view text);

/// Whether it is a token as RFC 9110 has it: names of methods and fields.
[[nodiscard]] bool isToken(std::string_view text);
/// Whether it may be a field's value: no control characters but HTAB.
[[nodiscard]] bool isFieldValue(std::string_view text);

/// Most header fields of a request.
inline constexpr std::size_t kMostFields = 100;

} // namespace palimpsest::http
