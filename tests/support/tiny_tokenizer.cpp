// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/support/tiny_tokenizer.h"

#include <array>
#include <cstdio>

namespace palimpsest::test {

namespace {

using nlohmann::json;

json addedToken(int id, const char *content, bool special)
{
    return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
            {"rstrip", false}, {"normalized", false}, {"special", special}};
}

json replace(const char *from, const char *to)
{
    return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
}

json vocabulary()
{
    json vocab = {{"<pad>", 0}, {"<eos>", 1}, {"<bos>", 2}, {"<turn|>", 3}};
    for (unsigned byte = 0; byte < 256; ++byte) {
        std::array<char, 8> name{};
        std::snprintf(name.data(), name.size(), "<0x%02X>", byte);
        vocab[name.data()] = 4 + byte;
    }
    for (const char *piece : {"\u2581", "a", "b", "c", "\u00e9", "\n", "ab", "abc", "\u2581a", "\u2581ab", "\n\n"})
        vocab[piece] = vocab.size();
    return vocab;
}

} // namespace

json tinyTokenizerJson()
{
    const json vocab = vocabulary();
    return {
        {"version", "1.0"},
        {"added_tokens",
         json::array({addedToken(0, "<pad>", true), addedToken(1, "<eos>", true), addedToken(2, "<bos>", true),
                      addedToken(3, "<turn|>", true), addedToken(vocab.at("\n\n").get<int>(), "\n\n", false)})},
        {"normalizer", replace(" ", "\u2581")},
        {"pre_tokenizer",
         {{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}, {"invert", false}}},
        {"decoder",
         {{"type", "Sequence"},
          {"decoders", json::array({replace("\u2581", " "), json{{"type", "ByteFallback"}}, json{{"type", "Fuse"}}})}}},
        {"model",
         {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", true},
          {"byte_fallback", true},
          {"ignore_merges", false},
          {"vocab", vocab},
          {"merges", json::array({json::array({"a", "b"}), json::array({"\u2581", "a"}), json::array({"ab", "c"}),
                                  json::array({"\u2581", "ab"})})}}},
    };
}

} // namespace palimpsest::test
