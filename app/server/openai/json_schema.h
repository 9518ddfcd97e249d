// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace palimpsest::openai {

/// Where a JSON value does not fit its schema.
struct SchemaProblem
{
    /// The way to the offending value, from the outermost: member names, and indices as decimal numbers.
    std::vector<std::string> path;
    std::string message;
};

/// A compiled JSON Schema (draft 7). Immutable; may be used from several threads.
///
/// The validator is valijson: header-only, BSD-2-Clause, in Debian and Ubuntu, works on nlohmann::json without a copy,
/// and reports the path of what is wrong, which the repair needs. What it would do with std::regex is not offered:
/// `pattern` and `patternProperties` are refused by name, since a pattern from outside can take any time and stack.
/// `format` is an annotation, as draft 7 allows.
class JsonSchema
{
public:
    /// Throws Error InvalidArgument with `field` as subject if the schema cannot be enforced.
    JsonSchema(const nlohmann::json &schema, const std::string &field);
    ~JsonSchema();
    JsonSchema(JsonSchema &&) noexcept;
    JsonSchema &operator=(JsonSchema &&) noexcept;

    /// The innermost thing that is wrong, or nothing.
    [[nodiscard]] std::optional<SchemaProblem> check(const nlohmann::json &value) const;

private:
    struct Compiled;
    std::unique_ptr<const Compiled> m_compiled;
};

} // namespace palimpsest::openai
