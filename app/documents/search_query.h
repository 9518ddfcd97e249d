// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::documents {

/// What a person typed, in two parts that both have to be found.
struct SearchQuery
{
    /// For FTS5: every word has to begin a word of the document, words in double quotes have to stand together,
    /// everything else stands for itself. Empty if there is no word.
    std::string expression = {};
    /// Words in scripts that put no spaces between words (Chinese, Japanese, Thai...): to FTS5 a whole sentence of them
    /// is one word, so they are looked for anywhere in the text, as they are.
    std::vector<std::string> pieces = {};
};

[[nodiscard]] SearchQuery searchQuery(std::string_view query);

} // namespace palimpsest::documents
