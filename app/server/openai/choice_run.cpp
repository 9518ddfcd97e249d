// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/choice_run.h"

#include "engine/error.h"

#include <algorithm>
#include <utility>

namespace palimpsest::openai {

ChoiceRun::ChoiceRun(std::size_t index, std::shared_ptr<const PreparedAnswer> prepared, std::uint64_t seed,
                     std::shared_ptr<const RunningModel> model)
    : m_prepared(std::move(prepared)), m_model(std::move(model)), m_seed(seed)
{
    m_outcome.index = index;
    if (m_prepared->rules)
        m_splitter.emplace(*m_model->chat, *m_prepared->rules);
}

GenerationRequest ChoiceRun::request() const
{
    GenerationRequest request = m_prepared->request;
    request.seed = m_seed;
    return request;
}

bool ChoiceRun::startsInThought() const
{
    return m_prepared->rules && m_prepared->rules->start == ReplyStart::Thought;
}

AnswerDelta ChoiceRun::take(const ReplyPieces &pieces, std::size_t settledTokens)
{
    AnswerDelta delta{pieces, {}};
    if (!m_prepared->topLogprobs)
        return delta;
    const std::size_t settled = std::min(settledTokens, m_tokens.size());
    std::vector<VisibleToken> visible =
        visibleTokens(std::span(m_tokens).first(settled), m_certainties, *m_model->tokenizer, startsInThought());
    for (std::size_t i = m_tokensGiven; i < visible.size(); ++i)
        delta.tokens.push_back(visible[i]);
    m_tokensGiven = std::max(m_tokensGiven, visible.size());
    return delta;
}

AnswerDelta ChoiceRun::onCanvas(const CanvasEvent &event)
{
    if (m_prepared->topLogprobs) {
        m_tokens.insert(m_tokens.end(), event.committed.begin(), event.committed.end());
        m_certainties.insert(m_certainties.end(), event.certainties.begin(), event.certainties.end());
    }
    ReplyPieces pieces;
    if (m_splitter) {
        pieces = m_splitter->push(event.settledRawText);
    } else {
        pieces.content = event.settledText;
        m_outcome.content += pieces.content;
    }
    if (m_prepared->format.isJson()) // held until it is known to fit
        return {};
    return take(pieces, static_cast<std::size_t>(event.settledTokens));
}

ChoiceRun::Ending ChoiceRun::onResult(GenerationResult result)
{
    if (!m_repair)
        return endFirstPass(std::move(result));
    m_repair->apply(result);
    return checkOrRepair();
}

void ChoiceRun::noteOutcome(const GenerationResult &result)
{
    m_outcome.completionTokens = static_cast<std::int64_t>(result.tokens.size());
    m_outcome.thoughtTokens = countThoughtTokens(result.tokens, *m_model->tokenizer, startsInThought());
    m_outcome.end = result.finish == FinishReason::Budget ? EndReason::Length : EndReason::Stop;
    if (!m_splitter)
        return;
    m_outcome.thoughts = m_splitter->thoughts();
    m_outcome.content = m_splitter->content();
    m_outcome.calls = m_splitter->calls();
    m_outcome.thoughtUnfinished = m_splitter->thoughtUnfinished();
    if (m_splitter->stopped())
        m_outcome.end = EndReason::Stop;
    else if (!m_outcome.calls.empty() && m_outcome.end == EndReason::Stop)
        m_outcome.end = EndReason::ToolCalls;
}

ChoiceRun::Ending ChoiceRun::endFirstPass(GenerationResult result)
{
    const ReplyPieces pieces = m_splitter ? m_splitter->finish() : ReplyPieces();
    noteOutcome(result);
    if (m_prepared->topLogprobs)
        m_outcome.tokens = visibleTokens(result.tokens, result.certainties, *m_model->tokenizer, startsInThought());
    const std::size_t settled = result.tokens.size();
    m_outcome.result = std::move(result);
    if (m_prepared->mustCall && m_outcome.calls.empty()) {
        throw Error(ErrorKind::InvalidArgument,
                    "tool_choice: the model did not write a tool call that can be read; try again with another seed",
                    "tool_choice");
    }
    // A call is no answer, and an answer that was cut off says so by its end reason.
    const bool isWhole = m_outcome.calls.empty() && m_outcome.end == EndReason::Stop;
    if (!m_prepared->format.isJson())
        return {.rest = take(pieces, settled)};
    if (!isWhole)
        return {.rest = wholeAnswer()};
    m_repair.emplace(m_prepared->format, request(), m_model);
    m_repair->begin(m_outcome.content);
    return checkOrRepair();
}

ChoiceRun::Ending ChoiceRun::checkOrRepair()
{
    const std::optional<FormatProblem> problem = m_repair->problem();
    m_outcome.repairs = m_repair->tries();
    if (!problem) {
        m_outcome.content = m_repair->value();
        if (m_outcome.repairs > 0) { // the tokens are no longer those of the first pass
            m_outcome.completionTokens =
                m_outcome.thoughtTokens +
                static_cast<std::int64_t>(
                    m_model->tokenizer->encode(m_outcome.content, SpecialTokens::PlainText).size());
        }
        return {.rest = wholeAnswer()};
    }
    if (std::optional<GenerationRequest> next = m_repair->nextTry(*problem))
        return {.next = std::move(next)};
    throw Error(ErrorKind::InvalidArgument,
                m_prepared->format.field + ": the model's answer does not fit it, also after " +
                    std::to_string(FormatRepair::kMostTries) + " repairs (" + problem->message +
                    "); try another seed, or a simpler schema",
                m_prepared->format.field);
}

AnswerDelta ChoiceRun::wholeAnswer() const
{
    return {{m_outcome.thoughts, m_outcome.content, m_outcome.calls}, m_outcome.tokens};
}

std::string ChoiceRun::draftText(const StepEvent &event) const
{
    const auto isEnd = [this](TokenId id) {
        return std::ranges::find(m_prepared->request.eosTokenIds, id) != m_prepared->request.eosTokenIds.end();
    };
    const auto end = std::ranges::find_if(event.argmax, isEnd);
    return m_model->tokenizer->decode({event.argmax.begin(), end}, DecodeSpecial::Skip);
}

} // namespace palimpsest::openai
