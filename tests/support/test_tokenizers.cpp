// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/support/test_tokenizers.h"

#include <cstdlib>

namespace palimpsest::test {

namespace {

/// The value of an environment variable; empty if it is not set.
std::filesystem::path environmentPath(const char *name)
{
    const char *const value = std::getenv(name);
    return value != nullptr ? std::filesystem::path(value) : std::filesystem::path();
}

} // namespace

std::filesystem::path gemmaTokenizerPath()
{
    std::filesystem::path chosen = environmentPath("PALIMPSEST_TEST_TOKENIZER");
    if (!chosen.empty())
        return chosen;
    const std::filesystem::path chosenFolder = environmentPath("PALIMPSEST_TEST_DATA");
    const std::filesystem::path folder =
        chosenFolder.empty() ? std::filesystem::path(PALIMPSEST_SOURCE_DIR) / "build" / "test-data" : chosenFolder;
    return folder / "tokenizer-gemma3.json";
}

std::shared_ptr<const Tokenizer> demoTokenizer()
{
    static const std::shared_ptr<const Tokenizer> tokenizer =
        Tokenizer::load(std::filesystem::path(PALIMPSEST_SOURCE_DIR) / "resources" / "demo_model" / "tokenizer.json");
    return tokenizer;
}

} // namespace palimpsest::test
