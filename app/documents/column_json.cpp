// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/column_json.h"

#include "engine/error.h"

#include <nlohmann/json.hpp>

namespace palimpsest::documents {

namespace {

using nlohmann::json;

template <typename Read>
auto readJson(std::string_view text, const std::string &subject, const Read &read)
{
    try {
        return read(json::parse(text));
    } catch (const json::exception &error) {
        throw Error(ErrorKind::InvalidInput, "document store: " + subject + " cannot be read: " + error.what(),
                    subject);
    }
}

} // namespace

std::string locksToJson(const std::vector<LockedRange> &locks)
{
    json list = json::array();
    for (const LockedRange &lock : locks)
        list.push_back(json::array({lock.begin, lock.end, lock.text}));
    return list.dump();
}

std::vector<LockedRange> locksFromJson(std::string_view text)
{
    return readJson(text, "locks", [](const json &list) {
        std::vector<LockedRange> locks;
        for (const json &lock : list) {
            locks.push_back({.begin = lock.at(0).get<std::int64_t>(),
                             .end = lock.at(1).get<std::int64_t>(),
                             .text = lock.at(2).get<std::string>()});
        }
        return locks;
    });
}

std::string modelOriginToJson(const ModelOrigin &model)
{
    // `sampler` and `figures` stay texts: they come back to the byte.
    return json{{"model", model.model},       {"seed", model.seed},
                {"action", model.action},     {"instruction", model.instruction},
                {"sampler", model.sampler},   {"steps", model.steps},
                {"canvases", model.canvases}, {"stop_reason", model.stopReason},
                {"figures", model.figures}}
        .dump();
}

ModelOrigin modelOriginFromJson(std::string_view text)
{
    return readJson(text, "origin of a revision", [](const json &fields) {
        return ModelOrigin{.model = fields.at("model").get<std::string>(),
                           .seed = fields.at("seed").get<std::uint64_t>(),
                           .action = fields.at("action").get<std::string>(),
                           .instruction = fields.at("instruction").get<std::string>(),
                           .sampler = fields.at("sampler").get<std::string>(),
                           .steps = fields.at("steps").get<std::int64_t>(),
                           .canvases = fields.at("canvases").get<std::int64_t>(),
                           .stopReason = fields.at("stop_reason").get<std::string>(),
                           .figures = fields.at("figures").get<std::string>()};
    });
}

} // namespace palimpsest::documents
