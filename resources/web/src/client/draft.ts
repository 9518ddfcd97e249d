// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the writer may do with the text of the open draft.

import type { DraftView } from "../state/app_state";
import { type Span, parseRevision } from "../wire/drafts";
import { list } from "../wire/fields";
import type { Sampler } from "../wire/status";
import type { Session } from "./session";

/** The open draft once the server has all that was typed; null if none is open. */
export async function idleDraft(session: Session): Promise<DraftView | null> {
  await session.idle();
  return session.store.state.draft;
}

/** Undoes or redoes. Until the server has told all of it, nobody knows what can be undone after it. */
async function goBack(session: Session, type: "undo" | "redo"): Promise<void> {
  const draft = await idleDraft(session);
  if (!draft) return;
  const document = draft.id;
  const count = (change: number): void => {
    const goingBack = Math.max(0, (session.store.state.draft?.goingBack ?? 0) + change);
    session.store.dispatch({ type: "draft", document, changes: { goingBack } });
  };
  count(1);
  try {
    await session.request({ type, document });
  } finally {
    count(-1);
  }
}

export function undo(session: Session): Promise<void> {
  return goBack(session, "undo");
}

export function redo(session: Session): Promise<void> {
  return goBack(session, "redo");
}

/** Whether all of a span is locked. */
export function isLocked(draft: DraftView, span: Span): boolean {
  return draft.locks.some((lock) => lock.start <= span.start && span.end <= lock.end);
}

/** Locks the selected words, or unlocks them if they all are. An empty selection means the word at the caret. */
export async function toggleLock(session: Session): Promise<void> {
  const draft = await idleDraft(session);
  if (!draft) return;
  const { start, end } = draft.selection;
  const locked = !isLocked(draft, draft.selection);
  await session.request({ type: "lock", document: draft.id, version: draft.sync.version, start, end, locked });
}

export async function unlockAll(session: Session): Promise<void> {
  const draft = await idleDraft(session);
  if (draft) await session.request({ type: "unlock.all", document: draft.id });
}

export function changeSampler(session: Session, sampler: Sampler): void {
  const { draft } = session.store.state;
  if (!draft) return;
  const merged = { ...draft.settings.sampler, ...sampler };
  const settings = { ...draft.settings, sampler: merged };
  session.store.dispatch({ type: "draft", document: draft.id, changes: { settings } });
  session.order({ type: "settings", document: draft.id, settings: { sampler: merged } });
}

/** Gives every setting back to the model. */
export function resetSampler(session: Session): void {
  const { draft } = session.store.state;
  if (!draft) return;
  session.store.dispatch({
    type: "draft",
    document: draft.id,
    changes: { settings: { ...draft.settings, sampler: {} } },
  });
  session.order({ type: "settings", document: draft.id, settings: { sampler: null } });
}

/** Fixes the seed of coming runs; null: a new one each time. */
export function changeSeed(session: Session, seed: number | null): void {
  const { draft } = session.store.state;
  if (!draft) return;
  session.store.dispatch({ type: "draft", document: draft.id, changes: { settings: { ...draft.settings, seed } } });
  session.order({ type: "settings", document: draft.id, settings: { seed } });
}

export async function loadRevisions(session: Session): Promise<void> {
  const document = session.store.state.draft?.id;
  if (document === undefined) return;
  const reply = await session.request({ type: "revisions", document });
  session.store.dispatch({ type: "draft", document, changes: { revisions: list(reply, "revisions", parseRevision) } });
}

export async function restoreRevision(session: Session, revision: number): Promise<void> {
  const draft = await idleDraft(session);
  if (!draft) return;
  await session.request({ type: "revision.restore", document: draft.id, revision });
  session.tell(`The text is that of revision ${revision} again. Undo takes it back.`);
}
