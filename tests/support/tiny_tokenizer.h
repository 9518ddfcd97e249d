// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <nlohmann/json.hpp>

namespace palimpsest::test {

/// The smallest useful `tokenizer.json` document, for tests that damage it: four special tokens (ids 0 to 3, among them
/// `<turn|>`), the bytes (4 to 259), a few letters, U+2581 and merges of them, and one added token, "\n\n".
[[nodiscard]] nlohmann::json tinyTokenizerJson();

} // namespace palimpsest::test
