// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Going through the steps of a canvas, and back to one of them.

import type { HistoryView } from "../state/app_state";
import { inspectedLane } from "../state/reduce_runs";
import { object } from "../wire/fields";
import { parseFrame, parseHistory } from "../wire/runs";
import { idleDraft } from "./draft";
import type { Session } from "./session";

const playDelayMs = 160;

function history(session: Session): HistoryView | null {
  return session.store.state.draft?.history ?? null;
}

function change(session: Session, changes: Partial<HistoryView>): void {
  const { draft } = session.store.state;
  if (!draft?.history) return;
  session.store.dispatch({ type: "draft", document: draft.id, changes: { history: { ...draft.history, ...changes } } });
}

export function closeHistory(session: Session): void {
  const { draft } = session.store.state;
  if (draft?.history) session.store.dispatch({ type: "draft", document: draft.id, changes: { history: null } });
}

/** Opens the steps of a run; `step` 0 means the last one. */
export async function openHistory(session: Session, run: string, lane = 0, canvas = -1, step = 0): Promise<void> {
  const { draft } = session.store.state;
  if (!draft) return;
  const opened: HistoryView = { run, lanes: null, lane, canvas: 0, step: 0, frame: null, playing: false, problem: "" };
  session.store.dispatch({ type: "draft", document: draft.id, changes: { history: opened } });
  try {
    const lanes = parseHistory(await session.request({ type: "history", run }));
    const canvases = lanes[lane] ?? [];
    const at = canvas < 0 ? Math.max(0, canvases.length - 1) : Math.min(canvas, canvases.length - 1);
    change(session, { lanes });
    await goTo(session, at, step || (canvases[at]?.steps ?? 0));
  } catch (error) {
    change(session, { problem: error instanceof Error ? error.message : "The steps could not be fetched." });
  }
}

/** Shows a step. Steps beyond the canvas lead into the next or the last one. */
export async function goTo(session: Session, canvas: number, step: number): Promise<void> {
  const view = history(session);
  const canvases = view?.lanes?.[view.lane];
  const target = canvases?.[canvas];
  if (!view || !target || target.steps === 0) return;
  const clamped = Math.max(1, Math.min(step, target.steps));
  change(session, { canvas, step: clamped });
  const reply = await session.request({ type: "history.frame", run: view.run, lane: view.lane, canvas, step: clamped });
  const now = history(session);
  // The slider may have moved on while the frame was under way.
  if (now?.run === view.run && now.canvas === canvas && now.step === clamped) {
    change(session, { frame: parseFrame(object(reply["frame"], "frame")) });
  }
}

/** Opens the history of what the inspector shows, if none is open yet. False if there is nothing to go through. */
async function ensureHistory(session: Session): Promise<boolean> {
  if (history(session)?.lanes) return true;
  const { draft } = session.store.state;
  const inspected = draft && inspectedLane(draft);
  if (!inspected) return false;
  await openHistory(session, inspected.view.run.id, inspected.index);
  return history(session)?.lanes != null;
}

export async function stepBy(session: Session, by: number): Promise<void> {
  if (!(await ensureHistory(session))) return;
  const view = history(session);
  const canvases = view?.lanes?.[view.lane];
  if (!view || !canvases) return;
  const step = view.step + by;
  const steps = canvases[view.canvas]?.steps ?? 0;
  if (step < 1 && view.canvas > 0) return goTo(session, view.canvas - 1, Infinity);
  if (step > steps && view.canvas + 1 < canvases.length) return goTo(session, view.canvas + 1, 1);
  return goTo(session, view.canvas, step);
}

export async function canvasBy(session: Session, by: number): Promise<void> {
  if (!(await ensureHistory(session))) return;
  const view = history(session);
  const canvases = view?.lanes?.[view.lane];
  if (!view || !canvases) return;
  const canvas = view.canvas + by;
  if (canvas >= 0 && canvas < canvases.length) return goTo(session, canvas, Infinity);
  const lane = view.lane + by;
  if (lane >= 0 && lane < (view.lanes?.length ?? 0)) return openHistory(session, view.run, lane, by > 0 ? 0 : -1);
}

export async function goToStep(session: Session, step: number): Promise<void> {
  if (!(await ensureHistory(session))) return;
  const view = history(session);
  if (view) await goTo(session, view.canvas, step);
}

export async function goToEnd(session: Session, end: "first" | "last"): Promise<void> {
  await goToStep(session, end === "first" ? 1 : Infinity);
}

/** Plays the steps from here on, from the beginning if it stands at the end; or stops playing. */
export async function togglePlay(session: Session): Promise<void> {
  if (!(await ensureHistory(session))) return;
  const view = history(session);
  const steps = view?.lanes?.[view.lane]?.[view.canvas]?.steps ?? 0;
  if (!view || view.playing) return change(session, { playing: false });
  change(session, { playing: true });
  if (view.step >= steps) await goTo(session, view.canvas, 1);
  const next = async (): Promise<void> => {
    const now = history(session);
    if (!now?.playing || now.run !== view.run) return;
    const last = now.lanes?.[now.lane]?.[now.canvas]?.steps ?? 0;
    if (now.step >= last) return change(session, { playing: false });
    await goTo(session, now.canvas, now.step + 1);
    setTimeout(() => session.attempt(next()), playDelayMs);
  };
  setTimeout(() => session.attempt(next()), playDelayMs);
}

/** Makes the step that is shown the text of the draft: a revision of its own. */
export async function branchHere(session: Session): Promise<void> {
  if (!(await ensureHistory(session))) return;
  await idleDraft(session);
  const view = history(session);
  if (!view || view.step < 1) return;
  const { run, lane, canvas, step } = view;
  await session.request({ type: "history.branch", run, lane, canvas, step });
  closeHistory(session);
  session.tell(`The text is that of step ${step} now. Undo takes it back.`);
}
