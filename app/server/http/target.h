// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace palimpsest::http {

/// A request's target, taken apart.
struct Target
{
    /// One spelling for all that mean the same: unreserved characters and slashes as they are, everything else as %XX
    /// in upper case. A slash that came as %2F stays so, since it is part of a segment.
    std::string encodedPath;
    std::string path;                                       ///< percent-decoded, UTF-8 without control characters
    std::vector<std::pair<std::string, std::string>> query; ///< percent-decoded, '+' is a blank
};

/// Undoes percent-encoding; nothing for a broken code.
[[nodiscard]] std::optional<std::string> percentDecoded(std::string_view text);

/// Takes an origin-form target apart. Nothing for one that does not begin with exactly one slash, has a fragment,
/// broken percent codes, something that is not UTF-8 or control characters in its path, or dot segments, which every
/// client resolves by itself.
[[nodiscard]] std::optional<Target> parseTarget(std::string_view text);

} // namespace palimpsest::http
