// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/canvas_run_plan.h"

#include "app/editing/locked_words.h"
#include "app/editing/utf8_text.h"
#include "engine/canvas_text.h"
#include "engine/text_boundaries.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace palimpsest::editing {

namespace {

EditStrategy strategyOf(const PlanInput &input, bool hasLocks)
{
    const RunWish &wish = input.wish;
    if (wish.action == RunAction::Rewrite)
        return hasLocks ? EditStrategy::FrozenCanvas : EditStrategy::FreshAnswer;
    // With nothing in front, an instruction alone decides, and a fresh answer may take several canvases.
    const bool startsFromNothing = wish.action == RunAction::Continue && !wish.instruction.trimmed().isEmpty() &&
                                   QStringView(input.text).left(wish.span.start).trimmed().isEmpty();
    return startsFromNothing ? EditStrategy::FreshAnswer : EditStrategy::FrozenCanvas;
}

EditRequest requestOf(const PlanInput &input)
{
    const RunWish &wish = input.wish;
    const bool continues = wish.action == RunAction::Continue;
    // A continuation goes on as if nothing stood behind it; to meet what does is what a fill is for.
    const Utf8Text text(continues ? QStringView(input.text).left(wish.span.start) : QStringView(input.text));
    EditRequest request;
    request.document = text.bytes();
    request.selection = text.toBytes(continues ? TextSpan{wish.span.start, wish.span.start} : wish.span);
    request.instruction = toUtf8(wish.instruction.trimmed());
    request.noise = wish.action == RunAction::Renoise ? wish.amount : NoiseAmount::Full;
    if (!continues) {
        for (const TextSpan &lock : locksInside(input.locks, wish.span)) {
            const ByteRange bytes = text.toBytes({lock.start + wish.span.start, lock.end + wish.span.start});
            if (const ByteRange visible = trimWhiteSpace(request.document, bytes); !visible.empty())
                request.locks.push_back(visible);
        }
    }
    request.strategy = strategyOf(input, !request.locks.empty());
    request.seed = input.seed;
    request.sampler = input.sampler;
    request.contextTokens = input.contextTokens;
    return request;
}

/// Several lengths of a gap are alternatives already; what is missing of those asked for is made with further seeds.
EditPlan planOf(EditRequest request, const RunWish &wish, const CanvasEditor &editor)
{
    EditPlan plan = editor.plan(request);
    const auto lengths = static_cast<int>(plan.candidates.size());
    request.attempts = (wish.alternatives + lengths - 1) / lengths;
    return request.attempts > 1 ? editor.plan(request) : plan;
}

/// How a held run's letters read in the draft; its first token's space may lie in front of what is replaced.
std::string lettersOf(const HeldRun &run, const EditPlan &plan)
{
    const ByteRange inside{std::max(run.source.begin, plan.replaced.begin) - plan.replaced.begin,
                           std::min(run.source.end, plan.replaced.end) - plan.replaced.begin};
    return std::string(inside.of(plan.replacedText));
}

bool isSettled(char mark)
{
    return mark == '+' || mark == '=' || mark == '#';
}

/// The frame's text, and the stretches of it that have not settled.
struct Unsettled
{
    QString text;
    std::vector<TextSpan> spans;

    [[nodiscard]] bool meets(TextSpan span) const
    {
        return std::any_of(spans.begin(), spans.end(),
                           [span](const TextSpan &other) { return other.start < span.end && span.start < other.end; });
    }
};

Unsettled unsettledOf(const QString &settledBefore, const Frame &frame)
{
    Unsettled result{settledBefore, {}};
    for (int i = frame.showBegin; i < frame.showEnd; ++i) {
        const QString &piece = frame.text[static_cast<std::size_t>(i)];
        // An empty piece is a later byte of a character: it makes the whole character unsettled.
        if (!isSettled(frame.marks.at(i)))
            result.spans.push_back(
                {piece.isEmpty() ? std::max<qsizetype>(0, result.text.size() - 1) : result.text.size(),
                 result.text.size() + piece.size()});
        result.text += piece;
    }
    return result;
}

void sortBySurety(std::vector<ProposalAlternative> &alternatives)
{
    std::stable_sort(alternatives.begin(), alternatives.end(),
                     [](const ProposalAlternative &a, const ProposalAlternative &b) {
                         return a.meanEntropy.value_or(0.0) < b.meanEntropy.value_or(0.0);
                     });
    std::vector<ProposalAlternative> distinct;
    for (ProposalAlternative &alternative : alternatives) {
        const bool isNew = std::none_of(distinct.begin(), distinct.end(),
                                        [&alternative](const auto &other) { return other.text == alternative.text; });
        if (isNew)
            distinct.push_back(std::move(alternative));
    }
    alternatives = std::move(distinct);
}

std::vector<CanvasStop> stopsOf(const GenerationResult &result)
{
    std::vector<CanvasStop> stops;
    for (const CanvasRecord &canvas : result.canvases)
        stops.push_back(canvas.stop);
    return stops;
}

} // namespace

QString settledText(QStringView original, const QString &settledBefore, const Frame &frame)
{
    const Unsettled now = unsettledOf(settledBefore, frame);
    if (original.trimmed().isEmpty()) {
        const qsizetype first = now.spans.empty() ? now.text.size() : now.spans.front().start;
        QString words = now.text.left(first);
        if (first < now.text.size() && now.text.at(first).isLetterOrNumber()) {
            while (!words.isEmpty() &&
                   words.back().isLetterOrNumber()) // the beginning of a word that may become another
                words.chop(1);
        }
        return words;
    }
    std::vector<TextEdit> settled;
    qsizetype shift = 0;
    for (TextEdit &edit : wordChanges(original, now.text)) {
        // What was taken away has no letters of its own: the letters on both sides speak for it.
        const TextSpan revised{edit.span.start + shift - (edit.text.isEmpty() ? 1 : 0),
                               edit.span.start + shift + std::max<qsizetype>(1, edit.text.size())};
        shift += edit.text.size() - edit.span.length();
        if (!now.meets(revised))
            settled.push_back(std::move(edit));
    }
    return withEdits(original.toString(), settled);
}

CanvasRunPlan::CanvasRunPlan(const PlanInput &input)
    : m_model(input.model), m_plan(planOf(requestOf(input), input.wish, input.model->editor))
{
    const Utf8Text text(input.text);
    m_span = text.toUnits(m_plan.replaced);
    m_original = fromUtf8(m_plan.replacedText);
    const std::int64_t seen = m_plan.strategy == EditStrategy::FrozenCanvas ? m_plan.visibleAfterBytes
                                                                            : m_plan.shown.end - m_plan.replaced.end;
    m_ahead = {.characters = text.toUnit(m_plan.replaced.end + std::max<std::int64_t>(0, seen)) - m_span.end,
               .total = input.text.size() - m_span.end};
    m_closesWithSpace = input.wish.action == RunAction::Continue && m_span.end < input.text.size() &&
                        input.text.at(m_span.end).isLetterOrNumber();
    if (input.wish.alternatives > 1)
        m_mostAlternatives = static_cast<std::size_t>(input.wish.alternatives);
    for (const EditCandidate &candidate : m_plan.candidates)
        m_lanes.push_back({m_span, candidate.request.seed, layoutOf(candidate)});
}

CanvasLayout CanvasRunPlan::layoutOf(const EditCandidate &candidate) const
{
    CanvasLayout layout;
    layout.endIds = m_model->endIds;
    layout.crLf = m_plan.lineEndsAreCrLf;
    layout.trimsFront = m_plan.kind == EditKind::Rewrite || m_plan.strategy == EditStrategy::FreshAnswer;
    if (m_plan.strategy == EditStrategy::FreshAnswer)
        return layout;
    layout.dropsLeadingSpace = m_plan.dropLeadingSpace;
    layout.gapBegin = candidate.gapBegin;
    layout.gapEnd = candidate.gapEnd;
    for (const HeldRun &run : candidate.held)
        layout.held.push_back({run.canvasBegin, run.canvasEnd, lettersOf(run, m_plan)});
    return layout;
}

GenerationRequest CanvasRunPlan::request(std::size_t lane) const
{
    return m_plan.candidates[lane].request;
}

QString CanvasRunPlan::fitted(const std::string &text) const
{
    QString result = fromUtf8(text);
    if (m_closesWithSpace && !result.isEmpty() && !result.back().isSpace())
        result += u' ';
    return result;
}

std::vector<ProposalAlternative> CanvasRunPlan::finished(std::span<const LaneOutcome> outcomes,
                                                         std::string &problem) const
{
    std::vector<GenerationResult> results;
    for (const LaneOutcome &outcome : outcomes) {
        GenerationResult none;
        none.finish = FinishReason::Cancelled;
        results.push_back(outcome.result.value_or(none));
    }
    const EditOutcome edit = m_model->editor.apply(m_plan, results);
    problem = edit.problem;
    std::vector<ProposalAlternative> alternatives;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (!std::isfinite(edit.meanEntropyNats[i]))
            continue;
        alternatives.push_back({.text = fitted(edit.alternatives[i]),
                                .seed = m_lanes[i].seed,
                                .meanEntropy = static_cast<double>(edit.meanEntropyNats[i]),
                                .stops = stopsOf(results[i])});
    }
    return alternatives;
}

std::vector<ProposalAlternative> CanvasRunPlan::kept(std::span<const LaneOutcome> outcomes) const
{
    std::vector<ProposalAlternative> alternatives;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (!outcomes[i].kept)
            continue;
        const QString text = settledText(m_original, outcomes[i].settled, *outcomes[i].kept);
        if (text.trimmed().isEmpty() || text == m_original)
            continue;
        alternatives.push_back({.text = fitted(fittedText({{.text = toUtf8(text)}}, m_plan)),
                                .seed = m_lanes[i].seed,
                                .meanEntropy = outcomes[i].kept->meanEntropy,
                                .stops = {CanvasStop::Cancelled}});
    }
    return alternatives;
}

RunTexts CanvasRunPlan::conclude(std::span<const LaneOutcome> outcomes) const
{
    RunTexts texts;
    std::string problem;
    texts.alternatives = finished(outcomes, problem);
    if (texts.alternatives.empty()) {
        texts.alternatives = kept(outcomes);
        if (!texts.alternatives.empty())
            texts.note = QStringLiteral("Stopped before it was finished: what had settled by then.");
    }
    sortBySurety(texts.alternatives);
    // Who asked for three gets three: there may be more lengths of a gap than that, and the surest are the best.
    if (m_mostAlternatives > 0 && texts.alternatives.size() > m_mostAlternatives)
        texts.alternatives.erase(texts.alternatives.begin() + static_cast<std::ptrdiff_t>(m_mostAlternatives),
                                 texts.alternatives.end());
    if (texts.alternatives.empty())
        texts.problem = fromUtf8(problem);
    return texts;
}

} // namespace palimpsest::editing
