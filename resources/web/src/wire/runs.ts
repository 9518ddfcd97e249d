// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Runs of the model, the frames of their canvases, and their history.

import { type Action, actions } from "./actions";
import {
  type Json,
  asNumber,
  asString,
  booleanOr,
  list,
  listOr,
  number,
  numberOr,
  numberOrNull,
  object,
  oneOf,
  string,
  stringOr,
} from "./fields";
import { type Sampler, parseSampler } from "./status";

export const runStates = ["queued", "prefill", "running", "paused", "done", "stopped", "failed"] as const;
export type RunState = (typeof runStates)[number];
export type StopReason = "converged" | "cap" | "cancelled";

/** What was measured of a run; null: nobody knows, or too short a time for a rate. */
export interface Figures {
  steps: number | null;
  canvases: number | null;
  stepMs: number | null;
  firstDraftMs: number | null;
  totalMs: number | null;
  wordsPerSecond: number | null;
  tokensPerSecond: number | null;
  promptTokens: number | null;
  reusedTokens: number | null;
}

export interface Lane {
  start: number;
  end: number;
  state: RunState;
  canvases: number;
  prefillDone: number;
  prefillTotal: number;
}

export interface Run {
  id: string;
  document: string;
  action: Action;
  start: number;
  end: number;
  instruction: string;
  seed: number | null;
  sampler: Sampler;
  state: RunState;
  /** Requests in front while queued. */
  position: number;
  lanes: Lane[];
  aheadCharacters: number | null;
  aheadTotal: number | null;
  problem: string;
  figures: Figures | null;
  proposal: string;
}

/** One step of one canvas, as it is shown. */
export interface Frame {
  run: string;
  lane: number;
  canvas: number;
  step: number;
  maxSteps: number;
  /** The positions of the span under way, end exclusive; what lies outside shows the model its surroundings. */
  show: [number, number];
  text: string[];
  /** In hundredths of a nat, one for each position. */
  entropy: number[];
  /** `.` unsettled, `+` accepted in this step, `=` settled, `#` held, `-` padding; one for each position. */
  marks: string;
  meanEntropy: number | null;
  accepted: number;
  settled: number;
  held: number;
  stepMs: number | null;
  elapsedMs: number | null;
  last: boolean;
}

/** A canvas that has come to rest. */
export interface Settled {
  run: string;
  lane: number;
  canvas: number;
  text: string;
  steps: number;
  stop: StopReason;
}

export interface CanvasHistory {
  steps: number;
  maxSteps: number;
  /** null while the canvas is under way. */
  stop: StopReason | null;
  meanEntropy: number[];
  accepted: number[];
}

export interface Alternative {
  id: number;
  text: string;
  probability: number;
}

function parseFigures(value: unknown): Figures | null {
  if (value === undefined || value === null) return null;
  const from = object(value, "figures");
  const figure = (key: keyof Figures): number | null => numberOrNull(from, key);
  return {
    steps: figure("steps"),
    canvases: figure("canvases"),
    stepMs: figure("stepMs"),
    firstDraftMs: figure("firstDraftMs"),
    totalMs: figure("totalMs"),
    wordsPerSecond: figure("wordsPerSecond"),
    tokensPerSecond: figure("tokensPerSecond"),
    promptTokens: figure("promptTokens"),
    reusedTokens: figure("reusedTokens"),
  };
}

function parseLane(value: unknown): Lane {
  const from = object(value, "lane");
  const prefill = from["prefill"] === undefined || from["prefill"] === null ? {} : object(from["prefill"], "prefill");
  return {
    start: number(from, "start"),
    end: number(from, "end"),
    state: oneOf(from, "state", runStates, "running"),
    canvases: numberOr(from, "canvases", 0),
    prefillDone: numberOr(prefill, "done", 0),
    prefillTotal: numberOr(prefill, "total", 0),
  };
}

export function parseRun(value: unknown): Run {
  const from = object(value, "run");
  const ahead = from["ahead"] === undefined || from["ahead"] === null ? {} : object(from["ahead"], "ahead");
  return {
    id: string(from, "run"),
    document: stringOr(from, "document", ""),
    action: oneOf(from, "action", actions, "rewrite"),
    start: number(from, "start"),
    end: number(from, "end"),
    instruction: stringOr(from, "instruction", ""),
    seed: numberOrNull(from, "seed"),
    sampler: parseSampler(from["sampler"]),
    state: oneOf(from, "state", runStates, "running"),
    position: numberOr(from, "position", 0),
    lanes: listOr(from, "lanes", parseLane),
    aheadCharacters: numberOrNull(ahead, "characters"),
    aheadTotal: numberOrNull(ahead, "total"),
    problem: stringOr(from, "problem", ""),
    figures: parseFigures(from["figures"]),
    proposal: stringOr(from, "proposal", ""),
  };
}

export function parseFrame(value: unknown): Frame {
  const from = object(value, "frame");
  const show = list(from, "show", asNumber);
  const positions = number(from, "n");
  const frame: Frame = {
    run: string(from, "run"),
    lane: number(from, "lane"),
    canvas: number(from, "canvas"),
    step: number(from, "step"),
    maxSteps: number(from, "maxSteps"),
    show: [show[0] ?? 0, show[1] ?? positions],
    text: list(from, "text", asString),
    entropy: list(from, "entropy", asNumber),
    marks: string(from, "marks"),
    meanEntropy: numberOrNull(from, "meanEntropy"),
    accepted: numberOr(from, "accepted", 0),
    settled: numberOr(from, "settled", 0),
    held: numberOr(from, "held", 0),
    stepMs: numberOrNull(from, "stepMs"),
    elapsedMs: numberOrNull(from, "elapsedMs"),
    last: booleanOr(from, "last", false),
  };
  if (frame.text.length !== positions || frame.entropy.length !== positions || frame.marks.length !== positions) {
    throw new TypeError(`frame: expected ${positions} texts, entropies and marks`);
  }
  return frame;
}

const stops: readonly StopReason[] = ["converged", "cap", "cancelled"];

export function parseSettled(from: Json): Settled {
  return {
    run: string(from, "run"),
    lane: number(from, "lane"),
    canvas: number(from, "canvas"),
    text: string(from, "text"),
    steps: numberOr(from, "steps", 0),
    stop: oneOf(from, "stop", stops, "converged"),
  };
}

function parseCanvasHistory(value: unknown): CanvasHistory {
  const from = object(value, "canvas");
  return {
    steps: number(from, "steps"),
    maxSteps: numberOr(from, "maxSteps", 0),
    stop: from["stop"] === undefined || from["stop"] === null ? null : oneOf(from, "stop", stops, "cancelled"),
    meanEntropy: listOr(from, "meanEntropy", asNumber),
    accepted: listOr(from, "accepted", asNumber),
  };
}

/** The canvases of every lane of a run. */
export function parseHistory(from: Json): CanvasHistory[][] {
  return list(from, "lanes", (lane) => list(object(lane, "lane"), "canvases", parseCanvasHistory));
}

export function parseAlternatives(from: Json): { entropyNats: number | null; alternatives: Alternative[] } {
  return {
    entropyNats: numberOrNull(from, "entropy"),
    alternatives: list(from, "alternatives", (value) => {
      const alternative = object(value, "alternative");
      return {
        id: number(alternative, "id"),
        text: string(alternative, "text"),
        probability: number(alternative, "probability"),
      };
    }),
  };
}
