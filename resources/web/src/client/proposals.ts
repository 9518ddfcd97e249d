// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the writer may do with what is proposed.

import { currentChange, isTray, openChanges, openProposals } from "../state/page_marks";
import type { Span } from "../wire/drafts";
import type { Proposal } from "../wire/proposals";
import { idleDraft } from "./draft";
import type { Session } from "./session";

/**
 * The proposal with several alternatives that keys are about: the first open one at or behind the caret, else the
 * first.
 */
export function currentTray(session: Session): Proposal | null {
  const { draft } = session.store.state;
  const trays = openProposals(draft).filter(isTray);
  return trays.find((one) => one.end >= (draft?.selection.end ?? 0)) ?? trays[0] ?? null;
}

export async function acceptChange(session: Session, proposal: string, change: number): Promise<void> {
  await session.idle();
  await session.request({ type: "proposal.accept", proposal, change });
}

export async function rejectChange(session: Session, proposal: string, change: number): Promise<void> {
  await session.idle();
  await session.request({ type: "proposal.reject", proposal, change });
}

/** The chosen alternative, or else the change that is current. */
export async function acceptCurrent(session: Session): Promise<void> {
  const draft = await idleDraft(session);
  if (!draft) return;
  if (draft.ownProposal) return acceptOwn(session);
  const tray = currentTray(session);
  const current = currentChange(draft);
  if (tray && !current) await session.request({ type: "proposal.accept", proposal: tray.id });
  else if (current) await session.request({ type: "proposal.accept", ...current });
}

export async function rejectCurrent(session: Session): Promise<void> {
  const draft = await idleDraft(session);
  if (!draft) return;
  if (draft.ownProposal) return rejectOwn(session);
  const tray = currentTray(session);
  const current = currentChange(draft);
  if (tray && !current) await session.request({ type: "proposal.reject", proposal: tray.id });
  else if (current) await session.request({ type: "proposal.reject", ...current });
}

export async function acceptAll(session: Session): Promise<void> {
  const draft = await idleDraft(session);
  if (draft?.ownProposal) acceptOwn(session);
  for (const proposal of openProposals(draft))
    await session.request({ type: "proposal.accept", proposal: proposal.id });
}

export async function rejectAll(session: Session): Promise<void> {
  const draft = await idleDraft(session);
  if (draft?.ownProposal) rejectOwn(session);
  for (const proposal of openProposals(draft))
    await session.request({ type: "proposal.reject", proposal: proposal.id });
}

export async function chooseAlternative(session: Session, proposal: string, alternative: number): Promise<void> {
  await session.request({ type: "proposal.choose", proposal, alternative });
}

/** Puts words of an alternative into the chosen one. */
export async function takeWords(session: Session, proposal: string, alternative: number, words: Span): Promise<void> {
  await session.request({ type: "proposal.take", proposal, alternative, ...words });
}

/** Makes the writer's own version the chosen one. */
export async function editProposal(session: Session, proposal: string, text: string): Promise<void> {
  await session.request({ type: "proposal.edit", proposal, text });
}

/** Accepts one more word of the proposal that is current. */
export async function takeOneWord(session: Session): Promise<void> {
  const draft = await idleDraft(session);
  if (!draft) return;
  const tray = currentTray(session);
  const open = tray?.changes.findIndex((change) => change.state === "open") ?? -1;
  const current = tray && open >= 0 ? { proposal: tray.id, change: open } : currentChange(draft);
  if (current) await session.request({ type: "proposal.accept", ...current, words: 1 });
}

/** Goes to the next open change, or with -1 to the one before; round and round. */
export function goToChange(session: Session, by: 1 | -1): void {
  const { draft } = session.store.state;
  if (!draft) return;
  const open = openChanges(draft);
  const current = currentChange(draft);
  const at = open.findIndex((one) => one.proposal === current?.proposal && one.change === current.change);
  const isFirstVisit = draft.currentChange === null;
  const next = open[isFirstVisit && by === 1 ? 0 : (at + by + open.length) % open.length];
  if (!next) return;
  const { proposal, change, start } = next;
  session.store.dispatch({
    type: "draft",
    document: draft.id,
    changes: { currentChange: { proposal, change }, selection: { start, end: start } },
  });
}

/** Offers a text of the page's own at the caret. */
export function proposeOwn(session: Session, text: string): void {
  const { draft } = session.store.state;
  if (!draft) return;
  const ownProposal = { at: draft.selection.end, text };
  session.store.dispatch({ type: "draft", document: draft.id, changes: { ownProposal } });
}

export function acceptOwn(session: Session): void {
  const { draft } = session.store.state;
  if (!draft?.ownProposal) return;
  const { at, text } = draft.ownProposal;
  session.store.dispatch({ type: "draft", document: draft.id, changes: { ownProposal: null } });
  session.store.dispatch({ type: "typed", edit: { start: at, end: at, text, typing: false } });
  session.flush();
}

export function rejectOwn(session: Session): void {
  const { draft } = session.store.state;
  if (draft) session.store.dispatch({ type: "draft", document: draft.id, changes: { ownProposal: null } });
}
