// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the writer may ask of the model, and of a run that goes on.

import { liveRun } from "../state/reduce_runs";
import { spanFor } from "../state/scope";
import { presetOf } from "../state/presets";
import type { Action, Amount } from "../wire/actions";
import { idleDraft } from "./draft";
import type { Session } from "./session";

export interface Wish {
  action: Action;
  instruction?: string;
  amount?: Amount;
  alternatives?: number;
  seed?: number;
}

/** Starts a run on what is selected, or on what stands for a selection with this action. */
export async function startRun(session: Session, wish: Wish): Promise<void> {
  const draft = await idleDraft(session);
  if (!draft) return;
  const span = spanFor(draft, wish.action);
  const needsText = wish.action === "rewrite" || wish.action === "renoise" || wish.action === "proofread";
  const words = span.end > 0 ? draft.text.slice(span.start, span.end) : draft.text;
  if (needsText && words.trim() === "") {
    session.tell("There are no words here yet. Write or select some first.");
    return;
  }
  if (wish.action === "rewrite" && !wish.instruction?.trim()) {
    session.tell("Say in the box below what to do with the words.");
    document.querySelector<HTMLElement>("#instruction")?.focus();
    return;
  }
  session.store.dispatch({ type: "ui", changes: { card: null } });
  const { direct } = session.store.state.preferences;
  await session.request({
    type: "run.start",
    document: draft.id,
    version: draft.sync.version,
    ...wish,
    ...span,
    ...(direct ? { direct } : {}),
  });
}

/** Runs what stands in the box. */
export function runBox(session: Session): Promise<void> {
  const { ui, presets } = session.store.state;
  const preset = presetOf(presets, ui.preset);
  const instruction = ui.instruction.trim() || preset.instruction;
  // A proofreading with words of the writer's own is a rewriting: it has no place for an instruction.
  const action = preset.action === "proofread" && ui.instruction.trim() ? "rewrite" : preset.action;
  return startRun(session, { action, ...(instruction ? { instruction } : {}) });
}

export function choosePreset(session: Session, id: string): void {
  const preset = presetOf(session.store.state.presets, id);
  session.store.dispatch({
    type: "ui",
    changes: { preset: id, instruction: preset.action === "rewrite" ? preset.instruction : "" },
  });
}

/** The last run's wish once more: with a new seed, or with the very same one. */
export async function runAgain(session: Session, same: boolean): Promise<void> {
  const draft = await idleDraft(session);
  const last = draft?.runs.at(-1)?.run;
  if (!draft || !last) return startRun(session, { action: "renoise", amount: "medium" });
  const proposal = draft.proposals.find((one) => one.run === last.id);
  const again = proposal?.id ?? last.id;
  await session.request({
    type: "run.start",
    document: draft.id,
    again,
    ...(same && last.seed !== null ? { seed: last.seed } : {}),
  });
}

export function pauseOrResume(session: Session): void {
  const run = liveRun(session.store.state.draft)?.run;
  if (run) session.order({ type: run.state === "paused" ? "run.resume" : "run.pause", run: run.id });
}

/** One step; a run that goes on is paused first. */
export function stepRun(session: Session): void {
  const run = liveRun(session.store.state.draft)?.run;
  if (!run) return;
  if (run.state !== "paused") session.order({ type: "run.pause", run: run.id });
  session.order({ type: "run.step", run: run.id });
}

/** Stops. The text stays as it was; with `keep` what has settled is proposed. */
export function stopRun(session: Session, keep: boolean): void {
  const run = liveRun(session.store.state.draft)?.run;
  if (run) session.order({ type: "run.stop", run: run.id, keep });
}
