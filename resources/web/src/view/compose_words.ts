// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The two lines below the box: how far the run is or what the wish would be about, and which keys help just now.

import type { AppState, DraftView, RunView } from "../state/app_state";
import { milliseconds, plural } from "../state/format";
import { openChanges } from "../state/page_marks";
import { presetOf } from "../state/presets";
import { inspectedLane } from "../state/reduce_runs";
import { scopeInWords } from "../state/scope";

export type Mode = "idle" | "running" | "paused" | "tray" | "changes";

const isNarrow = matchMedia("(max-width: 719px)");

function runInWords(draft: DraftView, view: RunView): string {
  const { run } = view;
  if (run.state === "queued")
    return run.position > 0 ? `Waiting · ${plural(run.position, "request", "requests")} in front` : "Waiting";
  if (run.state === "prefill") {
    const total = run.lanes.reduce((sum, lane) => sum + lane.prefillTotal, 0);
    const done = run.lanes.reduce((sum, lane) => sum + lane.prefillDone, 0);
    return total > 0 ? `Reading the draft · ${Math.round((100 * done) / total)} %` : "Reading the draft";
  }
  const inspected = inspectedLane(draft);
  const frame = inspected?.view === view ? inspected.lane.frame : null;
  if (!frame) return "Beginning";
  const step = `step ${frame.step} of ${frame.maxSteps} · ${milliseconds(frame.stepMs)} a step`;
  if (isNarrow.matches) return `S${step.slice(1)}`;
  if (view.lanes.length === 1)
    return `Canvas ${frame.canvas + 1} of ${Math.max(run.lanes[0]?.canvases ?? 1, frame.canvas + 1)} · ${step}`;
  const done = run.lanes.filter((lane) => lane.state === "done").length;
  return `Passage ${frame.lane + 1} of ${view.lanes.length} · ${done} done · ${step}`;
}

/** A phone has neither the room for keys nor the keys. */
function onPhone(state: AppState, draft: DraftView, mode: Mode): [string, string] {
  switch (mode) {
    case "tray":
      return ["Tap an alternative to choose it", ""];
    case "changes":
      return [`${plural(changesLeft(draft), "change", "changes")} to decide`, "Tap a change to decide it"];
    default:
      return [scope(state, draft), ""];
  }
}

function changesLeft(draft: DraftView): number {
  return openChanges(draft).length + (draft.ownProposal ? 1 : 0);
}

function scope(state: AppState, draft: DraftView): string {
  const preset = presetOf(state.presets, state.ui.preset);
  return scopeInWords(draft, preset.action === "proofread" && state.ui.instruction ? "rewrite" : preset.action);
}

export function footInWords(state: AppState, draft: DraftView, mode: Mode, live: RunView | null): [string, string] {
  if (live) {
    const help = "Esc stops and restores · Alt+click locks a word · click shows what else may stand there";
    return [runInWords(draft, live), isNarrow.matches ? "Tap a word: lock, swap" : help];
  }
  if (isNarrow.matches) return onPhone(state, draft, mode);
  switch (mode) {
    case "tray":
      return [
        "Ctrl+Enter takes it · Ctrl+Shift+Backspace keeps yours",
        "Alt+1…3 look · Alt+→ take one word · hold F8 for the original",
      ];
    case "changes": {
      const left = plural(changesLeft(draft), "change", "changes");
      return [
        `${left} to decide · F7 next · Ctrl+Enter accept · Ctrl+Shift+Backspace reject`,
        "Alt+→ take one word · hold Alt for the entropy view, F8 for the original",
      ];
    }
    default:
      return [
        scope(state, draft),
        "Enter runs · Esc stops and restores · Ctrl+L locks · Ctrl+R re-noises the selection",
      ];
  }
}
