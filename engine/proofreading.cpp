// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/proofreading.h"

#include "engine/error.h"
#include "engine/proofread_paragraphs.h"
#include "engine/text_boundaries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace palimpsest {

namespace {

/// Longest English words have 30 letters; what is longer is an address, a key or the like, and one token a character.
constexpr std::int64_t kLongestWordBytes = 100;

// One of the wordings and the separator that the demo model has seen most.
constexpr std::string_view kInstruction = "Fix the spelling and grammar mistakes:\n\n";

bool endsClause(std::string_view text)
{
    for (const std::string_view mark : {",", ";", ":", "\xE2\x80\x93", "\xE2\x80\x94"}) { // en and em dash
        if (text.ends_with(mark)) {
            return true;
        }
    }
    return false;
}

/// Sentences that hold whole words: the two rules of Unicode disagree in "e.g.The", one word with an end inside.
std::vector<ByteRange> sentencesOfWholeWords(std::string_view text, std::span<const WordPiece> pieces)
{
    std::vector<ByteRange> sentences;
    auto piece = pieces.begin();
    bool open = false;
    for (const ByteRange &sentence : splitIntoSentences(text)) {
        if (open) {
            sentences.back().end = sentence.end;
        } else {
            sentences.push_back(sentence);
        }
        while (piece != pieces.end() && piece->range.end < sentence.end) {
            ++piece;
        }
        open = piece != pieces.end() && piece->isWord && piece->range.begin < sentence.end &&
               sentence.end < piece->range.end;
    }
    return sentences;
}

/// A sentence or a part of a long one, white space at its ends included.
struct Chunk
{
    ByteRange range;
    std::int64_t words = 0;
};

/// Cuts paragraphs into segments. Words and sentences are found once, over the whole text.
class SegmentBuilder
{
public:
    SegmentBuilder(const ParagraphSplit &split, std::int64_t wordsPerSegment)
        : m_text(split.flowing),
          m_limit(wordsPerSegment),
          m_pieces(splitIntoWords(m_text)),
          m_sentences(sentencesOfWholeWords(m_text, m_pieces))
    {
    }

    void add(const Paragraph &paragraph, std::int64_t number)
    {
        if (paragraph.passThrough) {
            push(paragraph.range, SegmentKind::Code, number);
            return;
        }
        group(chunksOf(paragraph.range), number);
    }

    [[nodiscard]] std::vector<ProofreadSegment> take() { return std::move(m_segments); }

private:
    using Pieces = std::span<const WordPiece>;

    [[nodiscard]] Pieces piecesIn(ByteRange range) const
    {
        const auto first =
            std::lower_bound(m_pieces.begin(), m_pieces.end(), range.begin,
                             [](const WordPiece &piece, std::int64_t offset) { return piece.range.end <= offset; });
        const auto last =
            std::lower_bound(first, m_pieces.end(), range.end,
                             [](const WordPiece &piece, std::int64_t offset) { return piece.range.begin < offset; });
        return {first, last};
    }

    [[nodiscard]] static std::int64_t wordsIn(Pieces pieces)
    {
        return std::count_if(pieces.begin(), pieces.end(), [](const WordPiece &piece) { return piece.isWord; });
    }

    [[nodiscard]] std::vector<Chunk> chunksOf(ByteRange paragraph) const
    {
        std::vector<Chunk> chunks;
        auto sentence =
            std::lower_bound(m_sentences.begin(), m_sentences.end(), paragraph.begin,
                             [](const ByteRange &range, std::int64_t offset) { return range.end <= offset; });
        for (; sentence != m_sentences.end() && sentence->begin < paragraph.end; ++sentence) {
            const ByteRange range = {std::max(sentence->begin, paragraph.begin),
                                     std::min(sentence->end, paragraph.end)};
            const Pieces pieces = piecesIn(range);
            const std::int64_t words = wordsIn(pieces);
            if (words > 2 * m_limit) {
                cutLongSentence(range, pieces, chunks);
            } else {
                chunks.push_back({.range = range, .words = words});
            }
        }
        return chunks;
    }

    /// Where in a part of at most `m_limit` words a long sentence is cut best.
    struct CutPoint
    {
        std::int64_t offset = 0; ///< 0: none yet
        std::int64_t words = 0;
    };

    void cutLongSentence(ByteRange range, Pieces pieces, std::vector<Chunk> &chunks) const
    {
        std::int64_t begin = range.begin;
        std::int64_t words = 0;
        CutPoint clause;
        CutPoint gap;
        for (const WordPiece &piece : pieces) {
            if (piece.isWord && words == m_limit) {
                const CutPoint cut = clause.words > m_limit / 2 ? clause
                                     : gap.offset > 0           ? gap
                                                                : CutPoint{piece.range.begin, words};
                chunks.push_back({.range = {begin, cut.offset}, .words = cut.words});
                begin = cut.offset;
                words -= cut.words;
                clause = {};
                gap = {};
            }
            words += piece.isWord ? 1 : 0;
            if (piece.isWhiteSpace && piece.range.begin > begin) {
                gap = {.offset = piece.range.end, .words = words};
                if (endsClause(ByteRange{begin, piece.range.begin}.of(m_text))) {
                    clause = gap;
                }
            }
        }
        chunks.push_back({.range = {begin, range.end}, .words = words});
    }

    /// Groups of about equal size: one group of 60 words and one of 3 would leave the model without context for the 3.
    void group(const std::vector<Chunk> &chunks, std::int64_t number)
    {
        std::int64_t left = 0;
        for (const Chunk &chunk : chunks) {
            left += chunk.words;
        }
        Chunk current;
        std::int64_t target = 0;
        for (const Chunk &chunk : chunks) {
            if (!current.range.empty() && (current.words >= target || current.words + chunk.words > m_limit)) {
                push(current.range, SegmentKind::Prose, number);
                current = {};
            }
            if (current.range.empty()) {
                current.range.begin = chunk.range.begin;
                target = left / std::max<std::int64_t>(1, (left + m_limit - 1) / m_limit);
            }
            current.range.end = chunk.range.end;
            current.words += chunk.words;
            left -= chunk.words;
        }
        push(current.range, SegmentKind::Prose, number);
    }

    void push(ByteRange range, SegmentKind kind, std::int64_t number)
    {
        range = trimWhiteSpace(m_text, range);
        if (range.empty()) {
            return;
        }
        const Pieces pieces = piecesIn(range);
        const bool hasHugeWord = std::any_of(pieces.begin(), pieces.end(), [](const WordPiece &piece) {
            return piece.range.length() > kLongestWordBytes && !piece.isWhiteSpace;
        });
        const std::int64_t words = wordsIn(pieces);
        if (words == 0 || hasHugeWord) {
            kind = SegmentKind::Code;
        }
        m_segments.push_back({.range = range, .kind = kind, .words = words, .paragraph = number});
    }

    std::string_view m_text;
    std::int64_t m_limit;
    std::vector<WordPiece> m_pieces;
    std::vector<ByteRange> m_sentences;
    std::vector<ProofreadSegment> m_segments;
};

} // namespace

std::vector<ProofreadSegment> splitForProofreading(std::string_view text, const ProofreadOptions &options)
{
    requireValidUtf8(text, "the text");
    if (options.wordsPerSegment < 1) {
        throw Error(ErrorKind::InvalidArgument,
                    fmt::format("words per segment is {}, wanted at least 1", options.wordsPerSegment),
                    "wordsPerSegment");
    }
    const ParagraphSplit split = splitIntoParagraphs(text);
    SegmentBuilder builder(split, options.wordsPerSegment);
    for (std::size_t i = 0; i < split.paragraphs.size(); ++i) {
        builder.add(split.paragraphs[i], static_cast<std::int64_t>(i));
    }
    return builder.take();
}

std::string proofreadPrompt(std::string_view segmentText)
{
    std::string prompt(kInstruction);
    std::int64_t done = 0;
    for (const ByteRange &run : splitAtWhiteSpace(segmentText)) {
        const std::string_view gap = ByteRange{done, run.begin}.of(segmentText);
        if (gap.find_first_of("\r\n") != std::string_view::npos) {
            prompt += ' ';
        } else {
            prompt += gap;
        }
        prompt += run.of(segmentText);
        done = run.end;
    }
    return prompt;
}

} // namespace palimpsest
