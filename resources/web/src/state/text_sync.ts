// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// One window's share of a text that several windows write: what the server has confirmed, the one edit that is under
// way to it, and what was typed since. Pure; who sends and who shows is elsewhere.

import {
  type EditOrder,
  type TextEdit,
  applied,
  changesNothing,
  editBetween,
  isHighSurrogate,
  movedEdit,
} from "./text_edit";

/** An edit that waits, and whether it may join the server's last undo step. */
export interface PendingEdit extends TextEdit {
  readonly typing: boolean;
}

export interface TextSync {
  /** The server's version of `confirmed`. */
  readonly version: number;
  readonly confirmed: string;
  readonly inFlight: PendingEdit | null;
  readonly pending: readonly PendingEdit[];
}

/** Longest insertion in one message: 16 384 units are at most 96 KiB of JSON, and a message may have 256. */
export const longestInsertion = 16384;

export function freshSync(version: number, text: string): TextSync {
  return { version, confirmed: text, inFlight: null, pending: [] };
}

/** What the window shows: the confirmed text with its own edits on top. */
export function localText(sync: TextSync): string {
  const confirmed = sync.inFlight ? applied(sync.confirmed, sync.inFlight) : sync.confirmed;
  return sync.pending.reduce(applied, confirmed);
}

export function isIdle(sync: TextSync): boolean {
  return sync.inFlight === null && sync.pending.length === 0;
}

/** Both edits as one, if the second goes on where the first ended; else null. */
function joined(first: PendingEdit, second: PendingEdit): PendingEdit | null {
  if (first.typing !== second.typing) return null;
  const written = first.start + first.text.length;
  if (second.start < first.start || second.end > written) return null;
  const kept = first.text.slice(0, second.start - first.start);
  const tail = first.text.slice(second.end - first.start);
  return { start: first.start, end: first.end, text: kept + second.text + tail, typing: first.typing };
}

/** Adds what the writer just did; positions are those of the local text. */
export function withLocalEdit(sync: TextSync, edit: PendingEdit): TextSync {
  const last = sync.pending.at(-1);
  const together = last ? joined(last, edit) : null;
  const pending = together ? [...sync.pending.slice(0, -1), together] : [...sync.pending, edit];
  return { ...sync, pending: pending.filter((one) => !changesNothing(one)) };
}

/** Cuts a long insertion in two, between characters; the second part goes behind the first. */
function cut(edit: PendingEdit): [PendingEdit, PendingEdit | null] {
  if (edit.text.length <= longestInsertion) return [edit, null];
  const at = isHighSurrogate(edit.text.charCodeAt(longestInsertion - 1)) ? longestInsertion - 1 : longestInsertion;
  const place = edit.start + at;
  return [
    { ...edit, text: edit.text.slice(0, at) },
    { start: place, end: place, text: edit.text.slice(at), typing: edit.typing },
  ];
}

/** Takes the next edit out of the queue. `send` is null while one is under way or nothing waits. */
export function takeNext(sync: TextSync): { sync: TextSync; send: PendingEdit | null } {
  const [next, ...others] = sync.pending;
  if (sync.inFlight || !next) return { sync, send: null };
  const [send, rest] = cut(next);
  return { sync: { ...sync, inFlight: send, pending: rest ? [rest, ...others] : others }, send };
}

/**
 * The server's answer to the edit under way. Null if it applied it elsewhere than this window did: then the two texts
 * have come apart, and the window has to fetch the draft anew.
 */
export function acknowledged(sync: TextSync, version: number, start: number, end: number): TextSync | null {
  const edit = sync.inFlight;
  if (!edit || edit.start !== start || edit.end !== end || version !== sync.version + 1) return null;
  return { ...sync, version, confirmed: applied(sync.confirmed, edit), inFlight: null };
}

/** Two edits of one text, each moved behind the other; `first` is the one that the server had first. */
function crossed<F extends TextEdit, S extends TextEdit>(first: F, second: S): { first: F; second: S } {
  const move = <T extends TextEdit>(edit: T, over: TextEdit, order: EditOrder): T => ({
    ...edit,
    ...movedEdit(edit, over, order),
  });
  return { first: move(first, second, "earlier"), second: move(second, first, "later") };
}

/**
 * A change that came from the server. `local` is what it does to the text that the window shows. Null if a version is
 * missing between.
 */
export function withRemoteEdit(
  sync: TextSync,
  edit: TextEdit,
  version: number,
): { sync: TextSync; local: TextEdit } | null {
  if (version !== sync.version + 1) return null;
  let local: TextEdit = { start: edit.start, end: edit.end, text: edit.text };
  let inFlight = sync.inFlight;
  if (inFlight) ({ first: local, second: inFlight } = crossed(local, inFlight));
  const pending = sync.pending.map((waiting) => {
    const both = crossed(local, waiting);
    local = both.first;
    return both.second;
  });
  return { sync: { version, confirmed: applied(sync.confirmed, edit), inFlight, pending }, local };
}

/**
 * Goes on with a text that was fetched anew, after the connection was lost or the texts came apart. What was typed and
 * not confirmed is put on top of it. Whether the edit under way had arrived is told by which of the two texts the new
 * one is nearer to.
 */
export function rebased(sync: TextSync, version: number, text: string): { sync: TextSync; local: string } {
  let base = sync.confirmed;
  let waiting = sync.pending;
  if (sync.inFlight) {
    const arrived = applied(base, sync.inFlight);
    if (size(editBetween(arrived, text)) <= size(editBetween(base, text))) base = arrived;
    else waiting = [sync.inFlight, ...waiting];
  }
  let between: TextEdit = editBetween(base, text);
  const pending = waiting.map((edit) => {
    const both = crossed(between, edit);
    between = both.first;
    return both.second;
  });
  const fresh = { version, confirmed: text, inFlight: null, pending: pending.filter((edit) => !changesNothing(edit)) };
  return { sync: fresh, local: localText(fresh) };
}

function size(edit: TextEdit): number {
  return edit.end - edit.start + edit.text.length;
}

/** Where a place in the confirmed text stands in the local one. */
export function toLocal<T>(sync: TextSync, value: T, move: (value: T, over: TextEdit) => T): T {
  const moved = sync.inFlight ? move(value, sync.inFlight) : value;
  return sync.pending.reduce(move, moved);
}
