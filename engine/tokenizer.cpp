// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/tokenizer.h"

#include "engine/added_tokens.h"
#include "engine/bpe.h"
#include "engine/error.h"
#include "engine/model_config.h"
#include "engine/piece_table.h"
#include "engine/tokenizer_tables.h"
#include "engine/utf8.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

namespace palimpsest {

namespace {

constexpr std::string_view kReplacementCharacter = "\uFFFD";
/// Checkpoints may round their vocabulary up to a multiple of this; the ids above the tokenizer's are never trained.
constexpr std::int64_t kVocabularyPadding = 256;
constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{1} << 29U; // Gemma's file has 33 MB

std::string readFile(const std::filesystem::path &path)
{
    const std::string name = path.string();
    std::error_code problem;
    const std::filesystem::file_status status = std::filesystem::status(path, problem);
    if (status.type() == std::filesystem::file_type::not_found)
        throw Error(ErrorKind::NotFound, name + ": no such file; a model directory holds a tokenizer.json", name);
    if (!std::filesystem::is_regular_file(status))
        throw Error(problem == std::errc::permission_denied ? ErrorKind::PermissionDenied : ErrorKind::Io,
                    name + ": cannot be read: " + (problem ? problem.message() : "it is not a file"), name);
    const std::uintmax_t size = std::filesystem::file_size(path, problem);
    if (!problem && size > kMaxFileBytes)
        throw Error(ErrorKind::InvalidCheckpoint,
                    name + ": has " + std::to_string(size) + " bytes, wanted at most " + std::to_string(kMaxFileBytes),
                    name);
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    const int openError = errno;
    std::string content(problem ? 0 : static_cast<std::size_t>(size), '\0');
    if (problem || !stream || !stream.read(content.data(), static_cast<std::streamsize>(content.size())))
        throw Error(openError == EACCES ? ErrorKind::PermissionDenied : ErrorKind::Io,
                    name + ": cannot be read: " + std::strerror(openError != 0 ? openError : EIO), name);
    return content;
}

/// The text in `text` that Tokenizer can index; throws otherwise.
void requireEncodable(std::string_view text)
{
    if (text.size() > std::size_t{std::numeric_limits<std::int32_t>::max()})
        throw Error(ErrorKind::InvalidInput,
                    "the text has " + std::to_string(text.size()) + " bytes, wanted less than 2 GiB");
    if (const std::optional<std::size_t> position = firstInvalidUtf8(text))
        throw Error(ErrorKind::InvalidInput, "the text is not valid UTF-8: byte " + std::to_string(*position) +
                                                 " does not begin a whole character");
}

/// Decodes a run of byte tokens: as it is if the whole run is UTF-8, else one replacement character a byte.
void appendByteRun(std::string &text, std::string &run)
{
    if (!firstInvalidUtf8(run)) {
        text += run;
    } else {
        for (std::size_t i = 0; i < run.size(); ++i)
            text += kReplacementCharacter;
    }
    run.clear();
}

} // namespace

struct Tokenizer::Tables : TokenizerTables
{
};

std::shared_ptr<const Tokenizer> Tokenizer::load(const std::filesystem::path &tokenizerJson)
{
    return parse(readFile(tokenizerJson), tokenizerJson.string());
}

std::shared_ptr<const Tokenizer> Tokenizer::parse(std::string_view json, const std::string &path)
{
    auto tables = std::make_unique<Tables>(Tables{buildTokenizerTables(json, path)});
    return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(tables)));
}

Tokenizer::Tokenizer(std::unique_ptr<Tables> tables) : m_tables(std::move(tables)) {}

Tokenizer::~Tokenizer() = default;

std::vector<TokenSpan> Tokenizer::encodeWithSpans(std::string_view text, SpecialTokens mode) const
{
    requireEncodable(text);
    std::vector<TokenSpan> spans;
    encodeText(*m_tables, text, mode, spans);
    // Each token ends where the next begins.
    for (std::size_t i = 0; i < spans.size(); ++i)
        spans[i].end = i + 1 < spans.size() ? spans[i + 1].begin : static_cast<std::int64_t>(text.size());
    return spans;
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, SpecialTokens mode) const
{
    requireEncodable(text);
    std::vector<TokenSpan> spans;
    encodeText(*m_tables, text, mode, spans);
    std::vector<TokenId> ids;
    ids.reserve(spans.size());
    for (const TokenSpan &span : spans)
        ids.push_back(span.id);
    return ids;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, DecodeSpecial special) const
{
    const PieceTable &pieces = m_tables->pieces;
    std::string text;
    std::string byteRun;
    for (const TokenId id : ids) {
        if (!pieces.contains(id) || (special == DecodeSpecial::Skip && pieces.isSpecial(id)))
            continue; // left out before bytes are joined
        if (pieces.isByte(id)) {
            byteRun += pieces.bytes(id);
            continue;
        }
        appendByteRun(text, byteRun);
        text += pieces.bytes(id);
    }
    appendByteRun(text, byteRun);
    return text;
}

std::string_view Tokenizer::tokenBytes(TokenId id) const
{
    return m_tables->pieces.bytes(id);
}

bool Tokenizer::isByteToken(TokenId id) const noexcept
{
    return m_tables->pieces.isByte(id);
}

bool Tokenizer::isSpecial(TokenId id) const noexcept
{
    return m_tables->pieces.isSpecial(id);
}

std::optional<TokenId> Tokenizer::idOf(std::string_view piece) const
{
    return m_tables->pieces.find(piece);
}

std::string_view Tokenizer::piece(TokenId id) const
{
    return m_tables->pieces.spelling(id);
}

std::int64_t Tokenizer::vocabSize() const noexcept
{
    return m_tables->pieces.size();
}

void requireTokenizerFits(const Tokenizer &tokenizer, const ModelConfig &model, const std::string &path)
{
    const auto refuse = [&path](const std::string &what) {
        throw Error(ErrorKind::InvalidCheckpoint, path + ": does not belong to this model: " + what, path);
    };
    const std::string rows = "the model's vocab_size is " + std::to_string(model.vocabSize);
    for (std::int64_t id = model.vocabSize; id < tokenizer.vocabSize(); ++id) {
        const auto beyond = static_cast<TokenId>(id);
        if (!tokenizer.piece(beyond).empty() && !tokenizer.isSpecial(beyond))
            refuse("\"" + std::string(tokenizer.piece(beyond)) + "\" has id " + std::to_string(id) + ", but " + rows);
    }
    if (model.vocabSize - tokenizer.vocabSize() >= kVocabularyPadding)
        refuse("its vocabulary has " + std::to_string(tokenizer.vocabSize()) + " pieces, but " + rows);
    const auto requireSpecial = [&](const char *field, TokenId id) {
        if (!tokenizer.isSpecial(id))
            refuse(std::string("the model's ") + field + " is " + std::to_string(id) + ", but piece " +
                   std::to_string(id) + " is \"" + std::string(tokenizer.piece(id)) + "\", wanted a special token");
    };
    requireSpecial("pad_token_id", model.padTokenId);
    requireSpecial("bos_token_id", model.bosTokenId);
    for (const TokenId id : model.eosTokenIds)
        requireSpecial("eos_token_id", id);
}

} // namespace palimpsest
