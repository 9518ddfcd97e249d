// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Drafts, their revisions, and the list of the library.

import {
  type Json,
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
import { type Proposal, parseProposal } from "./proposals";
import { type Run, parseRun } from "./runs";
import { type Sampler, parseSampler } from "./status";

/** A part of a text in UTF-16 code units, end exclusive. */
export interface Span {
  start: number;
  end: number;
}

export interface LibraryEntry {
  id: string;
  title: string;
  excerpt: string;
  /** Where the query was found, with U+0002 and U+0003 around the words; "" without a query. */
  snippet: string;
  modifiedMs: number;
  revisions: number;
  binned: boolean;
}

export type OriginKind = "human" | "model" | "restored" | "imported";

export interface Revision {
  revision: number;
  parent: number | null;
  createdMs: number;
  label: string;
  kind: OriginKind;
  action: string;
  model: string;
  seed: number | null;
  instruction: string;
  sampler: Sampler;
  steps: number | null;
  canvases: number | null;
  stop: string;
  run: string;
  words: number;
}

export interface DraftSettings {
  sampler: Sampler;
  seed: number | null;
}

export interface Draft {
  id: string;
  version: number;
  title: string;
  text: string;
  locks: Span[];
  runs: Run[];
  proposals: Proposal[];
  undo: string | null;
  redo: string | null;
  settings: DraftSettings;
  revision: number;
  saved: boolean;
}

export function parseSpan(value: unknown): Span {
  const from = object(value, "span");
  return { start: number(from, "start"), end: number(from, "end") };
}

function parseEntry(value: unknown): LibraryEntry {
  const from = object(value, "documents");
  return {
    id: string(from, "id"),
    title: stringOr(from, "title", ""),
    excerpt: stringOr(from, "excerpt", ""),
    snippet: stringOr(from, "snippet", ""),
    modifiedMs: number(from, "modified"),
    revisions: numberOr(from, "revisions", 0),
    binned: booleanOr(from, "binned", false),
  };
}

export function parseLibrary(from: Json): LibraryEntry[] {
  return list(from, "documents", parseEntry);
}

export function parseRevision(value: unknown): Revision {
  const from = object(value, "revision");
  const origin = from["origin"] === undefined || from["origin"] === null ? {} : object(from["origin"], "origin");
  return {
    revision: number(from, "revision"),
    parent: numberOrNull(from, "parent"),
    createdMs: number(from, "created"),
    label: stringOr(from, "label", ""),
    kind: oneOf(origin, "kind", ["human", "model", "restored", "imported"], "human"),
    action: stringOr(origin, "action", ""),
    model: stringOr(origin, "model", ""),
    seed: numberOrNull(origin, "seed"),
    instruction: stringOr(origin, "instruction", ""),
    sampler: parseSampler(origin["sampler"]),
    steps: numberOrNull(origin, "steps"),
    canvases: numberOrNull(origin, "canvases"),
    stop: stringOr(origin, "stop", ""),
    run: stringOr(origin, "run", ""),
    words: numberOr(from, "words", 0),
  };
}

export function parseSettings(value: unknown): DraftSettings {
  const from = value === undefined || value === null ? {} : object(value, "settings");
  return { sampler: parseSampler(from["sampler"]), seed: numberOrNull(from, "seed") };
}

function labelOrNull(from: Json, key: string): string | null {
  return from[key] === undefined || from[key] === null ? null : string(from, key);
}

/** What can be undone and redone, in words; null: nothing. */
export function parseUndoable(from: Json): { undo: string | null; redo: string | null } {
  return { undo: labelOrNull(from, "undo"), redo: labelOrNull(from, "redo") };
}

export function parseDraft(from: Json): Draft {
  return {
    id: string(from, "document"),
    version: number(from, "version"),
    title: stringOr(from, "title", ""),
    text: string(from, "text"),
    locks: listOr(from, "locks", parseSpan),
    runs: listOr(from, "runs", parseRun),
    proposals: listOr(from, "proposals", parseProposal),
    ...parseUndoable(from),
    settings: parseSettings(from["settings"]),
    revision: numberOr(from, "revision", 0),
    saved: booleanOr(from, "saved", true),
  };
}
