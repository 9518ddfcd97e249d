// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/call_queue.h"

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace palimpsest::studio {

/// Takes calls from any thread to the one that made the box; what comes when the box is gone is dropped. A member of
/// the object that the calls are about.
class PostBox
{
    struct State
    {
        std::mutex mutex;
        http::CallQueue *queue = nullptr; ///< null when it is gone
    };

public:
    using Call = std::function<void()>;

    class Sender
    {
    public:
        void operator()(Call call) const
        {
            const std::lock_guard lock(m_state->mutex);
            if (m_state->queue != nullptr)
                m_state->queue->post(std::move(call));
        }

    private:
        friend class PostBox;
        explicit Sender(std::shared_ptr<State> state) : m_state(std::move(state)) {}

        std::shared_ptr<State> m_state;
    };

    PostBox() { m_state->queue = &m_queue; }
    ~PostBox()
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->queue = nullptr;
    }
    PostBox(const PostBox &) = delete;
    PostBox &operator=(const PostBox &) = delete;

    /// What any thread may call, also after the box has gone.
    [[nodiscard]] Sender sender() const { return Sender(m_state); }

private:
    http::CallQueue m_queue;
    std::shared_ptr<State> m_state = std::make_shared<State>();
};

} // namespace palimpsest::studio
