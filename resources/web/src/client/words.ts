// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A single word of a canvas: what else may stand there, taking that, and locking it.

import type { WordCard } from "../state/app_state";
import { hasEnded } from "../state/reduce_runs";
import { type Alternative, type Frame, parseAlternatives } from "../wire/runs";
import { idleDraft } from "./draft";
import type { Session } from "./session";

/** The word around a canvas position, in the frame's text. */
export function wordAt(frame: Frame, position: number): string {
  return (frame.text[position] ?? "").trim() || "␣";
}

function isLive(session: Session, run: string): boolean {
  const view = session.store.state.draft?.runs.find((one) => one.run.id === run);
  return view !== undefined && !hasEnded(view.run);
}

/** Shows what else may stand at a position. */
export async function openCard(
  session: Session,
  frame: Frame,
  position: number,
  isHistory: boolean,
  fromMap = false,
): Promise<void> {
  const { run, lane, canvas } = frame;
  const step = isHistory ? frame.step : null;
  const card: WordCard = {
    run,
    lane,
    canvas,
    position,
    step,
    word: wordAt(frame, position),
    fromMap,
    held: frame.marks[position] === "#",
    entropyNats: (frame.entropy[position] ?? 0) / 100,
    alternatives: null,
    problem: "",
  };
  session.store.dispatch({ type: "ui", changes: { card } });
  try {
    const reply = parseAlternatives(
      await session.request({
        type: "run.alternatives",
        run,
        lane,
        canvas,
        position,
        ...(step === null ? {} : { step }),
      }),
    );
    updateCard(session, card, { alternatives: reply.alternatives, entropyNats: reply.entropyNats ?? card.entropyNats });
  } catch (error) {
    updateCard(session, card, { problem: error instanceof Error ? error.message : "Nothing is known of this word." });
  }
}

function updateCard(session: Session, card: WordCard, changes: Partial<WordCard>): void {
  const shown = session.store.state.ui.card;
  if (shown?.run !== card.run || shown.position !== card.position || shown.canvas !== card.canvas) return;
  session.store.dispatch({ type: "ui", changes: { card: { ...shown, ...changes } } });
}

export function closeCard(session: Session): void {
  session.store.dispatch({ type: "ui", changes: { card: null } });
}

/** Locks the whole word around a position of a running canvas, or releases it. */
export async function holdWord(session: Session, frame: Frame, position: number): Promise<void> {
  if (!isLive(session, frame.run)) return session.tell("Words of a canvas can be locked while it runs.");
  const held = frame.marks[position] !== "#";
  const { run, lane, canvas } = frame;
  await session.request({ type: "run.hold", run, lane, canvas, position, held });
}

/** Puts one of the alternatives in the place of the word. */
export async function takeAlternative(session: Session, card: WordCard, alternative: Alternative): Promise<void> {
  closeCard(session);
  const { run, lane, canvas, position } = card;
  if (isLive(session, run) && card.step === null) {
    await session.request({ type: "run.freeze", run, lane, canvas, changes: [{ position, id: alternative.id }] });
    return;
  }
  await takeAfterwards(session, card, alternative);
}

/** The run is over: the word is exchanged in what it proposes. */
async function takeAfterwards(session: Session, card: WordCard, alternative: Alternative): Promise<void> {
  const draft = await idleDraft(session);
  const lane = draft?.runs.find((one) => one.run.id === card.run)?.lanes[card.lane];
  const frame = draft?.history?.frame?.run === card.run ? draft.history.frame : lane?.frame;
  const proposal = draft?.proposals.find((one) => one.run === card.run && one.state === "open");
  const chosen = proposal?.alternatives[proposal.chosen]?.text;
  if (!frame || !proposal || chosen === undefined) {
    return session.tell("What this run proposed is decided already. Re-noise the words to have others.");
  }
  const shown = (text: readonly string[]): string => text.slice(frame.show[0], frame.show[1]).join("");
  const before = shown(frame.text).trim();
  const after = shown(frame.text.map((text, i) => (i === card.position ? alternative.text : text))).trim();
  const at = chosen.indexOf(before);
  if (before === "" || at < 0 || chosen.indexOf(before, at + 1) >= 0) {
    return session.tell("This step is not what is proposed. Use “Branch here” to take the step itself.");
  }
  const text = chosen.slice(0, at) + after + chosen.slice(at + before.length);
  await session.request({ type: "proposal.edit", proposal: proposal.id, text });
}
