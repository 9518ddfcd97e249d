// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Which part of the draft a wish is about, when the writer has not selected one. Pure.

import type { Span } from "../wire/drafts";
import type { Action } from "../wire/actions";
import type { DraftView } from "./app_state";
import { plural, wordCount } from "./format";

/** The paragraph around a position: from line break to line break. */
export function paragraphAt(text: string, position: number): Span {
  const start = position > 0 ? text.lastIndexOf("\n", position - 1) + 1 : 0;
  const end = text.indexOf("\n", position);
  return { start, end: end < 0 ? text.length : end };
}

export function spanFor(draft: DraftView, action: Action): Span {
  const { selection, text } = draft;
  switch (action) {
    case "proofread": // an empty span means the whole draft
      return selection.start < selection.end ? selection : { start: 0, end: 0 };
    case "fill":
      return { start: selection.end, end: selection.end };
    case "continue": {
      // A draft that was just opened has its caret at the beginning, where there is nothing to go on from.
      const caret = selection.end === 0 ? text.length : selection.end;
      return { start: caret, end: caret };
    }
    default:
      return selection.start < selection.end ? selection : paragraphAt(text, selection.end);
  }
}

/** What a wish would be about, in words. */
export function scopeInWords(draft: DraftView, action: Action): string {
  if (action === "continue") return "Goes on from the caret";
  if (action === "fill") return "Fills in at the caret";
  const { start, end } = spanFor(draft, action);
  const words = plural(wordCount(start < end ? draft.text.slice(start, end) : draft.text), "word", "words");
  if (draft.selection.start < draft.selection.end) return `Selection · ${words}`;
  return action === "proofread" ? `Whole draft · ${words}` : `This paragraph · ${words}`;
}
