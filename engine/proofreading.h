// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/byte_range.h"
#include "engine/chat_format.h"
#include "engine/generation.h"
#include "engine/model_config.h"
#include "engine/tokenizer.h"
#include "engine/word_diff.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// What is done with a piece of a text that is being proofread.
enum class SegmentKind {
    Prose, ///< goes to the model
    Code,  ///< code, tables, addresses, huge words: passed through unchanged
};

/// A piece of the text. White space around it, blank lines, list markers and a byte-order mark lie between segments and
/// never change.
struct ProofreadSegment
{
    ByteRange range; ///< begins and ends with something visible
    SegmentKind kind = SegmentKind::Prose;
    std::int64_t words = 0;
    std::int64_t paragraph = 0; ///< counted from 0; list items, headings and code blocks are paragraphs of their own
};

struct ProofreadOptions
{
    /// Sentences are grouped up to this. 60 is where the demo model was measured best: word error rate 9.8 -> 3.3 %
    /// for texts of 21 to 60 words, 12.9 -> 6.4 % above.
    std::int64_t wordsPerSegment = 60;
};

/// Cuts a text into segments: ascending, apart from each other, covering everything but white space and list markers.
/// Groups of whole sentences inside a paragraph; a sentence of more than twice `wordsPerSegment` is cut behind a
/// clause, else between words, never inside one. Throws Error InvalidInput if the text is not UTF-8, InvalidArgument if
/// `wordsPerSegment` is below 1.
[[nodiscard]] std::vector<ProofreadSegment> splitForProofreading(std::string_view text,
                                                                 const ProofreadOptions &options = {});

/// The user turn that proofreads a segment: the instruction, a blank line, and the segment's text with its line ends
/// turned into spaces (they are put back by mergeProofread).
[[nodiscard]] std::string proofreadPrompt(std::string_view segmentText);

/// Makes the request for one segment at a time. Immutable.
class Proofreader
{
public:
    Proofreader(std::shared_ptr<const Tokenizer> tokenizer, ChatFormat chat, ModelConfig model,
                GenerationDefaults defaults);

    /// The request that proofreads `segment.range.of(text)`; a budget of at least one whole canvas. Throws Error
    /// InvalidArgument for a segment that is not prose, ContextLength if it does not fit the model.
    [[nodiscard]] GenerationRequest request(std::string_view text, const ProofreadSegment &segment,
                                            const SamplerSettings &sampler, std::uint64_t seed) const;

private:
    std::shared_ptr<const Tokenizer> m_tokenizer;
    ChatFormat m_chat;
    ModelConfig m_model;
    GenerationDefaults m_defaults;
};

/// A model's answer for one segment.
struct ProofreadReply
{
    std::string text;
    bool finished = true; ///< false if it was cut by the budget, or cancelled
};

/// The answer in a result, without thoughts; markers that do not belong there stay visible, so that the merge sees
/// them.
[[nodiscard]] ProofreadReply proofreadReply(const GenerationResult &result, const ChatFormat &chat);

/// What became of a segment. A reply that cannot be a corrected copy leaves the segment as it was.
enum class SegmentOutcome {
    PassedThrough, ///< not prose, not sent
    Unchanged,     ///< the model found nothing to correct
    Changed,
    KeptEmpty,      ///< the reply held no text
    KeptLength,     ///< much longer or shorter than the segment
    KeptMarkers,    ///< the reply held turn markers, broken characters or a code fence
    KeptUnrelated,  ///< too few words in common with the segment
    KeptUnfinished, ///< the reply was cut or cancelled
};

struct ProofreadMerge
{
    std::string text;
    std::vector<SegmentOutcome> outcomes; ///< one a segment
    std::vector<TextChange> changes;      ///< word by word, over the whole text: from the input to `text`
};

/// Puts the corrected segments back; every byte outside changed segments is copied. Line ends, tabs, and other white
/// space between words that both texts share stay as the writer had them. `replies[i]` belongs to `segments[i]`;
/// those of segments that are not prose are ignored.
[[nodiscard]] ProofreadMerge mergeProofread(std::string_view text, std::span<const ProofreadSegment> segments,
                                            std::span<const ProofreadReply> replies);

} // namespace palimpsest
