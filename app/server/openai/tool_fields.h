// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/openai/request_json.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>

namespace palimpsest::openai {

/// The tools that an answer may call, and whether it has to.
struct ToolFields
{
    enum class Choice { Auto, None, Required, Named };

    std::shared_ptr<const nlohmann::json> tools; ///< list of chat-style tool objects, each with parameters; null: none
    Choice choice = Choice::Auto;
    std::string name; ///< for Named
    bool parallelCalls = true;

    [[nodiscard]] bool offered() const noexcept { return tools != nullptr && choice != Choice::None; }
    [[nodiscard]] bool mustCall() const noexcept { return choice == Choice::Required || choice == Choice::Named; }
};

/// Whether a tool's name and parameters stand in an object `function` (chat) or in the tool itself (responses).
enum class ToolShape { Nested, Flat };

/// Reads `tools`, `tool_choice` and `parallel_tool_calls`. A function without parameters takes none. Tools of another
/// type than `function` are what only their inventor's service runs: left out, and named in `skipped`. Throws Error
/// InvalidArgument.
[[nodiscard]] ToolFields readToolFields(RequestFields &fields, ToolShape shape, std::vector<std::string> &skipped);

} // namespace palimpsest::openai
