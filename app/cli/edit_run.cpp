// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/edit_run.h"

#include "app/cli/engine_start.h"
#include "app/cli/run_progress.h"
#include "app/cli/run_requests.h"
#include "engine/error.h"
#include "engine/text_boundaries.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace palimpsest::cli {

namespace {

/// Of the document around the gap, the view shows this much: all of it for one candidate, a line for each of several.
constexpr std::int64_t kContextBytes = 4'000;
constexpr std::int64_t kShortContextBytes = 48;

std::string tailOf(const std::string &text, std::int64_t bytes)
{
    const auto size = static_cast<std::int64_t>(text.size());
    const ByteRange range = snapToGraphemes(text, {std::max<std::int64_t>(0, size - bytes), size});
    return std::string(range.of(text));
}

std::string headOf(const std::string &text, std::int64_t bytes)
{
    const auto size = static_cast<std::int64_t>(text.size());
    const ByteRange range = snapToGraphemes(text, {0, std::min(size, bytes)});
    return std::string(range.of(text));
}

std::string onOneLine(std::string text)
{
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

/// The document with the candidates of an edit settling in their places.
class EditPage
{
public:
    explicit EditPage(const EditPlan &plan) : m_plan(plan) {}

    [[nodiscard]] ProgressSource source(const RunBoard &board) const
    {
        const auto line = [this, &board, last = std::string()]() mutable {
            std::string text = fmt::format("{}", fmt::join(status(board), ", "));
            if (text == last)
                return std::string();
            last = text;
            return text;
        };
        return {[this, &board] { return page(board); }, line};
    }

private:
    [[nodiscard]] std::vector<std::string> status(const RunBoard &board) const
    {
        std::vector<std::string> parts;
        if (board.slots() > 1)
            parts.push_back(fmt::format("{} of {} candidates", board.doneCount(), board.slots()));
        const std::size_t current = std::min(board.firstUnfinished(), board.slots() - 1);
        const std::vector<std::string> running = statusOf(board.slot(current), board.stepMs());
        parts.insert(parts.end(), running.begin(), running.end());
        return parts;
    }

    [[nodiscard]] LivePage page(const RunBoard &board) const
    {
        LivePage result;
        result.status = status(board);
        result.status.emplace_back("Ctrl-C stops");
        const bool several = board.slots() > 1;
        for (std::size_t slot = 0; slot < board.slots(); ++slot)
            addCandidate(result, board.slot(slot), slot, several);
        return result;
    }

    void addCandidate(LivePage &page, const SlotState &slot, std::size_t index, bool several) const
    {
        const Style faint{Ink::Faint, 0};
        const EditCandidate &candidate = m_plan.candidates[index];
        const auto context = [several](std::string text) {
            return several ? onOneLine(std::move(text)) : text;
        };
        const std::int64_t shown = several ? kShortContextBytes : kContextBytes;
        if (several)
            page.pieces.emplace_back(StyledText{fmt::format("{} ", index + 1), faint});
        page.pieces.emplace_back(StyledText{context(tailOf(m_plan.before, shown)), several ? faint : Style{}});
        if (!several)
            page.focus = page.pieces.size();
        if (slot.event)
            page.pieces.emplace_back(liveGap(slot, candidate));
        else
            page.pieces.emplace_back(StyledText{slot.done ? "" : m_plan.replacedText, faint});
        page.pieces.emplace_back(StyledText{context(headOf(m_plan.after, shown)), several ? faint : Style{}});
        if (several)
            page.pieces.emplace_back(StyledText{"\n", {}});
    }

    [[nodiscard]] LiveCanvas liveGap(const SlotState &slot, const EditCandidate &candidate) const
    {
        // A fresh answer ends where the model ends it.
        if (m_plan.strategy == EditStrategy::FreshAnswer)
            return {.event = slot.event, .begin = 0, .end = std::nullopt};
        return {.event = slot.event, .begin = candidate.gapBegin, .end = candidate.gapEnd};
    }

    const EditPlan &m_plan;
};

std::vector<TokenId> endIds(const EditPlan &plan)
{
    const GenerationRequest &request = plan.candidates.front().request;
    std::vector<TokenId> ids = request.eosTokenIds;
    if (request.padTokenId)
        ids.push_back(*request.padTokenId);
    return ids;
}

nlohmann::json rangeJson(ByteRange range)
{
    return {{"begin", range.begin}, {"end", range.end}};
}

} // namespace

std::optional<EditRun> runEdit(const EditRequest &request, const LoadedModel &model, const OutputOptions &output,
                               CommandContext &context)
{
    const CanvasEditor editor(model.tokenizer, requireChat(model, "edits need a model that answers instructions"),
                              model.checkpoint->config(), model.checkpoint->generationDefaults());
    EditRun run;
    run.plan = editor.plan(request);
    context.interrupts.arm();
    const DisplayMode mode = RunProgress::prepare(output.progress(), context);
    const Engine engine = startEngine(model, PromptReuse::Shared, context.interrupts.token());
    const EditPage page(run.plan);
    RunProgress progress({mode, run.plan.candidates.size(), tokenTexts(model.tokenizer, endIds(run.plan)),
                          [&page](const RunBoard &board) {
                              return page.source(board);
                          }},
                         context);
    const auto makeRequest = [&run](std::size_t slot) {
        return run.plan.candidates[slot].request;
    };
    const auto start = std::chrono::steady_clock::now();
    run.results = runRequests(*engine.scheduler, {run.plan.candidates.size(), makeRequest, {}}, progress.board(),
                              context.interrupts.token());
    const double runMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    progress.finish(Ending::Erase);
    if (context.interrupts.exitStatus() != 0)
        return std::nullopt;
    run.outcome = editor.apply(run.plan, run.results);
    run.figures = runFigures(run.results, runMs, progress.board().meanStepMs());
    run.figures.openMs = model.openMs;
    run.figures.loadMs = engine.loadMs;
    run.model = toJson(model, engine.scheduler->backendInfo());
    return run;
}

nlohmann::json editJson(const EditRequest &request, const EditRun &run)
{
    nlohmann::json candidates = nlohmann::json::array();
    for (std::size_t index = 0; index < run.results.size(); ++index) {
        const float entropy = run.outcome.meanEntropyNats[index];
        candidates.push_back(
            {{"text", run.outcome.alternatives[index]},
             {"tokens", run.plan.candidates[index].gapEnd - run.plan.candidates[index].gapBegin},
             {"mean_entropy_nats", std::isfinite(entropy) ? nlohmann::json(entropy) : nlohmann::json(nullptr)},
             {"result", toJson(run.results[index])}});
    }
    nlohmann::json locks = nlohmann::json::array();
    for (const LockExtent &lock : run.plan.locks)
        locks.push_back({{"asked", rangeJson(lock.asked)}, {"held", rangeJson(lock.held)}});
    return {{"text", run.outcome.document},
            {"selection", rangeJson(run.plan.selection)},
            {"replaced", rangeJson(run.outcome.replaced)},
            {"chosen", run.outcome.candidate},
            {"problem", run.outcome.problem},
            {"candidates", std::move(candidates)},
            {"locks", std::move(locks)},
            {"seed", request.seed},
            {"sampler", toJson(request.sampler)},
            {"timings", toJson(run.figures)},
            {"model", run.model}};
}

void printEditSummary(const EditRequest &request, const EditRun &run)
{
    printNote(fmt::format("{}; best of {} candidates; {:.0f} ms a step, {:.1f} s; seed {}", describeSteps(run.results),
                          run.results.size(), run.figures.msPerStep, run.figures.runMs / 1000.0, request.seed));
    for (const LockExtent &lock : run.plan.locks) {
        if (lock.asked == lock.held)
            continue;
        printNote(fmt::format("the lock {}:{} holds {}:{}, because the model writes whole tokens", lock.asked.begin,
                              lock.asked.end, lock.held.begin, lock.held.end));
    }
}

} // namespace palimpsest::cli
