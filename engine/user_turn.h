// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/chat_format.h"
#include "engine/generation.h"
#include "engine/model_config.h"
#include "engine/tokenizer.h"

#include <string>
#include <vector>

namespace palimpsest {

/// Ids of a conversation that consists of one user turn, up to where the model's answer begins.
[[nodiscard]] std::vector<TokenId> encodeUserTurn(const std::string &text, const Tokenizer &tokenizer,
                                                  const ChatFormat &chat);

/// A request that ends and pads as the checkpoint's defaults say; prompt and budget are left to the caller.
[[nodiscard]] GenerationRequest requestWithDefaults(const ModelConfig &model, const GenerationDefaults &defaults,
                                                    const SamplerSettings &sampler, std::uint64_t seed);

} // namespace palimpsest
