// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/error.h"
#include "engine/proofreading.h"
#include "engine/user_turn.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace palimpsest {

Proofreader::Proofreader(std::shared_ptr<const Tokenizer> tokenizer, ChatFormat chat, ModelConfig model,
                         GenerationDefaults defaults)
    : m_tokenizer(std::move(tokenizer)), m_chat(chat), m_model(std::move(model)), m_defaults(std::move(defaults))
{
}

GenerationRequest Proofreader::request(std::string_view text, const ProofreadSegment &segment,
                                       const SamplerSettings &sampler, std::uint64_t seed) const
{
    if (segment.kind != SegmentKind::Prose) {
        throw Error(ErrorKind::InvalidArgument,
                    fmt::format("bytes {} to {} are not prose and are not sent to the model", segment.range.begin,
                                segment.range.end),
                    "segment");
    }
    const std::string_view segmentText = segment.range.of(text);
    GenerationRequest request = requestWithDefaults(m_model, m_defaults, sampler, seed);
    request.prompt = encodeUserTurn(proofreadPrompt(segmentText), *m_tokenizer, m_chat);
    // A correction is rarely longer than the text; half as much again, in whole canvases, leaves room for the end
    // token.
    const auto tokens = static_cast<std::int64_t>(m_tokenizer->encode(segmentText, SpecialTokens::PlainText).size());
    const std::int64_t canvases = (tokens + tokens / 2 + m_model.canvasLength) / m_model.canvasLength;
    request.maxNewTokens = canvases * m_model.canvasLength;
    const std::int64_t wanted = static_cast<std::int64_t>(request.prompt.size()) + request.maxNewTokens;
    if (wanted > m_model.maxPositions) {
        throw Error(ErrorKind::ContextLength,
                    fmt::format("proofreading bytes {} to {} takes {} tokens, the model's context holds {}; cut the "
                                "text into shorter groups",
                                segment.range.begin, segment.range.end, wanted, m_model.maxPositions),
                    "segment");
    }
    return request;
}

ProofreadReply proofreadReply(const GenerationResult &result, const ChatFormat &chat)
{
    const ParsedReply parsed = chat.parseReply(result.rawText);
    return {.text = parsed.text, .finished = result.finish == FinishReason::EndOfTurn && !parsed.thoughtUnfinished};
}

} // namespace palimpsest
