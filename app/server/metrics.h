// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/request_desk.h"
#include "app/server/http/gate.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace palimpsest::server {

/// Counts values in ranges, as Prometheus wants it.
class Histogram
{
public:
    explicit Histogram(std::vector<double> upperBounds);
    void observe(double value);
    /// Appends its lines, with the given labels (`a="b"`, or nothing).
    void write(std::string &text, std::string_view name, std::string_view labels = {}) const;

private:
    std::vector<double> m_upperBounds;   ///< rising
    std::vector<std::uint64_t> m_counts; ///< of each range, and of what is above them all
    double m_sum = 0.0;
};

/// What is true at the moment, as opposed to counted.
struct Gauges
{
    http::GateFigures gate = {};
    int running = 0;
    int waiting = 0;
    double stepMs = 0.0;
    bool ready = false;
};

/// What GET /metrics tells (Prometheus' text format). Tokens are those that settled, not canvases' positions: an answer
/// of three tokens counts three. Any thread.
class Metrics
{
public:
    Metrics();

    void requestServed(const http::Served &served);
    void runFinished(const FinishedRun &run);
    [[nodiscard]] std::string text(const Gauges &gauges) const;

private:
    using RequestLabels = std::tuple<std::string, std::string, int>; ///< route, method, status

    mutable std::mutex m_mutex; // guards all below
    std::map<RequestLabels, std::uint64_t> m_requests;
    Histogram m_answerSeconds;
    Histogram m_queueSeconds;
    Histogram m_firstSettledSeconds;
    std::uint64_t m_prefillTokens = 0;
    std::uint64_t m_reusedTokens = 0;
    std::uint64_t m_settledTokens = 0;
    std::uint64_t m_canvases = 0;
    std::uint64_t m_steps = 0;
    std::map<std::string, std::uint64_t> m_canvasStops;
    std::map<std::string, std::uint64_t> m_finishes; ///< how requests ended
};

} // namespace palimpsest::server
