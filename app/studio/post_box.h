// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QObject>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace palimpsest::studio {

/// Takes calls from any thread to the thread of an object; what comes when that object is gone is dropped. A member of
/// the object.
class PostBox
{
public:
    using Call = std::function<void()>;

    explicit PostBox(QObject *receiver) : m_state(std::make_shared<State>()) { m_state->receiver = receiver; }
    ~PostBox()
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->receiver = nullptr;
    }
    PostBox(const PostBox &) = delete;
    PostBox &operator=(const PostBox &) = delete;

    /// A function that any thread may call, also after the box has gone.
    [[nodiscard]] std::function<void(Call)> sender() const
    {
        return [state = m_state](Call call) {
            const std::lock_guard lock(state->mutex);
            if (state->receiver != nullptr)
                QMetaObject::invokeMethod(state->receiver, std::move(call), Qt::QueuedConnection);
        };
    }

private:
    struct State
    {
        std::mutex mutex;
        QObject *receiver = nullptr; ///< null when it is gone
    };
    std::shared_ptr<State> m_state;
};

} // namespace palimpsest::studio
