// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the writer may do with drafts as a whole.

import { string } from "../wire/fields";
import type { Session } from "./session";

const untitled = "Untitled draft";

export function watchLibrary(session: Session, query: string, binned: boolean): void {
  session.store.dispatch({ type: "watching", query, binned });
  session.attempt(session.watchLibrary(query, binned));
}

export function openDraft(session: Session, document: string): void {
  const before = session.store.state.documentId;
  if (before === document) return;
  const open = (): void => {
    if (before !== null) session.order({ type: "close", document: before });
    session.store.dispatch({ type: "opening", document });
    session.store.dispatch({ type: "ui", changes: { card: null } });
    session.store.dispatch({ type: "chat", changes: { turns: [] } });
    session.fetchDraft();
  };
  // What was typed goes out before the page turns; without a connection it cannot, and the page stays.
  if (session.store.state.draft) session.attempt(session.idle().then(open));
  else open();
}

/** Opens a draft that was just made, with the caret in it. */
function openFreshDraft(session: Session, document: string): void {
  session.store.dispatch({ type: "ui", changes: { freshDraft: document } });
  openDraft(session, document);
}

/** Makes a draft and opens it. Gives its id. */
export async function newDraft(session: Session, title = untitled, text = ""): Promise<string> {
  const document = string(await session.request({ type: "document.create", title, text }), "document");
  openFreshDraft(session, document);
  return document;
}

/** Names a draft. An empty name would leave nothing to click on, so it becomes the usual one. */
export function renameDraft(session: Session, document: string, title: string): void {
  session.order({ type: "document.rename", document, title: title.trim() || untitled });
}

export async function duplicateDraft(session: Session, document: string): Promise<void> {
  if (session.store.state.documentId === document) await session.idle();
  openFreshDraft(session, string(await session.request({ type: "document.duplicate", document }), "document"));
}

export async function binDraft(session: Session, document: string): Promise<void> {
  const { state } = session.store;
  if (state.documentId === document) await session.idle();
  await session.request({ type: "document.bin", document });
  session.tell("The draft is in the bin. It can be restored from there.");
  if (state.documentId !== document) return;
  const next = session.store.state.library.documents?.find((entry) => entry.id !== document && !entry.binned);
  if (next) openDraft(session, next.id);
  else session.store.dispatch({ type: "opening", document: null });
}

export async function restoreDraft(session: Session, document: string): Promise<void> {
  await session.request({ type: "document.restore", document });
  session.tell("The draft is back in the library.");
}

/** Deletes for good; the dialog has asked. */
export async function deleteDraft(session: Session, document: string): Promise<void> {
  await session.request({ type: "document.delete", document });
  session.tell("The draft and its history are deleted.");
}
