// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/access_policy.h"

#include "app/server/http/ascii.h"
#include "engine/error.h"

#include <QByteArray>
#include <algorithm>
#include <array>

namespace palimpsest::http {

namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::string_view kEveryOrigin = "*";
constexpr std::array<std::string_view, 3> kLoopbackNames{"localhost", "127.0.0.1", "[::1]"};

struct HostAndPort
{
    std::string host;                  ///< lower case, an IPv6 address in brackets
    std::optional<std::uint16_t> port; ///< nothing if none was given
};

std::optional<HostAndPort> parseHost(std::string_view text)
{
    const std::size_t bracket = text.starts_with('[') ? text.find(']') : 0;
    if (bracket == std::string_view::npos)
        return std::nullopt;
    const std::size_t colon = text.find(':', bracket);
    HostAndPort result{lowerCased(text.substr(0, colon)), std::nullopt};
    if (colon == std::string_view::npos)
        return result;
    const std::string_view digits = text.substr(colon + 1);
    if (digits.empty() || digits.size() > 5 || !std::all_of(digits.begin(), digits.end(), isDigit))
        return std::nullopt;
    const int port = std::stoi(std::string(digits));
    if (port > 65535)
        return std::nullopt;
    result.port = static_cast<std::uint16_t>(port);
    return result;
}

std::string withBrackets(std::string_view address)
{
    const bool bare = address.find(':') != std::string_view::npos && !address.starts_with('[');
    return bare ? "[" + std::string(address) + "]" : std::string(address);
}

std::optional<std::string> keyFromSubprotocol(std::string_view offered)
{
    while (!offered.empty()) {
        const std::string_view member = offered.substr(0, offered.find(','));
        const std::string_view name = stripBlanks(member);
        if (name.starts_with(kKeySubprotocol)) {
            const std::string_view code = name.substr(kKeySubprotocol.size());
            const auto key =
                QByteArray::fromBase64Encoding(QByteArray(code.data(), std::ssize(code)),
                                               QByteArray::Base64UrlEncoding | QByteArray::OmitTrailingEquals |
                                                   QByteArray::AbortOnBase64DecodingErrors);
            return key ? std::optional((*key).toStdString()) : std::nullopt;
        }
        offered.remove_prefix(std::min(offered.size(), member.size() + 1));
    }
    return std::nullopt;
}

std::optional<std::string> keyOf(const RequestHead &head)
{
    constexpr std::string_view kBearer = "bearer ";
    if (const std::string *authorization = head.field("authorization");
        authorization != nullptr && equalsIgnoringCase(authorization->substr(0, kBearer.size()), kBearer))
        return std::string(stripBlanks(std::string_view(*authorization).substr(kBearer.size())));
    if (const std::string *key = head.field("x-api-key"))
        return *key;
    if (!head.webSocketUpgrade)
        return std::nullopt;
    for (const auto &[name, value] : head.target.query) {
        if (name == "key")
            return value;
    }
    const std::string *offered = head.field("sec-websocket-protocol");
    return offered != nullptr ? keyFromSubprotocol(*offered) : std::nullopt;
}

Response forbidden(std::string message, std::string code)
{
    return errorResponse(403, {.message = std::move(message), .type = "permission_error", .code = std::move(code)});
}

} // namespace

void requireOrigin(const std::string &origin)
{
    const std::size_t scheme = origin.find("://");
    const std::string_view host = scheme == std::string::npos ? "" : std::string_view(origin).substr(scheme + 3);
    const bool plain = host.find_first_of("/?#@*, \t") == std::string_view::npos;
    if (origin == kEveryOrigin || (scheme != 0 && !host.empty() && plain && parseHost(host)))
        return;
    throw Error(ErrorKind::InvalidArgument,
                "\"" + origin + "\" is no origin: SCHEME://HOST or SCHEME://HOST:PORT, without a path, or * for all",
                "allow-origin");
}

AccessPolicy::AccessPolicy(AccessSettings settings, std::set<std::string> openPaths)
    : m_settings(std::move(settings)), m_openPaths(std::move(openPaths))
{
    for (std::string &origin : m_settings.origins)
        origin = lowerCased(origin);
}

bool AccessPolicy::hostAllowed(std::string_view host, std::string_view localAddress) const
{
    const auto asked = parseHost(host);
    if (!asked)
        return false;
    const bool loopback = std::find(kLoopbackNames.begin(), kLoopbackNames.end(), asked->host) != kLoopbackNames.end();
    if (loopback || asked->host == withBrackets(localAddress)) {
        if (asked->port.value_or(kHttpPort) == m_port)
            return true;
    }
    return std::any_of(m_settings.hosts.begin(), m_settings.hosts.end(), [&asked](const std::string &allowed) {
        const auto name = parseHost(allowed);
        return name && name->host == asked->host && (!name->port || name->port == asked->port);
    });
}

bool AccessPolicy::originAllowed(std::string_view origin, std::string_view host) const
{
    const std::string asked = lowerCased(origin);
    const std::string ours = lowerCased(host);
    if (!ours.empty() && (asked == "http://" + ours || asked == "https://" + ours))
        return true;
    for (const std::string_view name : kLoopbackNames) {
        if (asked == "http://" + std::string(name) + ":" + std::to_string(m_port))
            return true;
    }
    return std::any_of(m_settings.origins.begin(), m_settings.origins.end(),
                       [&asked](const std::string &allowed) { return allowed == kEveryOrigin || allowed == asked; });
}

std::optional<Response> AccessPolicy::refusal(const RequestHead &head, std::string_view localAddress) const
{
    const bool hostMissing = head.minorVersion == 0 && head.host.empty(); // no browser does that
    if (!hostMissing && !hostAllowed(head.host, localAddress)) {
        return forbidden(
            "This server does not answer under that Host. It is reached as 127.0.0.1 or localhost with its "
            "port; other names are allowed with --allow-host.",
            "host_not_allowed");
    }
    const std::string *origin = head.field("origin");
    if (origin != nullptr && !originAllowed(*origin, head.host)) {
        return forbidden("Pages of this origin may not use this server; it can be allowed with --allow-origin.",
                         "origin_not_allowed");
    }
    return std::nullopt;
}

std::optional<Response> AccessPolicy::preflight(const RequestHead &head) const
{
    const std::string *method = head.field("access-control-request-method");
    if (head.method != "OPTIONS" || head.field("origin") == nullptr || method == nullptr)
        return std::nullopt;
    Response response{.status = 204, .type = {}, .body = {}, .fields = {}};
    response.fields.push_back({"Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"});
    if (const std::string *asked = head.field("access-control-request-headers")) {
        const bool plain = std::all_of(asked->begin(), asked->end(), [](char c) {
            return c == ',' || c == ' ' || isToken({&c, 1});
        });
        if (plain)
            response.fields.push_back({"Access-Control-Allow-Headers", *asked});
    }
    if (head.field("access-control-request-private-network") != nullptr)
        response.fields.push_back({"Access-Control-Allow-Private-Network", "true"});
    response.fields.push_back({"Access-Control-Max-Age", "600"});
    return response;
}

std::optional<Response> AccessPolicy::keyRefusal(const RequestHead &head, std::optional<std::string> &client) const
{
    if (m_settings.keys.empty() || m_openPaths.contains(head.target.path))
        return std::nullopt;
    const auto key = keyOf(head);
    client = key ? m_settings.keys.holder(*key) : std::nullopt;
    if (client)
        return std::nullopt;
    return errorResponse(
        401,
        {.message = key ? "The API key is wrong." : "An API key is needed: send it as Authorization: Bearer KEY.",
         .type = "authentication_error",
         .code = "invalid_api_key"},
        {{"WWW-Authenticate", "Bearer"}});
}

HeaderFields AccessPolicy::crossOriginFields(const RequestHead &head) const
{
    HeaderFields fields;
    const std::string *origin = head.field("origin");
    if (origin != nullptr) {
        fields.push_back({"Access-Control-Allow-Origin", *origin});
        fields.push_back(
            {"Access-Control-Expose-Headers", "x-request-id, openai-processing-ms, retry-after, retry-after-ms, etag"});
    }
    if (origin != nullptr || !m_settings.origins.empty())
        fields.push_back({"Vary", "Origin"});
    return fields;
}

} // namespace palimpsest::http
