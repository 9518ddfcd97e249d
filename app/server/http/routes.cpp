// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/routes.h"

#include <cassert>
#include <utility>

namespace palimpsest::http {

Call::Call(const Request &request, std::shared_ptr<ReplyState> state) : m_request(request), m_state(std::move(state)) {}

Reply Call::claim()
{
    assert(!m_claimed);
    m_claimed = true;
    return Reply(m_state);
}

void Routes::add(std::string_view method, std::string_view pattern, Handler handler, BodyType body, Access access)
{
    assert(access == Access::Key || pattern.find('<') == std::string_view::npos);
    m_routes.push_back({std::string(method), std::string(pattern), std::move(handler), body, access});
}

void Routes::addWebSocket(std::string_view path, WebSocketHandler handler)
{
    m_webSockets.push_back({std::string(path), std::move(handler)});
}

} // namespace palimpsest::http
