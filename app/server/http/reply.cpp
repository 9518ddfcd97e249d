// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/reply.h"

#include "app/server/http/reply_state.h"

#include <utility>

namespace palimpsest::http {

Reply::Reply(std::shared_ptr<ReplyState> state) : m_state(std::move(state)) {}

Reply &Reply::operator=(Reply &&other) noexcept
{
    if (this != &other) {
        if (m_state)
            m_state->drop();
        m_state = std::move(other.m_state);
    }
    return *this;
}

Reply::~Reply()
{
    if (m_state)
        m_state->drop();
}

void Reply::begin(Response head)
{
    m_state->begin(ReplyState::Kind::Stream, std::move(head));
}

void Reply::beginEvents(HeaderFields fields)
{
    fields.push_back({"Cache-Control", "no-cache"});
    fields.push_back({"X-Accel-Buffering", "no"}); // nginx would collect the events otherwise
    m_state->begin(
        ReplyState::Kind::Events,
        {.status = 200, .type = "text/event-stream; charset=utf-8", .body = {}, .fields = std::move(fields)});
}

bool Reply::push(std::string_view text)
{
    return m_state->push(text, ReplyState::Waiting::No);
}

bool Reply::pushWaiting(std::string_view text)
{
    return m_state->push(text, ReplyState::Waiting::Yes);
}

std::size_t Reply::pendingBytes() const
{
    return m_state->pendingBytes();
}

void Reply::finish()
{
    m_state->finish();
}

void Reply::finish(Response response)
{
    m_state->finish(std::move(response));
}

void Reply::abort()
{
    m_state->abort();
}

void Reply::onCancelled(std::function<void()> callback)
{
    m_state->onCancelled(std::move(callback));
}

bool Reply::cancelled() const
{
    return m_state->cancelled();
}

} // namespace palimpsest::http
