// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/tokenizer.h"

#include <filesystem>
#include <memory>

namespace palimpsest::test {

/// Gemma 3's `tokenizer.json`, which the golden fixtures were made with: environment PALIMPSEST_TEST_TOKENIZER, else
/// where packaging/setup/fetch-test-tokenizer puts it (`tokenizer-gemma3.json` in PALIMPSEST_TEST_DATA, else in
/// build/test-data of the source tree). It may not be there.
[[nodiscard]] std::filesystem::path gemmaTokenizerPath();

/// The demo model's tokenizer: 8192 pieces, special tokens named as in Gemma 4. Loaded once.
[[nodiscard]] std::shared_ptr<const Tokenizer> demoTokenizer();

} // namespace palimpsest::test
