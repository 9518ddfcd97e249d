// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/log_sink.h"

#include "app/cli/terminal.h"

#include <unistd.h>

namespace palimpsest::cli {

void HoldableSink::hold()
{
    const std::lock_guard lock(mutex_);
    m_held = true;
}

void HoldableSink::release()
{
    const std::lock_guard lock(mutex_);
    m_held = false;
    writeAll(STDERR_FILENO, m_text);
    m_text.clear();
}

void HoldableSink::sink_it_(const spdlog::details::log_msg &message)
{
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (m_held)
        m_text.append(line.data(), line.size());
    else
        writeAll(STDERR_FILENO, {line.data(), line.size()});
}

} // namespace palimpsest::cli
