// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Messages and drafts that several tests begin with.

import {
  type AppState,
  type DraftView,
  defaultPreferences,
  initialState,
} from "../../../resources/web/src/state/app_state";
import { reduce } from "../../../resources/web/src/state/reduce";
import type { Frame } from "../../../resources/web/src/wire/runs";

export const text = "I have payed the fee.\n\nThe reciepts are enclosed.";

export function draftMessage(changes: object = {}): string {
  return JSON.stringify({
    type: "document",
    document: "d1",
    version: 4,
    title: "Letter",
    text,
    locks: [{ start: 2, end: 6 }],
    runs: [],
    proposals: [],
    undo: "typing",
    redo: null,
    settings: { sampler: { maxSteps: 30 } },
    revision: 2,
    saved: true,
    ...changes,
  });
}

export function runMessage(changes: object = {}): object {
  return {
    type: "run",
    run: "r1",
    document: "d1",
    action: "proofread",
    start: 0,
    end: 21,
    instruction: "",
    seed: 7,
    sampler: {},
    state: "running",
    position: 0,
    lanes: [{ start: 0, end: 21, state: "running", canvases: 0, prefill: { done: 3, total: 3 } }],
    ahead: { characters: 10, total: 28 },
    ...changes,
  };
}

export function frame(changes: Partial<Frame> = {}): Frame {
  return {
    run: "r1",
    lane: 0,
    canvas: 0,
    step: 1,
    maxSteps: 48,
    show: [0, 3],
    text: ["I", " have", " paid", ""],
    entropy: [0, 120, 350, 0],
    marks: "=+.-",
    meanEntropy: 1.5,
    accepted: 2,
    settled: 1,
    held: 0,
    stepMs: 24,
    elapsedMs: 24,
    last: false,
    ...changes,
  };
}

export function proposalMessage(changes: object = {}): object {
  return {
    type: "proposal",
    proposal: "p1",
    run: "r1",
    document: "d1",
    version: 4,
    action: "proofread",
    start: 0,
    end: text.length,
    original: text,
    chosen: 0,
    alternatives: [
      { text: "I have paid the fee.\n\nThe receipts are enclosed.", seed: 7, meanEntropy: 0.003, stops: ["converged"] },
    ],
    changes: [
      { start: 7, end: 12, text: "paid", state: "open" },
      { start: 27, end: 35, text: "receipts", state: "open" },
    ],
    origin: { model: "demo", seed: 7, sampler: {}, instruction: "", steps: 9, canvases: 1, stops: ["converged"] },
    state: "open",
    ...changes,
  };
}

/** A state with the sample draft open. */
export function openState(read: (text: string) => unknown, changes: object = {}): AppState {
  const opening = reduce(initialState(defaultPreferences), { type: "opening", document: "d1" });
  return reduce(opening, { type: "server", message: read(draftMessage(changes)) as never });
}

export function draftOf(state: AppState): DraftView {
  if (!state.draft) throw new Error("no draft is open");
  return state.draft;
}

/** Numbers that look random and are the same in every run. */
export function seeded(seed: number): (below: number) => number {
  let state = seed % 2147483647 || 1;
  return (below) => {
    state = (state * 16807) % 2147483647;
    return state % below;
  };
}
