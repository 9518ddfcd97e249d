// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/run_plan.h"

#include "app/editing/canvas_run_plan.h"
#include "app/editing/proofread_run_plan.h"
#include "app/editing/utf8_text.h"
#include "engine/error.h"

namespace palimpsest::editing {

namespace {

[[noreturn]] void refuse(const std::string &message, const char *field)
{
    throw Error(ErrorKind::InvalidArgument, message, field);
}

void checkWish(const RunWish &wish, QStringView text)
{
    if (wish.alternatives < 1 || wish.alternatives > kMostAlternatives)
        refuse("alternatives is " + std::to_string(wish.alternatives) + ", wanted 1 to " +
                   std::to_string(kMostAlternatives),
               "alternatives");
    const bool needsText = wish.action == RunAction::Rewrite || wish.action == RunAction::Renoise;
    if (needsText && text.mid(wish.span.start, wish.span.length()).trimmed().isEmpty())
        refuse("there is nothing to write anew: select some words", "start");
    if (wish.action == RunAction::Rewrite && wish.instruction.trimmed().isEmpty())
        refuse("a rewrite needs an instruction that says what to do", "instruction");
    if (wish.action == RunAction::Fill && !wish.span.empty())
        refuse("a fill goes between two words: give an empty span", "end");
}

} // namespace

std::unique_ptr<const RunPlan> planRun(const PlanInput &input)
{
    PlanInput checked = input;
    checked.wish.span = snappedToCharacters(input.wish.span, input.text);
    checked.wish.instruction = cleaned(input.wish.instruction);
    checkWish(checked.wish, checked.text);
    if (checked.wish.action == RunAction::Proofread)
        return std::make_unique<ProofreadRunPlan>(checked);
    return std::make_unique<CanvasRunPlan>(checked);
}

} // namespace palimpsest::editing
