// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <memory>
#include <mutex>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <string>

namespace palimpsest::cli {

/// Log lines on standard error, held back while something is painted there.
class HoldableSink : public spdlog::sinks::base_sink<std::mutex>
{
public:
    void hold();    ///< any thread
    void release(); ///< any thread; writes what was held back

protected:
    void sink_it_(const spdlog::details::log_msg &message) override;
    void flush_() override {}

private:
    bool m_held = false; ///< guarded by the base's mutex, like m_text
    std::string m_text;
};

/// Holds a sink as long as it lives.
class LogHold
{
public:
    explicit LogHold(std::shared_ptr<HoldableSink> sink) : m_sink(std::move(sink)) { m_sink->hold(); }
    ~LogHold() { m_sink->release(); }
    LogHold(const LogHold &) = delete;
    LogHold &operator=(const LogHold &) = delete;

private:
    std::shared_ptr<HoldableSink> m_sink;
};

} // namespace palimpsest::cli
