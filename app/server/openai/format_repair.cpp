// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/format_repair.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace palimpsest::openai {

namespace {

constexpr std::size_t kTokensForSomethingMissing = 10; // a member with a short value: `, "name": "..."`
constexpr std::uint64_t kSeedStride = 1'000'003;       // away from the seeds of other choices

std::vector<TokenId> idsOf(std::span<const TokenSpan> spans)
{
    std::vector<TokenId> ids;
    ids.reserve(spans.size());
    for (const TokenSpan &span : spans)
        ids.push_back(span.id);
    return ids;
}

} // namespace

FormatRepair::FormatRepair(ResponseFormat format, GenerationRequest base, std::shared_ptr<const RunningModel> model)
    : m_format(std::move(format)), m_base(std::move(base)), m_model(std::move(model))
{
}

std::size_t FormatRepair::gapLength(std::size_t spanTokens) const
{
    const std::size_t base = spanTokens == 0 ? kTokensForSomethingMissing : spanTokens;
    switch (m_tries) {
    case 1:
        return base;
    case 2:
        return base + 4;
    default:
        return base * 2 + 8;
    }
}

void FormatRepair::banFromGap(GenerationRequest &request) const
{
    const auto isBiased = [&](TokenId id) {
        return std::ranges::any_of(request.logitBias, [id](const LogitBias &bias) { return bias.id == id; });
    };
    for (TokenId id = 0; id < std::min(m_model->tokenizer->vocabSize(), m_model->config.vocabSize); ++id) {
        if (m_model->tokenizer->isSpecial(id) && !isBiased(id))
            request.logitBias.push_back({id, -std::numeric_limits<float>::infinity()});
    }
}

std::optional<GenerationRequest> FormatRepair::nextTry(const FormatProblem &problem)
{
    if (m_tries == kMostTries)
        return std::nullopt;
    ++m_tries;
    const ByteRange wanted = m_tries == kMostTries ? jsonPart(m_text) : problem.span;
    const std::vector<TokenSpan> spans = m_model->tokenizer->encodeWithSpans(m_text, SpecialTokens::PlainText);
    const auto first = std::ranges::find_if(spans, [&](const TokenSpan &span) { return span.end > wanted.begin; });
    const auto behind =
        std::find_if(first, spans.end(), [&](const TokenSpan &span) { return span.begin >= wanted.end; });
    const auto begin = static_cast<std::size_t>(first - spans.begin());
    const auto end = static_cast<std::size_t>(behind - spans.begin());
    m_gap.replaced = {first == spans.end() ? static_cast<std::int64_t>(m_text.size()) : first->begin,
                      behind == spans.end() ? static_cast<std::int64_t>(m_text.size()) : behind->begin};
    if (end == begin)
        m_gap.replaced.end = m_gap.replaced.begin;

    const auto canvas = static_cast<std::size_t>(m_model->config.canvasLength);
    m_gap.length = std::min(gapLength(end - begin), canvas);
    // What stands before and does not fit the canvas belongs to the prompt; what stands behind and does not fit is out
    // of the model's sight.
    const std::size_t before = std::min(begin, (canvas - m_gap.length) / 2);
    const std::size_t after = std::min(spans.size() - end, canvas - m_gap.length - before);
    m_gap.begin = before;

    GenerationRequest request = m_base;
    request.seed += kSeedStride * static_cast<std::uint64_t>(m_tries);
    const std::vector<TokenId> ids = idsOf(spans);
    request.prompt.insert(request.prompt.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(begin - before));
    CanvasStart start;
    start.ids.assign(ids.begin() + static_cast<std::ptrdiff_t>(begin - before),
                     ids.begin() + static_cast<std::ptrdiff_t>(begin));
    start.ids.resize(before + m_gap.length, m_model->config.padTokenId);
    start.ids.insert(start.ids.end(), ids.begin() + static_cast<std::ptrdiff_t>(end),
                     ids.begin() + static_cast<std::ptrdiff_t>(end + after));
    start.frozen.assign(start.ids.size(), 1);
    std::fill_n(start.frozen.begin() + static_cast<std::ptrdiff_t>(before), m_gap.length, 0);
    request.maxNewTokens = static_cast<std::int64_t>(start.ids.size());
    request.firstCanvas = std::move(start);
    request.singleCanvas = true;
    request.stopStrings.clear();
    request.wantsCertainties = false;
    banFromGap(request);
    return request;
}

void FormatRepair::apply(const GenerationResult &result)
{
    if (result.canvases.empty())
        return;
    const std::vector<TokenId> &committed = result.canvases.front().committed;
    const std::string written =
        m_model->tokenizer->decode(std::span(committed).subspan(m_gap.begin, m_gap.length), DecodeSpecial::Skip);
    m_text.replace(static_cast<std::size_t>(m_gap.replaced.begin), static_cast<std::size_t>(m_gap.replaced.length()),
                   written);
}

} // namespace palimpsest::openai
