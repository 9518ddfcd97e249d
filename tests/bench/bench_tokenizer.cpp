// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/tokenizer.h"
#include "tests/support/test_tokenizers.h"

#include <nlohmann/json.hpp>

#include <benchmark/benchmark.h>

#include <fstream>
#include <random>

using namespace palimpsest;

namespace {

enum Vocabulary : std::int64_t { Demo, Gemma };

std::filesystem::path pathOf(std::int64_t vocabulary)
{
    return vocabulary == Gemma ? test::gemmaTokenizerPath()
                               : std::filesystem::path(PALIMPSEST_SOURCE_DIR) / "resources/demo_model/tokenizer.json";
}

/// The tokenizer of that vocabulary, loaded once; null with the reason in the report if it is not there.
const Tokenizer *tokenizerOf(benchmark::State &state)
{
    static std::shared_ptr<const Tokenizer> loaded[2];
    std::shared_ptr<const Tokenizer> &tokenizer = loaded[state.range(0)];
    const std::filesystem::path path = pathOf(state.range(0));
    if (!tokenizer && !std::filesystem::exists(path)) {
        state.SkipWithError("packaging/setup/fetch-test-tokenizer fetches this vocabulary");
        return nullptr;
    }
    if (!tokenizer)
        tokenizer = Tokenizer::load(path);
    return tokenizer.get();
}

/// A megabyte of the demo model's proofreading texts.
std::string english()
{
    std::ifstream file(std::filesystem::path(PALIMPSEST_SOURCE_DIR) / "tests/demo/proof.jsonl");
    std::string text;
    for (std::string line; std::getline(file, line);) {
        const nlohmann::json sample = nlohmann::json::parse(line);
        for (const nlohmann::json &value : sample) {
            if (value.is_string())
                text += value.get<std::string>() + '\n';
        }
    }
    const std::string once = text;
    while (text.size() < 1000000)
        text += once;
    return text;
}

/// Letters without a space.
std::string oneWord(std::size_t length)
{
    std::mt19937 random(1);
    std::string text(length, ' ');
    for (char &c : text)
        c = static_cast<char>('a' + random() % 26);
    return text;
}

void encode(benchmark::State &state, const std::string &text)
{
    const Tokenizer *tokenizer = tokenizerOf(state);
    if (tokenizer == nullptr)
        return;
    std::size_t tokens = 0;
    while (state.KeepRunning()) {
        tokens = tokenizer->encode(text, SpecialTokens::PlainText).size();
        benchmark::DoNotOptimize(tokens);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
    state.counters["tokens"] = static_cast<double>(tokens);
}

void encodeEnglish(benchmark::State &state)
{
    encode(state, english());
}

void encodeOneWord(benchmark::State &state)
{
    encode(state, oneWord(static_cast<std::size_t>(state.range(1))));
}

void encodeOneLetter(benchmark::State &state)
{
    encode(state, std::string(static_cast<std::size_t>(state.range(1)), 'a'));
}

void decodeEnglish(benchmark::State &state)
{
    const Tokenizer *tokenizer = tokenizerOf(state);
    if (tokenizer == nullptr)
        return;
    const std::string text = english();
    const std::vector<TokenId> ids = tokenizer->encode(text, SpecialTokens::PlainText);
    while (state.KeepRunning())
        benchmark::DoNotOptimize(tokenizer->decode(ids, DecodeSpecial::Keep));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void load(benchmark::State &state)
{
    if (tokenizerOf(state) == nullptr)
        return;
    while (state.KeepRunning())
        benchmark::DoNotOptimize(Tokenizer::load(pathOf(state.range(0))));
}

} // namespace

BENCHMARK(load)->ArgName("gemma")->Arg(Demo)->Arg(Gemma)->Unit(benchmark::kMillisecond);
BENCHMARK(encodeEnglish)->ArgName("gemma")->Arg(Demo)->Arg(Gemma)->Unit(benchmark::kMillisecond);
BENCHMARK(decodeEnglish)->ArgName("gemma")->Arg(Demo)->Arg(Gemma)->Unit(benchmark::kMillisecond);
BENCHMARK(encodeOneWord)
    ->ArgNames({"gemma", "bytes"})
    ->ArgsProduct({{Demo, Gemma}, {25000, 100000, 400000}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(encodeOneLetter)
    ->ArgNames({"gemma", "bytes"})
    ->ArgsProduct({{Demo, Gemma}, {25000, 100000, 400000}})
    ->Unit(benchmark::kMillisecond);
