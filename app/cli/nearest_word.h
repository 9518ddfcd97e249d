// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace palimpsest::cli {

/// The known word that was probably meant: within a third of its letters (at least one, at most three) of the unknown
/// one, counting wrong, missing, added and swapped letters; nothing if none is that near.
[[nodiscard]] std::optional<std::string> nearestWord(std::string_view unknown, std::span<const std::string> known);

} // namespace palimpsest::cli
