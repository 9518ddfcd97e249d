// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/status_routes.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace palimpsest::server {

namespace {

nlohmann::ordered_json errorObject(std::string message)
{
    return nlohmann::ordered_json::parse(
        http::errorBody({.message = std::move(message), .type = "server_error"}))["error"];
}

} // namespace

http::Response healthResponse(const EngineState &state)
{
    nlohmann::ordered_json body{
        {"status", "loading"}, {"progress", state.progress}, {"model", nullptr}, {"running", 0}, {"waiting", 0}};
    http::Response response{.status = 503, .fields = {{"Cache-Control", "no-store"}}};
    switch (state.phase) {
    case EngineState::Phase::Loading:
        response.fields.push_back({"Retry-After", "1"});
        body["error"] = errorObject("The model is still loading.");
        break;
    case EngineState::Phase::Failed:
        body["status"] = "error";
        body["error"] = errorObject(state.error ? state.error->what() : "The model failed.");
        break;
    case EngineState::Phase::Ready: {
        const DeskStatus desk = state.model->desk->status();
        response.status = 200;
        body["status"] = desk.running > 0 ? "busy" : "ready";
        body["progress"] = 1.0;
        body["model"] = state.model->id;
        body["running"] = desk.running;
        body["waiting"] = desk.waiting;
        break;
    }
    }
    response.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    return response;
}

void addStatusRoutes(http::Routes &routes, const EngineHost &engine, const Metrics &metrics,
                     std::function<http::GateFigures()> figures, std::function<std::string()> more)
{
    routes.add(
        "GET", "/health", [&engine](http::Call &) -> http::Answer { return healthResponse(engine.state()); },
        http::BodyType::Json, http::Access::Open);
    routes.add("GET", "/metrics",
               [&engine, &metrics, figures = std::move(figures), more = std::move(more)](http::Call &) -> http::Answer {
                   Gauges gauges{.gate = figures()};
                   if (const auto model = engine.model()) {
                       const DeskStatus desk = model->desk->status();
                       gauges.ready = true;
                       gauges.running = desk.running;
                       gauges.waiting = desk.waiting;
                       gauges.stepMs = desk.lastStepMs;
                   }
                   return http::Response{.type = "text/plain; version=0.0.4; charset=utf-8",
                                         .body = metrics.text(gauges) + more()};
               });
}

} // namespace palimpsest::server
