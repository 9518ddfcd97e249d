// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/canvas.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// Where an edit takes place: what is replaced, and how white space at its borders is handled.
struct EditScene
{
    EditKind kind = EditKind::Rewrite;
    ByteRange selection; ///< snapped
    ByteRange replaced;
    bool dropLeadingSpace = false;
    bool closeWithSpace = false;
};

/// Throws Error InvalidArgument if the selection lies outside the document.
[[nodiscard]] EditScene readScene(std::string_view document, ByteRange selection);

/// Where a range's bytes and the model's view of them differ at the beginning.
enum class LeadingSpace {
    AsWritten,
    Virtual, ///< the view begins with a space that is not part of the range
};

/// Tokens of a part of the document, CR LF seen as LF. The spans are bytes of the document, inside `range`.
[[nodiscard]] std::vector<TokenSpan> tokenizePart(std::string_view document, ByteRange range, LeadingSpace space,
                                                  const Tokenizer &tokenizer);

/// Tokens around and inside the gap that the model is shown.
struct SceneTokens
{
    std::vector<TokenSpan> before; ///< without a space that the gap's first token brings
    std::vector<TokenSpan> core;   ///< what is replaced, that space included
    std::vector<TokenSpan> after;  ///< with a virtual space in front if the scene closes with one
    ByteRange shown;               ///< bytes of the document
    bool reachesEnd = false;       ///< `after` goes to the end of the document
};

/// How much of the document can be shown.
struct ContextBudget
{
    std::int64_t tokens = 0; ///< for two copies of the text before, and one of the selection and the text after
    std::int64_t shown = 0;  ///< for one copy of all; 0 = as many as `tokens` allows
};

/// Chooses the text around the selection that the model is shown, nearest first, cut at white space in front. Throws
/// Error ContextLength if not even the selection fits.
[[nodiscard]] SceneTokens tokenizeScene(std::string_view document, const EditScene &scene, const ContextBudget &budget,
                                        const Tokenizer &tokenizer);

/// The user turn of an edit: the instruction, or a neutral one, a blank line, and the text as the model is shown it.
[[nodiscard]] std::string editPrompt(const EditRequest &request, const EditScene &scene, ByteRange shown);

} // namespace palimpsest
