// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/tokenizer_tables.h"

#include "engine/error.h"
#include "engine/tokenizer_json.h"
#include "engine/utf8.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace palimpsest {

namespace {

constexpr std::string_view kSpaceMark = "\u2581";
constexpr char32_t kSpaceMarkCodePoint = 0x2581;

[[noreturn]] void invalid(const std::string &path, const std::string &what)
{
    throw Error(ErrorKind::InvalidCheckpoint, path + ": " + what, path);
}

std::string inQuotes(std::string_view text)
{
    return '"' + std::string(text) + '"';
}

PieceTable buildPieces(const TokenizerFile &file, const std::string &path)
{
    if (file.pieceIds.empty())
        invalid(path, "model.vocab is empty");
    TokenId maxId = *std::ranges::max_element(file.pieceIds);
    for (const AddedToken &token : file.addedTokens)
        maxId = std::max(maxId, token.id);
    PieceTable pieces(maxId, file.pieceIds.size() + file.addedTokens.size());
    for (std::size_t i = 0; i < file.pieceIds.size(); ++i) {
        const std::string_view spelling = file.pieces[i];
        if (spelling.empty())
            invalid(path, "model.vocab has an empty piece");
        switch (pieces.insert(spelling, file.pieceIds[i])) {
        case PieceTable::Insertion::Done:
            break;
        case PieceTable::Insertion::SpellingTaken:
            invalid(path, "model.vocab has " + inQuotes(spelling) + " twice");
        case PieceTable::Insertion::IdTaken:
            invalid(path, "model.vocab gives id " + std::to_string(file.pieceIds[i]) + " to " + inQuotes(spelling) +
                              " and to " + inQuotes(pieces.spelling(file.pieceIds[i])));
        }
    }
    return pieces;
}

AddedTokenTrie addTokens(PieceTable &pieces, const std::vector<AddedToken> &tokens, const std::string &path)
{
    AddedTokenTrie trie;
    for (const AddedToken &token : tokens) {
        const std::optional<TokenId> known = pieces.find(token.content);
        const bool added = !known && pieces.insert(token.content, token.id) == PieceTable::Insertion::Done;
        if (!added && known != token.id)
            invalid(path, "added_tokens gives " + inQuotes(token.content) + " id " + std::to_string(token.id) +
                              ", but " +
                              (known ? "its id is " + std::to_string(*known)
                                     : "that is the id of " + inQuotes(pieces.spelling(token.id))));
        if (token.special)
            pieces.markSpecial(token.id);
        trie.insert(token.content, token.id);
    }
    return trie;
}

/// A space for U+2581, since the two are one character to the merges.
char32_t canonical(char32_t codePoint) noexcept
{
    return codePoint == kSpaceMarkCodePoint ? U' ' : codePoint;
}

char32_t firstCharacter(std::string_view text) noexcept
{
    return canonical(readUtf8(text, 0).codePoint);
}

char32_t lastCharacter(std::string_view text) noexcept
{
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U)
        --begin;
    return canonical(readUtf8(text, begin).codePoint);
}

struct Merges
{
    MergeTable table;
    JoinTable joins;
};

Merges buildMerges(const TokenizerFile &file, const PieceTable &pieces, const std::string &path)
{
    const std::size_t count = file.mergeSides.size() / 2;
    MergeTable table(count);
    std::vector<std::uint64_t> joins;
    joins.reserve(count);
    std::string both;
    for (std::size_t rank = 0; rank < count; ++rank) {
        const std::string_view left = file.mergeSides[2 * rank];
        const std::string_view right = file.mergeSides[2 * rank + 1];
        both.assign(left).append(right);
        const auto idOf = [&](std::string_view piece) {
            const std::optional<TokenId> id = pieces.find(piece);
            if (!id || pieces.isByte(*id))
                invalid(path, "model.merges[" + std::to_string(rank) + "] joins " + inQuotes(left) + " and " +
                                  inQuotes(right) + ", but " + inQuotes(piece) +
                                  (id ? " is a byte token" : " is not in model.vocab"));
            return *id;
        };
        const auto leftId = static_cast<std::uint32_t>(idOf(left));
        const auto rightId = static_cast<std::uint32_t>(idOf(right));
        table.insert(leftId, rightId, {.rank = static_cast<std::uint32_t>(rank), .merged = idOf(both)});
        joins.push_back(JoinTable::pack(lastCharacter(left), firstCharacter(right)));
    }
    return {.table = std::move(table), .joins = JoinTable(std::move(joins))};
}

std::array<TokenId, 256> findBytePieces(const PieceTable &pieces, const std::string &path)
{
    std::array<TokenId, 256> ids{};
    for (std::size_t byte = 0; byte < ids.size(); ++byte) {
        std::array<char, 8> name{};
        std::snprintf(name.data(), name.size(), "<0x%02X>", static_cast<unsigned>(byte));
        const std::optional<TokenId> id = pieces.find(name.data());
        if (!id)
            invalid(path, std::string("model.vocab has no piece ") + name.data() + ", wanted one for each byte");
        ids[byte] = *id;
    }
    return ids;
}

std::array<TokenId, 128> findAsciiPieces(const PieceTable &pieces, const std::string &path)
{
    std::array<TokenId, 128> ids{};
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const char character = static_cast<char>(i);
        ids[i] = pieces.find({&character, 1}).value_or(-1);
    }
    const std::optional<TokenId> space = pieces.find(kSpaceMark);
    if (!space)
        invalid(path, "model.vocab has no piece \"\u2581\", which stands for a space");
    ids[' '] = *space;
    return ids;
}

/// Walks through the characters of a text without added tokens.
class SegmentEncoder
{
public:
    SegmentEncoder(const TokenizerTables &tables, std::vector<TokenSpan> &spans)
        : m_tables(tables), m_word(tables.merges), m_spans(spans)
    {
    }

    void encode(std::string_view text, std::size_t begin, std::size_t end)
    {
        char32_t previous = 0;
        for (std::size_t position = begin; position < end;) {
            const Utf8Character character = readUtf8(text, position);
            const char32_t codePoint = canonical(character.codePoint);
            const TokenId id = pieceOf(codePoint, text.substr(position, character.length));
            if (id < 0 || !m_tables.joins.mayJoin(previous, codePoint))
                finishWord();
            if (id >= 0)
                m_word.append(id, static_cast<std::int64_t>(position));
            else
                spellInBytes(text.substr(position, character.length), position);
            previous = codePoint;
            position += character.length;
        }
        finishWord();
    }

    [[nodiscard]] std::int64_t candidatesTried() const noexcept { return m_word.candidatesTried(); }

private:
    [[nodiscard]] TokenId pieceOf(char32_t codePoint, std::string_view spelling) const
    {
        if (codePoint < m_tables.asciiPieces.size())
            return m_tables.asciiPieces[codePoint];
        return m_tables.pieces.find(spelling).value_or(-1);
    }

    void spellInBytes(std::string_view character, std::size_t position)
    {
        for (std::size_t i = 0; i < character.size(); ++i)
            m_spans.push_back({.id = m_tables.bytePieces[static_cast<unsigned char>(character[i])],
                               .begin = static_cast<std::int64_t>(position + i)});
    }

    void finishWord()
    {
        if (m_word.empty())
            return;
        m_word.merge();
        m_word.forEach(
            [this](const BpeWord::Piece &piece) { m_spans.push_back({.id = piece.id, .begin = piece.begin}); });
        m_word.clear();
    }

    const TokenizerTables &m_tables;
    BpeWord m_word;
    std::vector<TokenSpan> &m_spans;
};

} // namespace

JoinTable::JoinTable(std::vector<std::uint64_t> pairs)
{
    std::ranges::sort(pairs);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end()); // clang 14 cannot compile libstdc++'s subrange
    m_others = PairTable<std::uint8_t>(pairs.size());
    for (const std::uint64_t pair : pairs) {
        const auto left = static_cast<std::uint32_t>(pair >> 32U);
        const auto right = static_cast<std::uint32_t>(pair);
        if (left < kAscii && right < kAscii)
            m_ascii.set(left * kAscii + right);
        else
            m_others.insert(left, right, 1);
    }
}

TokenizerTables buildTokenizerTables(std::string_view json, const std::string &path)
{
    const TokenizerFile file = readTokenizerJson(json, path);
    PieceTable pieces = buildPieces(file, path);
    Merges merges = buildMerges(file, pieces, path);
    AddedTokenTrie added = addTokens(pieces, file.addedTokens, path);
    const std::array<TokenId, 128> asciiPieces = findAsciiPieces(pieces, path);
    const std::array<TokenId, 256> bytePieces = findBytePieces(pieces, path);
    return {.pieces = std::move(pieces),
            .merges = std::move(merges.table),
            .joins = std::move(merges.joins),
            .added = std::move(added),
            .asciiPieces = asciiPieces,
            .bytePieces = bytePieces};
}

std::int64_t encodeText(const TokenizerTables &tables, std::string_view text, SpecialTokens mode,
                        std::vector<TokenSpan> &spans)
{
    SegmentEncoder encoder(tables, spans);
    std::size_t done = 0; // everything in front of it is encoded
    for (std::size_t searched = 0; searched < text.size();) {
        const AddedTokenTrie::Match match = tables.added.find(text, searched);
        searched = match.begin + match.length;
        // A special token that is to stay text still hides other tokens inside its spelling, as in the reference.
        if (match.length == 0 || (mode == SpecialTokens::PlainText && tables.pieces.isSpecial(match.id)))
            continue;
        encoder.encode(text, done, match.begin);
        spans.push_back({.id = match.id, .begin = static_cast<std::int64_t>(match.begin)});
        done = searched;
    }
    encoder.encode(text, done, text.size());
    return encoder.candidatesTried();
}

} // namespace palimpsest
