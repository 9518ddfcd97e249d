// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/token.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

struct ModelConfig;

/// What a special token's spelling inside a text means.
enum class SpecialTokens {
    Parse,     ///< `<|turn>` in the text becomes the token of that name
    PlainText, ///< tokens flagged special are spelled out; other added tokens (newline runs, tabs) are still recognised
};

enum class DecodeSpecial { Keep, Skip };

/// Where one token's text lies in the encoded string: bytes [begin, end).
struct TokenSpan
{
    TokenId id = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// BPE with byte fallback as in Gemma's `tokenizer.json`. Immutable; safe to use from several threads.
///
/// Text is UTF-8; the rules (normaliser, added tokens, byte tokens, decoding) are those of the `tokenizers` library for
/// that file. No `<bos>` is ever added. Encoding is O(n log n) in the text, a single huge word included.
class Tokenizer
{
public:
    /// Throws Error NotFound or InvalidCheckpoint (file, field, what was found and wanted).
    [[nodiscard]] static std::shared_ptr<const Tokenizer> load(const std::filesystem::path &tokenizerJson);
    [[nodiscard]] static std::shared_ptr<const Tokenizer> parse(std::string_view json, const std::string &path);

    ~Tokenizer();
    Tokenizer(const Tokenizer &) = delete;
    Tokenizer &operator=(const Tokenizer &) = delete;

    /// Throws Error InvalidInput if `text` is not valid UTF-8.
    [[nodiscard]] std::vector<TokenId> encode(std::string_view text, SpecialTokens mode) const;
    /// As encode, with the bytes each token came from. Spans are contiguous and cover the text; several byte-fallback
    /// tokens of one character each cover one of its bytes.
    [[nodiscard]] std::vector<TokenSpan> encodeWithSpans(std::string_view text, SpecialTokens mode) const;

    /// Always valid UTF-8: a run of byte tokens that is not valid as a whole gives one U+FFFD a byte.
    [[nodiscard]] std::string decode(std::span<const TokenId> ids, DecodeSpecial special) const;

    /// The bytes a token stands for before any UTF-8 check (U+2581 already a space; a byte token is one byte).
    [[nodiscard]] std::string_view tokenBytes(TokenId id) const;
    [[nodiscard]] bool isByteToken(TokenId id) const noexcept;
    [[nodiscard]] bool isSpecial(TokenId id) const noexcept;
    [[nodiscard]] std::optional<TokenId> idOf(std::string_view piece) const;
    /// The piece as written in the file; "" for an id without a piece.
    [[nodiscard]] std::string_view piece(TokenId id) const;
    /// Highest id + 1.
    [[nodiscard]] std::int64_t vocabSize() const noexcept;

private:
    struct Tables;
    explicit Tokenizer(std::unique_ptr<Tables> tables);
    std::unique_ptr<Tables> m_tables;
};

/// Checks that a tokenizer belongs to a model: no ordinary piece beyond the model's vocabulary (a special one may be,
/// as Gemma's `<image_soft_token>` is), at most padding in the vocabulary behind the last piece, and special pieces
/// where the model begins and ends texts. `path` is the tokenizer's, for the message. Throws Error InvalidCheckpoint.
void requireTokenizerFits(const Tokenizer &tokenizer, const ModelConfig &model, const std::string &path);

} // namespace palimpsest
