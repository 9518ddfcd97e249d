// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace palimpsest::test {

/// Random UTF-8 documents made of what breaks editors: words and sentences, all kinds of line ends and spaces, accents
/// in two spellings, emoji of several code points, right-to-left scripts, scripts without spaces, markup and markers.
class RandomText
{
public:
    explicit RandomText(std::uint64_t seed) : m_engine(seed) {}

    /// Uniform in [0, bound).
    [[nodiscard]] std::int64_t below(std::int64_t bound)
    {
        return static_cast<std::int64_t>(m_engine() % static_cast<std::uint64_t>(bound));
    }

    [[nodiscard]] std::string document(std::int64_t maxPieces)
    {
        std::string text;
        for (std::int64_t count = below(maxPieces + 1); count > 0; --count) {
            text += kPieces[static_cast<std::size_t>(below(static_cast<std::int64_t>(kPieces.size())))];
            if (below(3) != 0) {
                text += ' ';
            }
        }
        return text;
    }

private:
    static constexpr std::array<std::string_view, 52> kPieces = {
        "The",
        "cat",
        "sat",
        "on",
        "a",
        "Mr. Smith",
        "e.g.",
        "don't",
        "wonderful,",
        "teh",
        "end.",
        "Really?",
        "Yes!",
        "\"Quoted.\"",
        "3.14",
        "1,000",
        "well-known",
        "\n",
        "\n\n",
        "\r\n",
        "\r\n\r\n",
        "\r",
        "\t",
        "  ",
        "\xC2\xA0",
        "\xE3\x80\x80",
        "\xEF\xBB\xBF",
        "\xE2\x80\xA8",
        "caf\xC3\xA9",
        "cafe\xCC\x81",
        "a\xCC\x8A\xCC\xA3",
        "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7",
        "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",
        "\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD",
        "\xF0\x9F\x98\x80",
        "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",
        "\xD9\x85\xD8\xB1\xD8\xAD\xD8\xA8\xD8\xA7",
        "\xE2\x80\x8F",
        "\xE6\xBC\xA2\xE5\xAD\x97\xE4\xBB\xAE\xE5\x90\x8D\xE3\x80\x82",
        "\xE0\xA4\xA8\xE0\xA4\xAE\xE0\xA4\xB8\xE0\xA5\x8D\xE0\xA4\xA4\xE0\xA5\x87",
        "\xED\x95\x9C\xEA\xB5\xAD",
        "<|turn>",
        "<turn|>",
        "<pad>",
        "\xE2\x96\x81",
        "```\ncode();\n```",
        "- item",
        "# Heading",
        "| a | b |",
        "{ x = y[0]; }",
        "https://example.org/a?b=c",
        "___",
    };

    std::mt19937_64 m_engine;
};

} // namespace palimpsest::test
