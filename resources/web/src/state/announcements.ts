// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What a screen reader is told: beginnings, ends and canvases that came to rest; never single steps. Pure.

import type { AppState, DraftView, RunView } from "./app_state";
import { plural, wordCount } from "./format";
import { openChanges, openProposals } from "./page_marks";

function runOf(draft: DraftView | null, id: string): RunView | undefined {
  return draft?.runs.find((view) => view.run.id === id);
}

function settledNews(view: RunView, before: RunView | undefined): string {
  const single = view.run.lanes.length === 1;
  for (const [i, lane] of view.lanes.entries()) {
    const canvases = lane.settled.length;
    const last = lane.settled.at(-1);
    if (!last || canvases <= (before?.lanes[i]?.settled.length ?? 0)) continue;
    const name = single ? `Canvas ${canvases}` : `Passage ${i + 1} of ${view.lanes.length}`;
    return last.stop === "cap"
      ? `${name} stopped at the cap`
      : `${name} settled after ${plural(last.steps, "step", "steps")}`;
  }
  return "";
}

function endNews(view: RunView, draft: DraftView): string {
  const proposal = draft.proposals.find((one) => one.run === view.run.id && one.state === "open");
  switch (view.run.state) {
    case "failed":
      return `The run failed. ${view.run.problem}`;
    case "stopped":
      return proposal ? "Stopped. What had settled is proposed" : "Stopped. The text is as it was";
    default: {
      if (!proposal) return view.run.proposal ? "Done" : view.run.problem || "Done, nothing to change";
      const chosen = proposal.alternatives[proposal.chosen]?.text ?? "";
      if (proposal.alternatives.length > 1)
        return `Done, ${plural(proposal.alternatives.length, "alternative", "alternatives")}`;
      const changes = openChanges(draft).filter((change) => change.proposal === proposal.id).length;
      return `Done, ${plural(wordCount(chosen), "word", "words")}, ${plural(changes, "change", "changes")} to decide`;
    }
  }
}

function runNews(view: RunView, before: RunView | undefined, draft: DraftView): string {
  const state = view.run.state;
  if (state !== before?.run.state) {
    if (state === "queued")
      return view.run.position > 0 ? `Waiting, ${plural(view.run.position, "request", "requests")} in front` : "";
    if (state === "running" && before?.run.state !== "paused") return "Generating";
    if (state === "running") return "Going on";
    if (state === "paused") return "Paused";
    if (state === "done" || state === "stopped" || state === "failed") return endNews(view, draft);
  }
  return state === "running" ? settledNews(view, before) : "";
}

/** One sentence about what changed, or "". */
export function announcement(before: AppState, now: AppState): string {
  if (before.connection.phase !== now.connection.phase) {
    if (now.connection.phase === "lost") return "The connection to the server is lost. What you type is kept";
    if (now.connection.phase === "open" && before.connection.phase === "connecting" && before.status)
      return "Connected again";
  }
  const { draft } = now;
  if (!draft || draft.id !== before.draft?.id)
    return draft && draft.id !== before.draft?.id ? `Opened ${draft.title || "untitled draft"}` : "";
  for (const view of draft.runs) {
    const news = runNews(view, runOf(before.draft, view.run.id), draft);
    if (news) return news;
  }
  const open = openProposals(draft);
  const openBefore = openProposals(before.draft);
  if (open.length < openBefore.length) return "Decided";
  const left = openChanges(draft).length;
  if (left > 0 && left < openChanges(before.draft).length) return `${plural(left, "change", "changes")} left`;
  return "";
}
