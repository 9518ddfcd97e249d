// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/metrics.h"

#include "app/stop_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <numeric>
#include <utility>

namespace palimpsest::server {

namespace {

constexpr std::string_view kPrefix = "palimpsest_";

std::string escaped(std::string_view value)
{
    std::string text;
    for (const char c : value) {
        if (c == '"' || c == '\\')
            text += '\\';
        text += c == '\n' ? ' ' : c;
    }
    return text;
}

void writeHead(std::string &text, std::string_view name, std::string_view type, std::string_view help)
{
    fmt::format_to(std::back_inserter(text), "# HELP {0}{1} {3}\n# TYPE {0}{1} {2}\n", kPrefix, name, type, help);
}

void writeValue(std::string &text, std::string_view name, std::string_view type, std::string_view help, double value)
{
    writeHead(text, name, type, help);
    fmt::format_to(std::back_inserter(text), "{}{} {}\n", kPrefix, name, value);
}

void writeByLabel(std::string &text, std::string_view name, std::string_view label,
                  const std::map<std::string, std::uint64_t> &values)
{
    for (const auto &[value, count] : values)
        fmt::format_to(std::back_inserter(text), "{}{}{{{}=\"{}\"}} {}\n", kPrefix, name, label, escaped(value), count);
}

void writeGauges(std::string &text, const Gauges &gauges)
{
    writeValue(text, "model_ready", "gauge", "1 if the model answers.", gauges.ready ? 1 : 0);
    writeValue(text, "running_requests", "gauge", "Requests that the model works on.", gauges.running);
    writeValue(text, "queue_length", "gauge", "Requests that wait for the model.", gauges.waiting);
    writeValue(text, "step_seconds", "gauge", "Time of the last denoising step.", gauges.stepMs / 1000.0);
    writeValue(text, "connections", "gauge", "Open connections, WebSockets not counted.", gauges.gate.connections);
    writeValue(text, "websockets", "gauge", "Open WebSockets.", gauges.gate.webSockets);
    writeValue(text, "replies_in_progress", "gauge", "Requests whose answer is being made.", gauges.gate.replies);
    writeValue(text, "request_body_bytes", "gauge", "Bytes of request bodies in memory.",
               static_cast<double>(gauges.gate.bodyBytes));
}

} // namespace

Histogram::Histogram(std::vector<double> upperBounds)
    : m_upperBounds(std::move(upperBounds)), m_counts(m_upperBounds.size() + 1)
{
}

void Histogram::observe(double value)
{
    const auto bound = std::lower_bound(m_upperBounds.begin(), m_upperBounds.end(), value);
    ++m_counts[static_cast<std::size_t>(bound - m_upperBounds.begin())];
    m_sum += value;
}

void Histogram::write(std::string &text, std::string_view name, std::string_view labels) const
{
    const std::string_view comma = labels.empty() ? "" : ",";
    const std::string braced = labels.empty() ? "" : fmt::format("{{{}}}", labels);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < m_upperBounds.size(); ++i) {
        below += m_counts[i];
        fmt::format_to(std::back_inserter(text), "{}{}_bucket{{{}{}le=\"{}\"}} {}\n", kPrefix, name, labels, comma,
                       m_upperBounds[i], below);
    }
    below += m_counts.back();
    fmt::format_to(std::back_inserter(text),
                   "{0}{1}_bucket{{{2}{3}le=\"+Inf\"}} {4}\n{0}{1}_sum{5} {6}\n{0}{1}_count{5} {4}\n", kPrefix, name,
                   labels, comma, below, braced, m_sum);
}

Metrics::Metrics()
    : m_answerSeconds({0.001, 0.01, 0.1, 1.0, 10.0, 60.0, 300.0}),
      m_queueSeconds({0.001, 0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0}),
      m_firstSettledSeconds({0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0})
{
}

void Metrics::requestServed(const http::Served &served)
{
    const std::lock_guard lock(m_mutex);
    ++m_requests[{served.route.empty() ? "none" : served.route, served.method, served.status}];
    m_answerSeconds.observe(served.milliseconds / 1000.0);
}

void Metrics::runFinished(const FinishedRun &run)
{
    const std::lock_guard lock(m_mutex);
    m_queueSeconds.observe(run.queueMs / 1000.0);
    if (run.firstSettledMs)
        m_firstSettledSeconds.observe(*run.firstSettledMs / 1000.0);
    const auto *result = std::get_if<GenerationResult>(&run.outcome);
    if (result == nullptr) {
        ++m_finishes["error"];
        return;
    }
    ++m_finishes[std::string(nameOf(result->finish))];
    m_settledTokens += result->tokens.size();
    m_canvases += result->canvases.size();
    for (const CanvasRecord &canvas : result->canvases) {
        m_steps += static_cast<std::uint64_t>(canvas.steps);
        ++m_canvasStops[std::string(nameOf(canvas.stop))];
    }
    if (result->prefillMs <= 0.0)
        return; // it never ran
    m_reusedTokens += static_cast<std::uint64_t>(result->reusedPromptTokens);
    m_prefillTokens += static_cast<std::uint64_t>(result->promptTokens - result->reusedPromptTokens);
}

std::string Metrics::text(const Gauges &gauges) const
{
    std::string text;
    writeGauges(text, gauges);
    const std::lock_guard lock(m_mutex);
    writeHead(text, "http_requests_total", "counter", "HTTP requests by pattern, method and status.");
    for (const auto &[labels, count] : m_requests) {
        const auto &[route, method, status] = labels;
        fmt::format_to(std::back_inserter(text),
                       "{}http_requests_total{{route=\"{}\",method=\"{}\",status=\"{}\"}} {}\n", kPrefix,
                       escaped(route), escaped(method), status, count);
    }
    writeHead(text, "http_answer_seconds", "histogram",
              "Time from a complete request to the first byte of its answer.");
    m_answerSeconds.write(text, "http_answer_seconds");
    writeHead(text, "queue_seconds", "histogram", "Time that requests waited for the model.");
    m_queueSeconds.write(text, "queue_seconds");
    writeHead(text, "first_settled_seconds", "histogram", "Time from a request to its first final text.");
    m_firstSettledSeconds.write(text, "first_settled_seconds");
    const auto counter = [&text](std::string_view name, std::string_view help, std::uint64_t value) {
        writeValue(text, name, "counter", help, static_cast<double>(value));
    };
    counter("prefill_tokens_total", "Prompt tokens that the model read.", m_prefillTokens);
    counter("reused_tokens_total", "Prompt tokens that were still in the cache.", m_reusedTokens);
    counter("settled_tokens_total", "Tokens of answers.", m_settledTokens);
    counter("canvases_total", "Canvases that were denoised.", m_canvases);
    counter("steps_total", "Denoising steps, each canvas of a batch counted.", m_steps);
    writeHead(text, "canvas_stops_total", "counter", "Canvases by what ended them.");
    writeByLabel(text, "canvas_stops_total", "reason", m_canvasStops);
    writeHead(text, "runs_total", "counter", "Passes through the model by how they ended.");
    writeByLabel(text, "runs_total", "finish", m_finishes);
    return text;
}

} // namespace palimpsest::server
