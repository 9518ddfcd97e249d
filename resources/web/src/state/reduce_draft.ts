// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What typing and the server's messages do to the draft that is open. Pure.

import type { Draft } from "../wire/drafts";
import type { ServerMessage } from "../wire/messages";
import type { Proposal } from "../wire/proposals";
import { type DraftView, emptyLane } from "./app_state";
import { runInLocalText, withFrame, withRun, withSettled } from "./reduce_runs";
import { type TextEdit, applied, movedSpan } from "./text_edit";
import {
  type PendingEdit,
  type TextSync,
  freshSync,
  rebased,
  toLocal,
  withLocalEdit,
  withRemoteEdit,
} from "./text_sync";

function proposalInLocalText(proposal: Proposal, sync: TextSync): Proposal {
  const move = <T extends { start: number; end: number }>(span: T): T => toLocal(sync, span, movedSpan);
  return { ...move(proposal), changes: proposal.changes.map(move) };
}

/** Moves all that has a place in the text over an edit of it. */
function movedOver(draft: DraftView, edit: TextEdit): DraftView {
  const move = <T extends { start: number; end: number }>(span: T): T => movedSpan(span, edit);
  const own = draft.ownProposal;
  return {
    ...draft,
    locks: draft.locks.map(move),
    runs: draft.runs.map((view) => ({
      ...view,
      run: { ...move(view.run), lanes: view.run.lanes.map(move) },
    })),
    proposals: draft.proposals.map((proposal) => ({ ...move(proposal), changes: proposal.changes.map(move) })),
    ownProposal: own && { ...own, at: move({ start: own.at, end: own.at }).start },
    selection: move(draft.selection),
  };
}

/** A draft as the server tells it; `before` is what the window showed of it until now, if it did. */
export function openedDraft(draft: Draft, before: DraftView | null): DraftView {
  const known = before?.id === draft.id ? before : null;
  const { sync, local } = known
    ? rebased(known.sync, draft.version, draft.text)
    : { sync: freshSync(draft.version, draft.text), local: draft.text };
  const lanesOf = (run: string) => known?.runs.find((one) => one.run.id === run)?.lanes ?? [];
  return {
    id: draft.id,
    title: draft.title,
    sync,
    text: local,
    locks: draft.locks.map((span) => toLocal(sync, span, movedSpan)),
    runs: draft.runs.map((run) => ({
      run: runInLocalText(run, sync),
      lanes: run.lanes.map((_, i) => lanesOf(run.id)[i] ?? emptyLane()),
    })),
    proposals: draft.proposals.map((proposal) => proposalInLocalText(proposal, sync)),
    ownProposal: known?.ownProposal ?? null,
    undo: draft.undo,
    redo: draft.redo,
    goingBack: known?.goingBack ?? 0,
    settings: draft.settings,
    revision: draft.revision,
    saved: draft.saved,
    saveProblem: "",
    revisions: known?.revisions ?? null,
    inspected: known?.inspected ?? null,
    history: null,
    selection: known?.selection ?? { start: 0, end: 0 },
    currentChange: known?.currentChange ?? null,
  };
}

/** The writer changed the text. */
export function withTyping(draft: DraftView, edit: PendingEdit): DraftView {
  const moved = movedOver(draft, edit);
  return { ...moved, text: applied(draft.text, edit), sync: withLocalEdit(draft.sync, edit), history: null };
}

function withProposal(draft: DraftView, message: Proposal): DraftView {
  const proposal = proposalInLocalText(message, draft.sync);
  const known = draft.proposals.some((one) => one.id === proposal.id);
  const proposals = known
    ? draft.proposals.map((one) => (one.id === proposal.id ? proposal : one))
    : [...draft.proposals, proposal];
  return { ...draft, proposals };
}

/** Applies a message about the draft. Null: it cannot be applied, and the draft has to be fetched anew. */
export function withDraftMessage(draft: DraftView, message: ServerMessage): DraftView | null {
  switch (message.type) {
    case "edited": {
      const result = withRemoteEdit(draft.sync, message, message.version);
      if (!result) return null;
      const moved = movedOver(draft, result.local);
      return { ...moved, text: applied(draft.text, result.local), sync: result.sync, history: null };
    }
    case "title":
      return { ...draft, title: message.title };
    case "locks":
      return { ...draft, locks: message.locks.map((span) => toLocal(draft.sync, span, movedSpan)) };
    case "settings":
      return { ...draft, settings: message.settings };
    case "undoable":
      return { ...draft, undo: message.undo, redo: message.redo };
    case "saved":
      return { ...draft, revision: message.revision, saved: message.saved, saveProblem: message.problem };
    case "revision.added": {
      const others = draft.revisions?.filter((one) => one.revision !== message.revision.revision);
      return { ...draft, revisions: others ? [...others, message.revision] : null };
    }
    case "run":
      return withRun(draft, message.run);
    case "frame":
      return withFrame(draft, message.frame);
    case "settled":
      return withSettled(draft, message.settled);
    case "proposal":
      return withProposal(draft, message.proposal);
    default:
      return draft;
  }
}

/** The draft that a message is about; null: about none, or it names a run. */
export function documentOf(message: ServerMessage): string | null {
  if ("document" in message) return message.document;
  if (message.type === "run") return message.run.document || null;
  if (message.type === "proposal") return message.proposal.document || null;
  return null;
}
