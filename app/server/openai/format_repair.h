// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "app/server/openai/response_format.h"
#include "engine/generation.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace palimpsest::openai {

/// Makes an answer fit its response format by writing the failing span anew in place: a canvas that holds the text
/// before and after it, frozen, and noise between them. Everything outside the span stays byte for byte.
///
/// Pure: asks for requests, takes results. Every try gives the span another length and another seed; the last one gives
/// up the whole value. Tokens that end a turn, or that no text holds, are banned from the span.
class FormatRepair
{
public:
    static constexpr int kMostTries = 4;

    /// `base`: the request that was answered.
    FormatRepair(ResponseFormat format, GenerationRequest base, std::shared_ptr<const RunningModel> model);

    /// The answer's text as it stands. Call before anything else, once.
    void begin(std::string text) { m_text = std::move(text); }
    /// What is wrong with the text now.
    [[nodiscard]] std::optional<FormatProblem> problem() const { return checkFormat(m_format, m_text); }
    /// The next try's request; nothing if there are no more tries.
    [[nodiscard]] std::optional<GenerationRequest> nextTry(const FormatProblem &problem);
    /// Puts a try's result into the text.
    void apply(const GenerationResult &result);

    [[nodiscard]] int tries() const noexcept { return m_tries; }
    /// The value alone, without what may stand around it.
    [[nodiscard]] std::string value() const { return std::string(jsonPart(m_text).of(m_text)); }

private:
    struct Gap
    {
        ByteRange replaced; ///< bytes of the text
        std::size_t begin = 0;
        std::size_t length = 0; ///< positions of the canvas
    };
    [[nodiscard]] std::size_t gapLength(std::size_t spanTokens) const;
    void banFromGap(GenerationRequest &request) const;

    ResponseFormat m_format;
    GenerationRequest m_base;
    std::shared_ptr<const RunningModel> m_model;
    std::string m_text;
    int m_tries = 0;
    Gap m_gap;
};

} // namespace palimpsest::openai
