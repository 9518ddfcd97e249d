// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/editing/draft_bench.h"

#include <utility>

namespace palimpsest::test {

using namespace palimpsest::editing;

EditAuthor typing(std::int64_t nowMs, WindowId window)
{
    return {.window = window, .cause = EditCause::Typing, .nowMs = nowMs};
}

EditAuthor by(EditCause cause)
{
    return {.window = kWindow, .cause = cause, .nowMs = 0};
}

void type(Draft &draft, const QString &text, std::int64_t nowMs)
{
    for (const QChar letter : text) {
        const qsizetype end = draft.text().size();
        draft.edit({{end, end}, QString(letter)}, draft.version(), typing(nowMs));
    }
}

Proposal proposalAt(const Draft &draft, TextSpan span, const QStringList &texts, RunAction action)
{
    Proposal proposal;
    proposal.id = QStringLiteral("p%1").arg(draft.proposals().size());
    proposal.action = action;
    proposal.span = span;
    proposal.original = draft.textOf(span);
    for (const QString &text : texts)
        proposal.alternatives.push_back({.text = text, .seed = 1, .meanEntropy = 0.1, .stops = {}});
    return withChanges(std::move(proposal), {draft.textOf(span), {}});
}

Proposal proposalFor(const Draft &draft, const QString &words, const QStringList &texts, RunAction action)
{
    const qsizetype start = draft.text().indexOf(words);
    return proposalAt(draft, {start, start + words.size()}, texts, action);
}

} // namespace palimpsest::test
