// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/byte_range.h"
#include "engine/chat_format.h"
#include "engine/generation.h"
#include "engine/model_config.h"
#include "engine/text_boundaries.h"
#include "engine/tokenizer.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// How an edit is put to the model (design, section 2, "Editing").
enum class EditStrategy {
    FrozenCanvas, ///< [text before | gap | text after], everything but the gap frozen
    FreshAnswer,  ///< an ordinary answer that is spliced in
};

/// Share of the selection's tokens that are written anew: 25, 60, 100 %. Whole words are chosen, by the seed. On a
/// frozen canvas the others are frozen (a start that is merely kept would be renoised after the first step wherever it
/// is not accepted at once); a fresh answer starts from them and may change them.
enum class NoiseAmount { Light, Medium, Full };

/// What an edit turned out to be.
enum class EditKind {
    Rewrite,  ///< something visible is selected
    Fill,     ///< an empty selection (or white space) with text behind it: insert there
    Continue, ///< an empty selection with nothing visible behind it
};

struct EditRequest
{
    std::string document;    ///< UTF-8
    ByteRange selection;     ///< snapped to graphemes; empty = insert here
    std::string instruction; ///< "" = neutral in-fill
    EditStrategy strategy = EditStrategy::FrozenCanvas;
    NoiseAmount noise = NoiseAmount::Full; ///< Light and Medium keep the length: `gapLengths` must be empty
    std::vector<ByteRange> locks;          ///< words inside the selection that must stay; FrozenCanvas only
    /// Tokens to try; empty = chosen from the selection's length. A fresh answer takes the largest as its budget.
    std::vector<std::int64_t> gapLengths;
    std::uint64_t seed = 0;
    SamplerSettings sampler;
    /// Runs of each gap length, with seeds `seed`, `seed + 1`, ...
    int attempts = 1;
    /// Tokens of the document around the selection that the model is shown, at most; 0 = what its context holds.
    std::int64_t contextTokens = 0;
};

/// A locked word: what was asked for and, since ids are frozen and not letters, what is really held.
struct LockExtent
{
    ByteRange asked;
    ByteRange held; ///< snapped outwards to token edges, inside the replaced range
};

/// Frozen positions inside a gap. Their bytes come from the document, not from decoding their ids.
struct HeldRun
{
    std::int64_t canvasBegin = 0;
    std::int64_t canvasEnd = 0;
    ByteRange source; ///< bytes of the document
};

/// One way of making an edit: the request to run and how to splice its canvas back.
struct EditCandidate
{
    GenerationRequest request;
    std::int64_t gapBegin = 0; ///< first canvas position of the gap
    std::int64_t gapEnd = 0;   ///< one past the last
    std::vector<HeldRun> held; ///< ascending, inside the gap
    /// Nothing visible stands behind the gap, so the model may end its turn inside; the text ends there.
    bool endsItself = false;
};

/// An edit ready to run. `document == before + replaced text + after` byte for byte.
struct EditPlan
{
    std::string before;  ///< bytes in front of what is replaced, never re-tokenised
    std::string after;   ///< bytes behind it
    ByteRange selection; ///< as snapped
    EditStrategy strategy = EditStrategy::FrozenCanvas;
    std::vector<LockExtent> locks;
    std::vector<EditCandidate> candidates; ///< several gap lengths; run as a batch
    std::int64_t visibleAfterBytes = 0;    ///< how much of `after` the canvas shows the model

    EditKind kind = EditKind::Rewrite;
    /// What is really replaced: the selection without the white space at its ends.
    ByteRange replaced;
    std::string replacedText;      ///< its bytes
    ByteRange shown;               ///< what of the document the user turn shows the model, the replaced range included
    bool lineEndsAreCrLf = false;  ///< new line ends are written as CR LF
    bool dropLeadingSpace = false; ///< the gap's first token brings the space that `before` ends with
    bool closeWithSpace = false;   ///< the new text stands in front of a word: it gets a space behind it
    bool opensWithSpace = false;   ///< the new text is appended to text that ends in something visible
};

struct EditOutcome
{
    std::string document;
    ByteRange replaced;                    ///< the new text's range in it
    std::size_t candidate = 0;             ///< which candidate won: lowest mean entropy over the gap
    std::vector<std::string> alternatives; ///< every candidate's text for the gap, in order; "" for an unusable one
    std::vector<float> meanEntropyNats;    ///< every candidate's, infinite for an unusable one
    /// Why the document is unchanged ("cancelled", ...), for people; "" if a candidate was used.
    std::string problem;
};

/// Pure functions from documents to canvases and back. Nothing outside the selection ever changes, byte for byte.
///
/// White space: what the selection has of it at its ends stays. A single space in front of the gap belongs, for the
/// model, to the gap's first token (Gemma's pieces carry their space in front); it is dropped again when the new text
/// is spliced in, so it is neither lost nor doubled. An insertion in front of a word gets a space behind it. New text
/// that ends in a repetition of the words behind it, as gaps that are too long tend to, is cut in front of the
/// repetition. A fresh answer for a part of a sentence loses the capital and full stop that the part did not have.
class CanvasEditor
{
public:
    CanvasEditor(std::shared_ptr<const Tokenizer> tokenizer, ChatFormat chat, ModelConfig model,
                 GenerationDefaults defaults);

    /// Throws Error InvalidArgument (selection outside the text, gap too long), InvalidInput (not UTF-8),
    /// ContextLength.
    [[nodiscard]] EditPlan plan(const EditRequest &request) const;
    /// `results[i]` belongs to `plan.candidates[i]`. Throws Error InvalidArgument if their number differs.
    [[nodiscard]] EditOutcome apply(const EditPlan &plan, std::span<const GenerationResult> results) const;
    /// The document with candidate `index`'s text in place, for choosing another alternative than the winner.
    [[nodiscard]] static std::string splice(const EditPlan &plan, std::string_view newText);

private:
    std::shared_ptr<const Tokenizer> m_tokenizer;
    ChatFormat m_chat;
    ModelConfig m_model;
    GenerationDefaults m_defaults;
    std::vector<LogitBias> m_bans; ///< ids that no gap may hold
};

} // namespace palimpsest
