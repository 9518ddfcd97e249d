// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/proofread_run_plan.h"

#include "app/editing/utf8_text.h"
#include "engine/error.h"

#include <algorithm>

namespace palimpsest::editing {

namespace {

/// The answer was there and was no corrected copy of the passage.
bool isRefused(SegmentOutcome outcome)
{
    return outcome == SegmentOutcome::KeptEmpty || outcome == SegmentOutcome::KeptLength ||
           outcome == SegmentOutcome::KeptMarkers || outcome == SegmentOutcome::KeptUnrelated;
}

QString noteOn(std::int64_t refused, std::int64_t unfinished)
{
    QString note;
    if (refused > 0)
        note = QStringLiteral("%1 passages were left as they are, because the answer was no corrected copy of them.")
                   .arg(refused);
    if (unfinished > 0) {
        note += note.isEmpty() ? QString() : QStringLiteral(" ");
        note += QStringLiteral("%1 passages were not read to the end.").arg(unfinished);
    }
    return note;
}

} // namespace

ProofreadRunPlan::ProofreadRunPlan(const PlanInput &input)
    : m_model(input.model), m_sampler(input.sampler), m_seed(input.seed)
{
    m_span = input.wish.span.empty() ? TextSpan{0, input.text.size()} : input.wish.span;
    const Utf8Text part(QStringView(input.text).mid(m_span.start, m_span.length()));
    m_text = part.bytes();
    m_segments = splitForProofreading(m_text);
    m_ahead = {.characters = 0, .total = input.text.size() - m_span.end};
    for (std::size_t index = 0; index < m_segments.size(); ++index) {
        if (m_segments[index].kind != SegmentKind::Prose)
            continue;
        const TextSpan inside = part.toUnits(m_segments[index].range);
        m_prose.push_back(index);
        m_lanes.push_back({{inside.start + m_span.start, inside.end + m_span.start},
                           m_seed,
                           {.endIds = m_model->endIds, .gapBegin = {}, .gapEnd = {}, .held = {}, .trimsFront = true}});
    }
    if (m_lanes.empty())
        throw Error(ErrorKind::InvalidArgument, "there is no prose to proofread there", "start");
}

GenerationRequest ProofreadRunPlan::request(std::size_t lane) const
{
    return m_model->proofreader.request(m_text, m_segments[m_prose[lane]], m_sampler, m_seed);
}

RunTexts ProofreadRunPlan::conclude(std::span<const LaneOutcome> outcomes) const
{
    std::vector<ProofreadReply> replies(m_segments.size(), ProofreadReply{.text = {}, .finished = false});
    std::vector<CanvasStop> stops;
    double entropy = 0.0;
    std::int64_t canvases = 0;
    for (std::size_t lane = 0; lane < outcomes.size(); ++lane) {
        if (!outcomes[lane].result)
            continue;
        const GenerationResult &result = *outcomes[lane].result;
        replies[m_prose[lane]] = proofreadReply(result, *m_model->running->chat);
        for (const CanvasRecord &canvas : result.canvases) {
            stops.push_back(canvas.stop);
            entropy += static_cast<double>(canvas.meanEntropyNats);
            ++canvases;
        }
    }
    const ProofreadMerge merge = mergeProofread(m_text, m_segments, replies);
    const auto count = [&merge](auto &&predicate) {
        return std::count_if(merge.outcomes.begin(), merge.outcomes.end(), predicate);
    };
    const std::int64_t unfinished =
        count([](SegmentOutcome outcome) { return outcome == SegmentOutcome::KeptUnfinished; });
    RunTexts texts;
    for (const std::size_t segment : m_prose)
        texts.words += m_segments[segment].words;
    texts.note = noteOn(count(isRefused), unfinished);
    if (merge.changes.empty()) {
        texts.problem = texts.note.isEmpty() ? QStringLiteral("Nothing to correct was found.") : texts.note;
        return texts;
    }
    texts.alternatives.push_back({.text = fromUtf8(merge.text),
                                  .seed = m_seed,
                                  .meanEntropy = entropy / static_cast<double>(std::max<std::int64_t>(1, canvases)),
                                  .stops = std::move(stops)});
    const Utf8Text original(fromUtf8(m_text));
    std::vector<TextEdit> &corrections = texts.corrections.emplace();
    for (const TextChange &change : merge.changes)
        corrections.push_back({original.toUnits(change.original), fromUtf8(change.revised.of(merge.text))});
    return texts;
}

} // namespace palimpsest::editing
