// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What a run would change, waiting for the writer's word.

import { type Action, actions } from "./actions";
import { asString, list, listOr, number, numberOr, numberOrNull, object, oneOf, string, stringOr } from "./fields";
import { type Sampler, parseSampler } from "./status";

export type ChangeState = "open" | "accepted" | "rejected";

export interface Change {
  start: number;
  end: number;
  text: string;
  state: ChangeState;
}

export interface ProposedText {
  text: string;
  seed: number | null;
  meanEntropy: number | null;
  stops: string[];
  /** Steps that its lane took; null where the server does not say. */
  steps: number | null;
}

export interface Proposal {
  id: string;
  run: string;
  document: string;
  version: number;
  action: Action;
  start: number;
  end: number;
  original: string;
  chosen: number;
  alternatives: ProposedText[];
  changes: Change[];
  model: string;
  seed: number | null;
  sampler: Sampler;
  instruction: string;
  steps: number | null;
  canvases: number | null;
  stops: string[];
  state: "open" | "accepted" | "rejected" | "dropped";
  note: string;
}

function parseChange(value: unknown): Change {
  const from = object(value, "change");
  return {
    start: number(from, "start"),
    end: number(from, "end"),
    text: string(from, "text"),
    state: oneOf(from, "state", ["open", "accepted", "rejected"], "open"),
  };
}

function parseProposedText(value: unknown): ProposedText {
  const from = object(value, "alternative");
  return {
    text: string(from, "text"),
    seed: numberOrNull(from, "seed"),
    meanEntropy: numberOrNull(from, "meanEntropy"),
    stops: listOr(from, "stops", asString),
    steps: numberOrNull(from, "steps"),
  };
}

export function parseProposal(value: unknown): Proposal {
  const from = object(value, "proposal");
  const origin = from["origin"] === undefined || from["origin"] === null ? {} : object(from["origin"], "origin");
  return {
    id: string(from, "proposal"),
    run: stringOr(from, "run", ""),
    document: stringOr(from, "document", ""),
    version: numberOr(from, "version", 0),
    action: oneOf(from, "action", actions, "rewrite"),
    start: number(from, "start"),
    end: number(from, "end"),
    original: stringOr(from, "original", ""),
    chosen: numberOr(from, "chosen", 0),
    alternatives: list(from, "alternatives", parseProposedText),
    changes: listOr(from, "changes", parseChange),
    model: stringOr(origin, "model", ""),
    seed: numberOrNull(origin, "seed"),
    sampler: parseSampler(origin["sampler"]),
    instruction: stringOr(origin, "instruction", ""),
    steps: numberOrNull(origin, "steps"),
    canvases: numberOrNull(origin, "canvases"),
    stops: listOr(origin, "stops", asString),
    state: oneOf(from, "state", ["open", "accepted", "rejected", "dropped"], "open"),
    note: stringOr(from, "note", ""),
  };
}
