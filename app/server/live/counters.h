// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace palimpsest::live {

/// What the live channel has done since the start; written on the server's thread, read anywhere.
struct Counters
{
    std::atomic<std::int64_t> windows{0}; ///< connected now
    std::atomic<std::int64_t> windowsTotal{0};
    std::atomic<std::int64_t> windowsCutOff{0}; ///< did not read, or fell silent
    std::atomic<std::int64_t> messagesIn{0};
    std::atomic<std::int64_t> messagesRefused{0};
    std::atomic<std::int64_t> messagesOut{0}; ///< frames not counted
    std::atomic<std::int64_t> framesOut{0};
    std::atomic<std::int64_t> framesMade{0}; ///< encoded once for all windows
    std::atomic<std::int64_t> charactersOut{0};
};

/// The counters as Prometheus reads them, for GET /metrics.
[[nodiscard]] std::string prometheusText(const Counters &counters);

} // namespace palimpsest::live
