// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/edit_request.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace palimpsest::openai {

using nlohmann::json;

namespace {

constexpr std::int64_t kMostCodePoints = 1LL << 31U;

std::int64_t readPlace(RequestFields &fields, const std::string &name, const std::string &document)
{
    const auto place = fields.integer(name, 0, kMostCodePoints);
    if (!place)
        refuse(name, "it is missing; the mode selection needs it");
    const auto byte = byteOfCodePoint(document, *place);
    if (!byte)
        refuse(name, std::to_string(*place) + " lies behind the document's last character");
    return *byte;
}

ByteRange readSelection(RequestFields &fields, const std::string &document, bool whole)
{
    if (whole)
        return {0, static_cast<std::int64_t>(document.size())};
    const ByteRange selection{readPlace(fields, "selection_start", document),
                              readPlace(fields, "selection_end", document)};
    if (selection.begin > selection.end)
        refuse("selection_end", "it lies before selection_start");
    return selection;
}

bool readsWhole(RequestFields &fields)
{
    const bool hasPlace = fields.find("selection_start") != nullptr || fields.find("selection_end") != nullptr;
    const std::string mode = fields.text("mode").value_or(hasPlace ? "selection" : "whole");
    if (mode != "selection" && mode != "whole")
        refuse("mode", "found " + shown(mode) + ", wanted selection or whole");
    return mode == "whole";
}

/// An instruction over a whole selection is followed best by a fresh answer, an insertion by the canvas, which sees
/// both sides; the same choice as `palimpsest edit` makes.
EditStrategy strategyFor(const EditRequest &edit)
{
    return edit.instruction.empty() || edit.selection.empty() ? EditStrategy::FrozenCanvas : EditStrategy::FreshAnswer;
}

} // namespace

PluginEdit readEditRequest(const json &body)
{
    RequestFields fields(body, "");
    PluginEdit request;
    request.model = fields.text("model");
    const auto code = fields.text("code");
    if (!code)
        refuse("code", "it is missing; the document is wanted");
    request.edit.document = *code;
    const bool whole = readsWhole(fields);
    request.edit.selection = readSelection(fields, request.edit.document, whole);
    request.edit.instruction = fields.text("instruction").value_or("");
    if (request.edit.instruction.empty() && whole)
        refuse("instruction", "it is missing; without one, a selection is filled in, and the mode whole has none");
    const std::string language = fields.text("language").value_or("");
    if (!language.empty() && !request.edit.instruction.empty())
        request.edit.instruction += "\n(The text is " + language + ".)";
    request.edit.strategy = strategyFor(request.edit);
    request.sampling = readSamplingFields(fields);
    fields.ignore({"stream"});
    request.unknownFields = fields.unknown();
    return request;
}

EditRequest infillOf(const CompletionRequest &request)
{
    EditRequest edit;
    edit.document = request.prompts.front().text + *request.suffix;
    const auto place = static_cast<std::int64_t>(request.prompts.front().text.size());
    edit.selection = {place, place};
    if (!request.sampling.maxTokens)
        return edit;
    // A gap has a length; several are tried, the longest as long as the answer may be.
    const std::int64_t most = *request.sampling.maxTokens;
    for (const std::int64_t part : {4, 2, 1}) {
        const std::int64_t length = std::max<std::int64_t>(1, most / part);
        if (std::ranges::find(edit.gapLengths, length) == edit.gapLengths.end())
            edit.gapLengths.push_back(length);
    }
    return edit;
}

void finishEdit(EditRequest &edit, const SamplingFields &sampling, const GenerationDefaults &defaults)
{
    edit.sampler = samplerSettings(sampling, defaults);
    edit.seed = seedOrRandom(sampling.seed);
}

} // namespace palimpsest::openai
