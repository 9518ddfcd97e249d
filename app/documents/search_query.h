// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <string>
#include <string_view>

namespace palimpsest::documents {

/// What a person typed as an expression that FTS5 understands: every word has to begin a word of the document, words in
/// double quotes have to stand together, everything else stands for itself. Empty if there is no word in it.
[[nodiscard]] std::string searchExpression(std::string_view query);

} // namespace palimpsest::documents
