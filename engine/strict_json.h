// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// Parses one JSON text that comes from outside. Throws Error InvalidCheckpoint, naming `path`, for what is not JSON or
/// not UTF-8, for a key that appears twice in one object (which of the two counts would be a guess), and for values
/// nested deeper, or more of them, than any file of a model has.
[[nodiscard]] nlohmann::json parseStrictJson(std::string_view text, const std::string &path);

/// True if a terminal would act on a part of the text rather than show it (control characters, C0 and C1).
[[nodiscard]] bool hasControlCharacters(std::string_view text) noexcept;

/// A JSON value for an error message: short, ASCII.
[[nodiscard]] std::string describeJson(const nlohmann::json &value);

struct IntegerRange
{
    std::int64_t min = 0;
    std::int64_t max = 0;
};

struct NumberRange
{
    double min = 0.0;
    double max = 0.0;
};

/// Reads the fields of one JSON object with checks. Every error is an Error InvalidCheckpoint that names the file, the
/// field with the names of the objects around it, what was found and what was wanted. `null` counts as absent.
///
/// Borrows the JSON value.
class JsonFields
{
public:
    /// `prefix`: names of the objects around this one with a trailing dot, or "". Throws if `value` is not an object.
    JsonFields(const nlohmann::json &value, std::string path, std::string prefix = {});

    [[nodiscard]] const nlohmann::json *find(std::string_view name) const; ///< null if absent
    [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
    [[nodiscard]] const nlohmann::json &require(std::string_view name, std::string_view wanted) const;

    [[nodiscard]] std::int64_t integer(std::string_view name, IntegerRange range) const;
    [[nodiscard]] std::optional<std::int64_t> optionalInteger(std::string_view name, IntegerRange range) const;
    [[nodiscard]] double number(std::string_view name, NumberRange range) const;
    [[nodiscard]] std::optional<double> optionalNumber(std::string_view name, NumberRange range) const;
    [[nodiscard]] std::string string(std::string_view name) const;
    [[nodiscard]] std::optional<std::string> optionalString(std::string_view name) const;
    [[nodiscard]] std::optional<bool> optionalBool(std::string_view name) const;
    [[nodiscard]] JsonFields object(std::string_view name) const;
    /// One whole number or a list of them; empty if absent.
    [[nodiscard]] std::vector<std::int64_t> integerList(std::string_view name, IntegerRange range) const;

    [[nodiscard]] const std::string &path() const noexcept { return m_path; }
    [[nodiscard]] const nlohmann::json &value() const noexcept { return *m_value; }
    /// With the names of the objects around it: "text_config.head_dim".
    [[nodiscard]] std::string fieldName(std::string_view name) const { return m_prefix + std::string(name); }
    [[noreturn]] void fail(std::string_view name, std::string_view found, std::string_view wanted) const;
    /// As fail, but Error Unsupported: the value is well-formed and means something this program does not do.
    [[noreturn]] void failUnsupported(std::string_view name, std::string_view found, std::string_view wanted) const;

private:
    /// The name for a message: escaped if the file put control characters into it.
    [[nodiscard]] std::string shownField(std::string_view name) const;
    [[nodiscard]] std::int64_t checkInteger(std::string_view name, const nlohmann::json &value,
                                            IntegerRange range) const;

    const nlohmann::json *m_value;
    std::string m_path;
    std::string m_prefix;
};

} // namespace palimpsest
