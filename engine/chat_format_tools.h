// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/prompt_writer.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace palimpsest::chat {

/// Writes the parts of a prompt that concern tools, in the notation of Gemma 4: keys bare and sorted without regard to
/// case, strings between two `<|"|>`, nothing escaped.
class ToolWriter
{
public:
    /// `nullWord` is how the dialect spells null.
    ToolWriter(PromptWriter &out, std::string_view nullWord) : m_out(out), m_nullWord(nullWord) {}

    /// `<|tool>declaration:...<tool|>` for each OpenAI tool object in `tools`. Throws Error InvalidArgument naming the
    /// field if it is no list of functions with names.
    void declarations(const nlohmann::json &tools);

    /// `<|tool_call>call:NAME{...}<tool_call|>`; a string as `arguments` is copied between the braces.
    void call(const std::string &name, const nlohmann::json &arguments);

    /// `<|tool_response>response:NAME{...}<tool_response|>`; what is not an object is written as `value:...`.
    void response(const std::string &name, const nlohmann::json &response);

private:
    enum class Keys { Bare, Quoted };

    void checkDepth(int depth) const;

    void quoted(std::string_view text);
    void quotedList(const nlohmann::json &names);
    void value(const nlohmann::json &value, Keys keys, int depth);
    void members(const nlohmann::json &object, Keys keys, int depth);
    void declaration(const nlohmann::json &function);
    void parameters(const nlohmann::json &schema);
    void properties(const nlohmann::json &schemas, int depth);
    void property(const nlohmann::json &schema, int depth);
    void items(const nlohmann::json &schema, int depth);
    void objectProperties(const nlohmann::json &schema, int depth);
    void itemsType(const nlohmann::json &type, int depth);

    PromptWriter &m_out;
    std::string_view m_nullWord;
    std::string m_field; // what is being written, for errors
};

} // namespace palimpsest::chat
