// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// From a proposed change back to the canvas position that its first word came from. Pure.

import type { Proposal } from "../wire/proposals";
import type { Frame } from "../wire/runs";
import type { DraftView } from "./app_state";

/** The position of a frame's text that holds the character at `offset` of the shown text; null if there is none. */
export function positionAt(frame: Frame, offset: number): number | null {
  let end = 0;
  for (let position = frame.show[0]; position < frame.show[1]; position++) {
    end += frame.text[position]?.length ?? 0;
    if (offset < end) return position;
  }
  return null;
}

/**
 * Where the words of a change stand in the last frame of their lane. Null if the lane is not known any more, has more
 * than one canvas, or ended with another text than what is proposed.
 */
export function placeOfChange(
  draft: DraftView,
  proposal: Proposal,
  index: number,
): { frame: Frame; position: number } | null {
  const change = proposal.changes[index];
  const view = draft.runs.find((one) => one.run.id === proposal.run);
  if (!change || !view) return null;
  const lane = view.run.lanes.findIndex((one) => one.start <= change.start && change.end <= one.end);
  const frame = view.lanes[lane]?.frame;
  const place = view.run.lanes[lane];
  if (!frame || !place || frame.canvas > 0) return null;
  let offset = change.start - place.start;
  for (const [i, other] of proposal.changes.entries()) {
    if (i >= index || other.start < place.start) continue;
    if (other.state === "open") offset += other.text.length - (other.end - other.start);
  }
  const shown = frame.text.slice(frame.show[0], frame.show[1]).join("");
  const word = change.text.trim();
  const at = shown.indexOf(word, Math.max(0, offset - 2));
  // The lane's text may begin with a space that the draft does not have, so the place may be a letter or two off.
  if (word === "" || at < 0 || at > offset + 2 + (change.text.length - change.text.trimStart().length)) return null;
  const position = positionAt(frame, at);
  return position === null ? null : { frame, position };
}
