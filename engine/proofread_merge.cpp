// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/error.h"
#include "engine/proofreading.h"
#include "engine/text_boundaries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace palimpsest {

namespace {

/// A text as words and the white space between them: `gaps[i]` lies in front of word i, the last one behind them all.
struct SpacedWords
{
    explicit SpacedWords(std::string_view text)
    {
        std::int64_t done = 0;
        for (const ByteRange &run : splitAtWhiteSpace(text)) {
            gaps.push_back(ByteRange{done, run.begin}.of(text));
            words.push_back(run.of(text));
            done = run.end;
        }
        gaps.push_back(text.substr(static_cast<std::size_t>(done)));
    }

    std::vector<std::string_view> words;
    std::vector<std::string_view> gaps;
};

bool hasLineEnd(std::string_view gap)
{
    return gap.find_first_of("\r\n") != std::string_view::npos;
}

bool isPlainSpaces(std::string_view gap)
{
    return !gap.empty() && gap.find_first_not_of(' ') == std::string_view::npos;
}

/// Chooses the white space of a corrected text: a gap that both texts have stays as the writer had it (line ends, tabs,
/// no-break spaces); how many plain spaces there are is the model's to correct.
class GapCarrier
{
public:
    GapCarrier(const SpacedWords &original, const SpacedWords &reply) : m_original(original), m_gaps(reply.gaps)
    {
        for (std::string_view &gap : m_gaps) {
            gap = isPlainSpaces(gap) ? gap : " ";
        }
    }

    /// The gaps between words that both texts share.
    void carryMatch(const SequenceMatch &match)
    {
        for (std::int64_t i = 1; i < match.length; ++i) {
            offer(match.originalBegin + i, match.revisedBegin + i);
        }
    }

    /// The gaps around and between words that were replaced, added or dropped, spread evenly. Where words were added
    /// only, the gap goes behind them.
    void carryDifference(std::int64_t originalBegin, std::int64_t originalWords, std::int64_t replyBegin,
                         std::int64_t replyWords)
    {
        for (std::int64_t i = 0; i <= originalWords; ++i) {
            const std::int64_t j =
                originalWords == 0 ? replyWords : (2 * i * replyWords + originalWords) / (2 * originalWords);
            offer(originalBegin + i, replyBegin + j);
        }
    }

    [[nodiscard]] std::string textOf(const SpacedWords &reply) const
    {
        std::string text;
        for (std::size_t i = 0; i < reply.words.size(); ++i) {
            if (i > 0) {
                text += m_gaps[i];
            }
            text += reply.words[i];
        }
        return text;
    }

private:
    void offer(std::int64_t originalGap, std::int64_t replyGap)
    {
        // What lies outside the first and last word is not between words on both sides.
        if (originalGap == 0 || originalGap == static_cast<std::int64_t>(m_original.words.size())) {
            return;
        }
        const std::string_view gap = m_original.gaps[static_cast<std::size_t>(originalGap)];
        std::string_view &chosen = m_gaps[static_cast<std::size_t>(replyGap)];
        // Where words were dropped several gaps compete: a line end is kept before anything else.
        if (!isPlainSpaces(gap) && (hasLineEnd(gap) || !hasLineEnd(chosen))) {
            chosen = gap;
        }
    }

    const SpacedWords &m_original;
    std::vector<std::string_view> m_gaps;
};

/// Whether a reply cannot be a corrected copy of the segment, and why.
SegmentOutcome judge(std::string_view segment, const ProofreadReply &reply, const SpacedWords &original,
                     const SpacedWords &corrected, std::span<const SequenceMatch> matches)
{
    if (!reply.finished) {
        return SegmentOutcome::KeptUnfinished;
    }
    if (corrected.words.empty()) {
        return SegmentOutcome::KeptEmpty;
    }
    for (const std::string_view marker : {"<|", "|>", "<turn", "```", "\xEF\xBF\xBD"}) {
        if (reply.text.find(marker) != std::string::npos && segment.find(marker) == std::string_view::npos) {
            return SegmentOutcome::KeptMarkers;
        }
    }
    // A factor of two is no correction any more; a few bytes are always free, for texts of a word or two.
    constexpr std::size_t kFreeBytes = 8;
    if (reply.text.size() > 2 * segment.size() + kFreeBytes || segment.size() > 2 * reply.text.size() + kFreeBytes) {
        return SegmentOutcome::KeptLength;
    }
    // The worst texts of the demo model's training have 30 % wrong words; short ones may be wrong altogether.
    constexpr std::int64_t kFewWords = 8;
    constexpr double kLeastCommonShare = 0.4;
    std::int64_t common = 0;
    for (const SequenceMatch &match : matches) {
        common += match.length;
    }
    const auto words = static_cast<std::int64_t>(original.words.size());
    if (words >= kFewWords && static_cast<double>(common) < kLeastCommonShare * static_cast<double>(words)) {
        return SegmentOutcome::KeptUnrelated;
    }
    return SegmentOutcome::Changed;
}

std::string withCarriedGaps(const SpacedWords &original, const SpacedWords &corrected,
                            std::span<const SequenceMatch> matches)
{
    GapCarrier carrier(original, corrected);
    std::int64_t originalDone = 0;
    std::int64_t replyDone = 0;
    for (const SequenceMatch &match : matches) {
        carrier.carryDifference(originalDone, match.originalBegin - originalDone, replyDone,
                                match.revisedBegin - replyDone);
        carrier.carryMatch(match);
        originalDone = match.originalBegin + match.length;
        replyDone = match.revisedBegin + match.length;
    }
    carrier.carryDifference(originalDone, static_cast<std::int64_t>(original.words.size()) - originalDone, replyDone,
                            static_cast<std::int64_t>(corrected.words.size()) - replyDone);
    return carrier.textOf(corrected);
}

struct CorrectedSegment
{
    SegmentOutcome outcome = SegmentOutcome::PassedThrough;
    std::string text; ///< only if changed
};

CorrectedSegment correct(std::string_view segment, const ProofreadReply &reply)
{
    const SpacedWords original(segment);
    const SpacedWords corrected(reply.text);
    const std::vector<SequenceMatch> matches = matchWords(original.words, corrected.words);
    CorrectedSegment result;
    result.outcome = judge(segment, reply, original, corrected, matches);
    if (result.outcome == SegmentOutcome::Changed) {
        result.text = withCarriedGaps(original, corrected, matches);
        if (result.text == segment) {
            result.outcome = SegmentOutcome::Unchanged;
        }
    }
    return result;
}

} // namespace

ProofreadMerge mergeProofread(std::string_view text, std::span<const ProofreadSegment> segments,
                              std::span<const ProofreadReply> replies)
{
    if (segments.size() != replies.size()) {
        throw Error(ErrorKind::InvalidArgument,
                    fmt::format("{} replies for {} segments; wanted one each", replies.size(), segments.size()),
                    "replies");
    }
    ProofreadMerge merge;
    std::int64_t done = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const ByteRange range = segments[i].range;
        const CorrectedSegment corrected =
            segments[i].kind == SegmentKind::Prose ? correct(range.of(text), replies[i]) : CorrectedSegment{};
        merge.outcomes.push_back(corrected.outcome);
        if (corrected.outcome != SegmentOutcome::Changed) {
            continue;
        }
        merge.text += ByteRange{done, range.begin}.of(text);
        const auto newBegin = static_cast<std::int64_t>(merge.text.size());
        for (const TextChange &change : diffWords(range.of(text), corrected.text)) {
            merge.changes.push_back(
                {.original = {change.original.begin + range.begin, change.original.end + range.begin},
                 .revised = {change.revised.begin + newBegin, change.revised.end + newBegin}});
        }
        merge.text += corrected.text;
        done = range.end;
    }
    merge.text += text.substr(static_cast<std::size_t>(done));
    return merge;
}

} // namespace palimpsest
