// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/upgrade.h"

#include "app/server/http/access_policy.h"
#include "app/server/http/ascii.h"

#include <algorithm>

namespace palimpsest::http {

namespace {

constexpr std::size_t kHandshakeKeyBytes = 24; // 16 random bytes in base64

std::string withoutKeys(std::string_view offered)
{
    std::string kept;
    while (!offered.empty()) {
        const std::string_view member = offered.substr(0, offered.find(','));
        const std::string_view name = stripBlanks(member);
        if (!name.empty() && !name.starts_with(kKeySubprotocol))
            kept.append(kept.empty() ? "" : ", ").append(name);
        offered.remove_prefix(std::min(offered.size(), member.size() + 1));
    }
    return kept;
}

} // namespace

std::optional<std::string> upgradeFault(const RequestHead &head)
{
    const std::string *version = head.field("sec-websocket-version");
    const std::string *key = head.field("sec-websocket-key");
    if (head.method != "GET")
        return "A WebSocket is opened with GET.";
    if (version == nullptr || *version != "13")
        return "This server speaks version 13 of WebSocket, the one of RFC 6455.";
    if (key == nullptr || key->size() != kHandshakeKeyBytes)
        return "A WebSocket's handshake has a Sec-WebSocket-Key of 16 bytes in base64.";
    return std::nullopt;
}

std::string upgradeText(const RequestHead &head)
{
    std::string text = "GET " + head.target.encodedPath + " HTTP/1.1\r\n";
    for (const HeaderField &field : head.fields) {
        const std::string name = lowerCased(field.name);
        std::string value = field.value;
        if (name == "authorization" || name == "x-api-key" || name == "sec-websocket-extensions" || name == "cookie")
            continue;
        if (name == "sec-websocket-protocol") {
            value = withoutKeys(value);
            if (value.empty())
                continue;
        }
        text.append(field.name).append(": ").append(value).append("\r\n");
    }
    return text + "\r\n";
}

} // namespace palimpsest::http
