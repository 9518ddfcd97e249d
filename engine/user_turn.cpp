// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/user_turn.h"

namespace palimpsest {

std::vector<TokenId> encodeUserTurn(const std::string &text, const Tokenizer &tokenizer, const ChatFormat &chat)
{
    ChatMessage message;
    message.role = ChatRole::User;
    message.text = text;
    ChatRequest request;
    request.messages.push_back(std::move(message));
    return chat.encode(request, tokenizer);
}

GenerationRequest requestWithDefaults(const ModelConfig &model, const GenerationDefaults &defaults,
                                      const SamplerSettings &sampler, std::uint64_t seed)
{
    GenerationRequest request;
    request.sampler = sampler;
    request.seed = seed;
    request.eosTokenIds = defaults.eosTokenIds.empty() ? model.eosTokenIds : defaults.eosTokenIds;
    request.padTokenId = defaults.padTokenId.value_or(model.padTokenId);
    return request;
}

} // namespace palimpsest
