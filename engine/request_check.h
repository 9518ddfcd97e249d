// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/generation.h"

#include <cstdint>
#include <span>
#include <vector>

namespace palimpsest {

/// What a request comes to on one model, checked and worked out before it runs.
struct RequestPlan
{
    /// Positions of each canvas, the last one trimmed where the context ends. Fewer are denoised if the model ends
    /// before the budget does.
    std::vector<std::int64_t> canvasLengths;
    std::vector<LogitBias> logitBias;  ///< sorted by id
    std::vector<TokenId> bannedIds;    ///< ids with bias -infinity, sorted
    std::vector<TokenId> endOfTurnIds; ///< sorted
};

/// Throws Error InvalidArgument naming the field, or ContextLength with the arithmetic, if the request cannot run on
/// this model; `tokenizer` may be null.
[[nodiscard]] RequestPlan checkRequest(const GenerationRequest &request, const ModelConfig &model,
                                       const Tokenizer *tokenizer);

/// Throws Error InvalidArgument if a position lies outside a canvas of `canvasLength` or an id outside the vocabulary.
void checkFreezes(std::span<const Generation::Freeze> changes, std::int64_t canvasLength, std::int64_t vocabSize);

} // namespace palimpsest
