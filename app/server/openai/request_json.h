// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::openai {

/// Parses the body of a request, which has to be one JSON object in UTF-8 without a byte-order mark, each key once per
/// object, no number beyond a double, not nested too deep. Throws Error InvalidArgument in plain words, with the field
/// (as `a.b`) as its subject where the fault lies inside one.
[[nodiscard]] nlohmann::json parseRequestBody(std::string_view body);

/// Throws Error InvalidArgument with `field` as subject: "field: problem".
[[noreturn]] void refuse(const std::string &field, const std::string &problem);

/// A value for a message: short, printable.
[[nodiscard]] std::string shown(const nlohmann::json &value);

/// Reads the fields of one JSON object, strictly: a number in quotes is not a number. `null` counts as absent. Errors
/// are Error InvalidArgument with the field's whole name as subject.
///
/// Borrows the object. Remembers which fields were asked for, so that the rest can be named.
class RequestFields
{
public:
    /// `prefix`: names of the objects around this one with a trailing dot, or "".
    RequestFields(const nlohmann::json &object, std::string prefix);

    [[nodiscard]] const nlohmann::json *find(std::string_view name); ///< null if absent
    [[nodiscard]] std::optional<double> number(std::string_view name, double lowest, double highest);
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name, std::int64_t lowest, std::int64_t highest);
    [[nodiscard]] std::optional<bool> boolean(std::string_view name);
    [[nodiscard]] std::optional<std::string> text(std::string_view name);
    [[nodiscard]] std::string requireText(std::string_view name);
    [[nodiscard]] const nlohmann::json *list(std::string_view name);
    [[nodiscard]] const nlohmann::json *object(std::string_view name);
    /// Known, and of no effect here: not to be listed as unknown.
    void ignore(std::initializer_list<std::string_view> names);

    [[nodiscard]] std::string fullName(std::string_view name) const { return m_prefix + std::string(name); }
    [[nodiscard]] std::vector<std::string> unknown() const; ///< fields that nobody asked for

private:
    [[noreturn]] void wanted(std::string_view name, const nlohmann::json &found, const std::string &what) const;

    const nlohmann::json &m_object;
    std::string m_prefix;
    std::vector<std::string> m_known;
};

} // namespace palimpsest::openai
