// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What messages about runs do to the draft that is open. Pure.

import type { Frame, Run, RunState, Settled } from "../wire/runs";
import { type DraftView, type LaneView, type RunView, emptyLane } from "./app_state";
import { movedSpan } from "./text_edit";
import { type TextSync, toLocal } from "./text_sync";

/** Ended runs whose steps can still be looked at without asking for the list of revisions. */
const keptRuns = 8;

const ended: readonly RunState[] = ["done", "stopped", "failed"];

export function hasEnded(run: Run): boolean {
  return ended.includes(run.state);
}

/** The run with its places in the text that the window shows. */
export function runInLocalText(run: Run, sync: TextSync): Run {
  const move = <T extends { start: number; end: number }>(span: T): T => toLocal(sync, span, movedSpan);
  return { ...move(run), lanes: run.lanes.map(move) };
}

export function withRun(draft: DraftView, message: Run): DraftView {
  const run = runInLocalText(message, draft.sync);
  const known = draft.runs.find((one) => one.run.id === run.id);
  const lanes = run.lanes.map((_, i) => known?.lanes[i] ?? emptyLane());
  const view: RunView = { run, lanes };
  if (known) return { ...draft, runs: draft.runs.map((one) => (one === known ? view : one)) };
  const live = draft.runs.filter((one) => !hasEnded(one.run));
  const past = draft.runs.filter((one) => hasEnded(one.run)).slice(-keptRuns);
  const kept = draft.runs.filter((one) => live.includes(one) || past.includes(one));
  return { ...draft, runs: [...kept, view], inspected: null, history: null };
}

function withLane(draft: DraftView, run: string, lane: number, change: (lane: LaneView) => LaneView): DraftView {
  const view = draft.runs.find((one) => one.run.id === run);
  if (!view) return draft;
  const lanes = [...view.lanes];
  while (lanes.length <= lane) lanes.push(emptyLane());
  lanes[lane] = change(lanes[lane] ?? emptyLane());
  return { ...draft, runs: draft.runs.map((one) => (one === view ? { ...view, lanes } : one)) };
}

/** Puts a figure at its step; steps whose frames were skipped stay unknown. */
function atStep(curve: readonly (number | null)[], step: number, value: number | null): (number | null)[] {
  const longer = curve.slice(0, step);
  while (longer.length < step) longer.push(null);
  longer[step - 1] = value;
  return longer;
}

/** Notes for each position that has not settled that it had not by now. */
function unsettledUntil(before: readonly number[], frame: Frame): number[] {
  return frame.text.map((_, i) => (frame.marks[i] === "." ? frame.step : (before[i] ?? 0)));
}

export function withFrame(draft: DraftView, frame: Frame): DraftView {
  return withLane(draft, frame.run, frame.lane, (lane) => {
    const isNew = lane.frame === null || lane.frame.canvas !== frame.canvas;
    return {
      ...lane,
      frame,
      meanEntropy: atStep(isNew ? [] : lane.meanEntropy, frame.step, frame.meanEntropy),
      accepted: atStep(isNew ? [] : lane.accepted, frame.step, frame.accepted),
      unsettledUntil: unsettledUntil(isNew ? [] : lane.unsettledUntil, frame),
    };
  });
}

export function withSettled(draft: DraftView, settled: Settled): DraftView {
  return withLane(draft, settled.run, settled.lane, (lane) => {
    const canvases = lane.settled.slice(0, settled.canvas);
    canvases[settled.canvas] = { text: settled.text, steps: settled.steps, stop: settled.stop };
    return { ...lane, settled: canvases };
  });
}

/** The run and the lane that the inspector shows. */
export function inspectedLane(draft: DraftView): { view: RunView; lane: LaneView; index: number } | null {
  const chosen = draft.inspected && draft.runs.find((one) => one.run.id === draft.inspected?.run);
  const view = chosen ?? draft.runs.at(-1);
  if (!view) return null;
  const moving = view.run.lanes.findIndex((lane, i) => lane.state === "running" && view.lanes[i]?.frame);
  const anyFrame = view.lanes.findIndex((lane) => lane.frame !== null);
  const index = chosen && draft.inspected ? draft.inspected.lane : Math.max(0, moving >= 0 ? moving : anyFrame);
  const lane = view.lanes[index];
  return lane ? { view, lane, index } : null;
}

/** The run that goes on, if any: the one that pause, step and stop are about. */
export function liveRun(draft: DraftView | null): RunView | null {
  return draft?.runs.findLast((one) => !hasEnded(one.run)) ?? null;
}
