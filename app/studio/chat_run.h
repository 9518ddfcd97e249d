// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "engine/chat_format.h"

#include <QString>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace palimpsest::studio {

/// A question to the model, with what was said before it.
struct ChatQuestion
{
    std::vector<ChatMessage> messages;
    bool thinking = false;
};

/// What of an answer there is so far.
struct ChatProgress
{
    QString thoughts; ///< settled
    QString content;  ///< settled
    QString draft;    ///< of the canvas under way, which may still change
    int canvas = 0;   ///< from 1
    int step = 0;
};

/// How an answer ended.
struct ChatEnding
{
    QString thoughts;
    QString content;
    QString problem; ///< a sentence; "" = none
    std::uint64_t seed = 0;
    std::int64_t steps = 0;
    std::int64_t canvases = 0;
};

/// Asks the model, and tells by `tell` and `end` (exactly once) how it goes. Both are called on the scheduler's thread,
/// or the desk's, and must only post. Throws Error for what stands in the way at once: no chat format, a context that
/// is too long, a queue that is full.
[[nodiscard]] Ticket startChat(const std::shared_ptr<const RunningModel> &model, const ChatQuestion &question,
                               std::function<void(const ChatProgress &)> tell,
                               std::function<void(const ChatEnding &)> end);

} // namespace palimpsest::studio
