// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/chat_format.h"
#include "engine/generation.h"
#include "engine/tokenizer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// Bytes [begin, end) of a UTF-8 document.
struct ByteRange
{
    std::int64_t begin = 0;
    std::int64_t end = 0;

    friend bool operator==(const ByteRange &, const ByteRange &) = default;
};

/// Widens a range to whole grapheme clusters (an accent stays with its letter, a family emoji in one piece). Throws
/// Error InvalidArgument if the range lies outside the text or is reversed; a cut inside a UTF-8 character is widened
/// as well.
[[nodiscard]] ByteRange snapToGraphemes(std::string_view document, ByteRange range);

/// How an edit is put to the model (design, section 2, "Editing").
enum class EditStrategy {
    FrozenCanvas, ///< [text before | gap | text after], everything but the gap frozen
    FreshAnswer,  ///< an ordinary answer that is spliced in
};

enum class NoiseAmount {
    Light,
    Medium,
    Full
}; ///< share of the selection's tokens that start from noise: 25, 60, 100 %

struct EditRequest
{
    std::string document;    ///< UTF-8
    ByteRange selection;     ///< snapped to graphemes; empty = insert here
    std::string instruction; ///< "" = neutral in-fill
    EditStrategy strategy = EditStrategy::FrozenCanvas;
    NoiseAmount noise = NoiseAmount::Full;
    std::vector<ByteRange> locks;         ///< words inside the selection that must stay
    std::vector<std::int64_t> gapLengths; ///< tokens to try; empty = chosen from the selection's length
    std::uint64_t seed = 0;
    SamplerSettings sampler;
};

/// A locked word: what was asked for and, since ids are frozen and not letters, what is really held.
struct LockExtent
{
    ByteRange asked;
    ByteRange held; ///< snapped outwards to token edges
};

/// One way of making an edit: the request to run and how to splice its canvas back.
struct EditCandidate
{
    GenerationRequest request;
    std::int64_t gapBegin = 0; ///< first canvas position of the gap
    std::int64_t gapEnd = 0;   ///< one past the last
};

/// An edit ready to run. `document == before + replaced text + after` byte for byte.
struct EditPlan
{
    std::string before;  ///< bytes in front of the selection, never re-tokenised
    std::string after;   ///< bytes behind it
    ByteRange selection; ///< as snapped
    EditStrategy strategy = EditStrategy::FrozenCanvas;
    std::vector<LockExtent> locks;
    std::vector<EditCandidate> candidates; ///< several gap lengths; run as a batch
    std::int64_t visibleAfterBytes = 0;    ///< how much of `after` the canvas shows the model
};

struct EditOutcome
{
    std::string document;
    ByteRange replaced;                    ///< the new text's range in it
    std::size_t candidate = 0;             ///< which candidate won: lowest mean entropy over the gap
    std::vector<std::string> alternatives; ///< every candidate's text for the gap, in order
};

/// Pure functions from documents to canvases and back. Nothing outside the selection ever changes, byte for byte.
class CanvasEditor
{
public:
    CanvasEditor(std::shared_ptr<const Tokenizer> tokenizer, ChatFormat chat, ModelConfig model,
                 GenerationDefaults defaults);

    /// Throws Error InvalidArgument (selection outside the text, gap too long), InvalidInput (not UTF-8),
    /// ContextLength.
    [[nodiscard]] EditPlan plan(const EditRequest &request) const;
    /// `results[i]` belongs to `plan.candidates[i]`.
    [[nodiscard]] EditOutcome apply(const EditPlan &plan, std::span<const GenerationResult> results) const;

private:
    std::shared_ptr<const Tokenizer> m_tokenizer;
    ChatFormat m_chat;
    ModelConfig m_model;
    GenerationDefaults m_defaults;
};

} // namespace palimpsest
