// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Edits of a text and how they move over each other: the same rules as the server's (app/editing/text_edit.h), so that
// a window that shows its own typing at once ends with the same text as everybody else. Pure.

import type { Span } from "../wire/drafts";

/** Replaces [start, end) of a text by `text`. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Whether an edit comes before or after the one that it is moved over. Decides ties only. */
export type EditOrder = "earlier" | "later";

/** Moves an edit over another one that was made to the same text, so that it can be applied behind it. */
export function movedEdit(edit: TextEdit, over: TextEdit, order: EditOrder): TextEdit {
  const { start: s, end: e, text: t } = edit;
  const { start: a, end: b, text: u } = over;
  const d = u.length - (b - a);
  if (s === e && s === a && a === b) {
    return order === "later" ? { start: s + u.length, end: s + u.length, text: t } : edit;
  }
  if (e <= a) return edit;
  if (b <= s) return { start: s + d, end: e + d, text: t };
  const equal = s === a && e === b;
  if (s <= a && b <= e && !(equal && order === "later")) return { start: s, end: e + d, text: t + u };
  if (a <= s && e <= b) return { start: a + u.length, end: a + u.length, text: t };
  if (s < a) return { start: s, end: a, text: t };
  return { start: a + u.length, end: e + d, text: t };
}

/**
 * Where a stretch of text stands after an edit. Insertions at its borders stay outside, those inside belong to it; an
 * empty span moves behind what is inserted at its place; one that is replaced as a whole becomes empty in front of the
 * new text.
 */
export function movedSpan<T extends Span>(span: T, over: TextEdit): T {
  const { start, end } = span;
  const { start: a, end: b, text } = over;
  const d = text.length - (b - a);
  if (start === end) {
    if (start < a || (start === a && a < b)) return span;
    if (start >= b) return { ...span, start: start + d, end: end + d };
    return { ...span, start: a, end: a };
  }
  if (end <= a) return span;
  if (b <= start) return { ...span, start: start + d, end: end + d };
  if (a <= start && end <= b) return { ...span, start: a, end: a };
  if (a <= start) return { ...span, start: a + text.length, end: end + d };
  if (end <= b) return { ...span, end: a };
  return { ...span, end: end + d };
}

export function applied(text: string, edit: TextEdit): string {
  return text.slice(0, edit.start) + edit.text + text.slice(edit.end);
}

export function changesNothing(edit: TextEdit): boolean {
  return edit.start === edit.end && edit.text === "";
}

/** The smallest edit that makes `after` out of `before`; whole surrogate pairs. */
export function editBetween(before: string, after: string): TextEdit {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  if (start > 0 && isHighSurrogate(before.charCodeAt(start - 1))) start--;
  let tail = 0;
  while (
    tail < shorter - start &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  ) {
    tail++;
  }
  if (tail > 0 && isLowSurrogate(before.charCodeAt(before.length - tail))) tail--;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** U+FFFD for each unpaired surrogate and each NUL, one for one: what the server holds in their place. */
export function cleanedText(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]|\0/g, "\uFFFD");
}
