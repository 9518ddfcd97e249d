// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The messages of the live channel (app/server/PROTOCOL.md), version 1.

import type { Action, Amount } from "./actions";
import {
  type Draft,
  type DraftSettings,
  type LibraryEntry,
  type Revision,
  type Span,
  parseDraft,
  parseLibrary,
  parseRevision,
  parseSettings,
  parseSpan,
  parseUndoable,
} from "./drafts";
import { type Json, boolean, listOr, number, numberOrNull, object, string, stringOr } from "./fields";
import { type Proposal, parseProposal } from "./proposals";
import { type Frame, type Run, type Settled, parseFrame, parseRun, parseSettled } from "./runs";
import { type Hello, type Sampler, type ServerStatus, parseHello, parseStatus } from "./status";

export const subprotocol = "palimpsest.v1";

/** A change of a text that somebody else made, or that nobody's edit made. */
export interface Edited {
  type: "edited";
  document: string;
  version: number;
  start: number;
  end: number;
  text: string;
  cause: string;
}

export interface Reply {
  type: "reply";
  ref: number;
  fields: Json;
}

export interface Refusal {
  type: "error";
  ref: number | null;
  code: string;
  message: string;
}

export type ServerMessage =
  | Hello
  | Reply
  | Refusal
  | Edited
  | { type: "status"; status: ServerStatus }
  | { type: "library"; documents: LibraryEntry[] }
  | { type: "document"; draft: Draft }
  | { type: "title"; document: string; title: string }
  | { type: "locks"; document: string; locks: Span[] }
  | { type: "settings"; document: string; settings: DraftSettings }
  | { type: "undoable"; document: string; undo: string | null; redo: string | null }
  | { type: "saved"; document: string; revision: number; saved: boolean; problem: string }
  | { type: "revision.added"; document: string; revision: Revision }
  | { type: "document.gone"; document: string }
  | { type: "run"; run: Run }
  | { type: "frame"; frame: Frame }
  | { type: "settled"; settled: Settled }
  | { type: "proposal"; proposal: Proposal };

type Reader = (from: Json) => ServerMessage;

const document = (from: Json): string => string(from, "document");

const readers: Record<string, Reader> = {
  hello: parseHello,
  reply: (from) => ({ type: "reply", ref: number(from, "ref"), fields: from }),
  error: (from) => ({
    type: "error",
    ref: numberOrNull(from, "ref"),
    code: stringOr(from, "code", ""),
    message: stringOr(from, "message", ""),
  }),
  status: (from) => ({ type: "status", status: parseStatus(from) }),
  library: (from) => ({ type: "library", documents: parseLibrary(from) }),
  document: (from) => ({ type: "document", draft: parseDraft(from) }),
  edited: (from) => ({
    type: "edited",
    document: document(from),
    version: number(from, "version"),
    start: number(from, "start"),
    end: number(from, "end"),
    text: string(from, "text"),
    cause: stringOr(from, "cause", "edit"),
  }),
  title: (from) => ({ type: "title", document: document(from), title: string(from, "title") }),
  locks: (from) => ({ type: "locks", document: document(from), locks: listOr(from, "locks", parseSpan) }),
  settings: (from) => ({ type: "settings", document: document(from), settings: parseSettings(from["settings"]) }),
  undoable: (from) => ({ type: "undoable", document: document(from), ...parseUndoable(from) }),
  saved: (from) => ({
    type: "saved",
    document: document(from),
    revision: number(from, "revision"),
    saved: boolean(from, "saved"),
    problem: stringOr(from, "problem", ""),
  }),
  "revision.added": (from) => ({
    type: "revision.added",
    document: document(from),
    revision: parseRevision(from["revision"]),
  }),
  "document.gone": (from) => ({ type: "document.gone", document: document(from) }),
  run: (from) => ({ type: "run", run: parseRun(from) }),
  frame: (from) => ({ type: "frame", frame: parseFrame(from) }),
  settled: (from) => ({ type: "settled", settled: parseSettled(from) }),
  proposal: (from) => ({ type: "proposal", proposal: parseProposal(from) }),
};

/**
 * Reads one message. Null: a type that this page does not know, which is ignored as the protocol asks. Throws
 * TypeError or SyntaxError on anything malformed.
 */
export function parseServerMessage(text: string): ServerMessage | null {
  const from = object(JSON.parse(text), "message");
  const read = Object.hasOwn(readers, string(from, "type")) ? readers[string(from, "type")] : undefined;
  return read ? read(from) : null;
}

/** A place in the canvases of a run. */
export interface CanvasAddress {
  run: string;
  lane: number;
  canvas: number;
}

export interface RunWish {
  document: string;
  version: number;
  action: Action;
  start: number;
  end: number;
  instruction?: string;
  amount?: Amount;
  alternatives?: number;
  seed?: number;
  sampler?: Sampler;
  paused?: boolean;
  direct?: boolean;
}

/** Everything that this page may ask of the server. */
export type ClientMessage =
  | { type: "library.watch"; query: string; binned: boolean }
  | { type: "document.create"; title?: string; text?: string }
  | { type: "document.rename"; document: string; title: string }
  | { type: "document.duplicate" | "document.bin" | "document.restore" | "document.delete"; document: string }
  | { type: "open" | "close" | "undo" | "redo" | "unlock.all" | "revisions"; document: string }
  | { type: "edit"; document: string; version: number; start: number; end: number; text: string; typing: boolean }
  | { type: "lock"; document: string; version: number; start: number; end: number; locked: boolean }
  | { type: "settings"; document: string; settings: { sampler?: Sampler | null; seed?: number | null } }
  | { type: "revision.text" | "revision.restore"; document: string; revision: number }
  | ({ type: "run.start" } & RunWish)
  | { type: "run.start"; document: string; again: string; seed?: number }
  | { type: "run.pause" | "run.resume" | "run.step" | "history"; run: string }
  | { type: "run.stop"; run: string; keep: boolean }
  | ({ type: "run.freeze"; changes: { position: number; id?: number }[] } & CanvasAddress)
  | ({ type: "run.hold"; position: number; held: boolean } & CanvasAddress)
  | ({ type: "run.alternatives"; position: number; step?: number } & CanvasAddress)
  | ({ type: "history.frame" | "history.branch" | "seen"; step: number } & CanvasAddress)
  | { type: "proposal.accept"; proposal: string; change?: number; words?: number }
  | { type: "proposal.reject"; proposal: string; change?: number }
  | { type: "proposal.choose"; proposal: string; alternative: number }
  | { type: "proposal.take"; proposal: string; alternative: number; start: number; end: number }
  | { type: "proposal.edit"; proposal: string; text: string };
