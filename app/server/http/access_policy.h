// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/api_keys.h"
#include "app/server/http/head_parser.h"
#include "app/server/http/message.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::http {

/// What a person allowed beyond what is safe by default.
struct AccessSettings
{
    ApiKeys keys = {};
    /// Names under which the server may be reached, besides loopback's and the address of the connection: NAME for any
    /// port (behind a proxy), NAME:PORT for one.
    std::vector<std::string> hosts = {};
    std::vector<std::string> origins = {}; ///< SCHEME://HOST[:PORT] of other pages, or * for all
};

/// Throws Error InvalidArgument for an origin that has another form than AccessSettings says: it would never match.
void requireOrigin(const std::string &origin);

/// Decides who may ask, from a request's head alone.
///
/// Host keeps out pages that gave their own name our address (DNS rebinding), Origin keeps out pages that post without
/// asking, the key everybody who has none. Values only; the server's thread uses it.
class AccessPolicy
{
public:
    /// `openPaths` need no key.
    AccessPolicy(AccessSettings settings, std::set<std::string> openPaths);

    void setPort(std::uint16_t port) { m_port = port; }

    /// The answer to a request that may go no further, or nothing. `localAddress`: where the connection came in.
    [[nodiscard]] std::optional<Response> refusal(const RequestHead &head, std::string_view localAddress) const;
    /// The answer to a preflight of a page that may ask (call after refusal()), or nothing for any other request.
    [[nodiscard]] std::optional<Response> preflight(const RequestHead &head) const;
    /// The answer to a request without the key it needs, or nothing. Sets `client` if there is a key.
    [[nodiscard]] std::optional<Response> keyRefusal(const RequestHead &head, std::optional<std::string> &client) const;
    /// What lets the page that asked read the answer: for every answer, errors too, after refusal() found none.
    [[nodiscard]] HeaderFields crossOriginFields(const RequestHead &head) const;

private:
    [[nodiscard]] bool hostAllowed(std::string_view host, std::string_view localAddress) const;
    [[nodiscard]] bool originAllowed(std::string_view origin, std::string_view host) const;

    AccessSettings m_settings;
    std::set<std::string> m_openPaths;
    std::uint16_t m_port = 0;
};

/// The subprotocol under which a browser page may send its API key when it opens a WebSocket, where it can set no
/// field: this prefix and the key in base64url without padding.
inline constexpr std::string_view kKeySubprotocol = "palimpsest.key.";

} // namespace palimpsest::http
