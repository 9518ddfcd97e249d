// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the page shows on top of the text: locks, canvases under way, proposals. Pure; the editor draws it.

import type { Proposal } from "../wire/proposals";
import type { Frame } from "../wire/runs";
import type { AppState, DraftView, LaneView, RunView } from "./app_state";
import { hasEnded } from "./reduce_runs";

/** A canvas that stands in the place of a span of the text. */
export interface CanvasMark {
  kind: "canvas";
  key: string;
  start: number;
  end: number;
  content: CanvasContent;
}

export interface CanvasContent {
  run: string;
  lane: number;
  /** Canvases that came to rest before the one of the frame. */
  settled: string;
  frame: Frame | null;
  /** An earlier step that is looked at, not the newest one. */
  isHistory: boolean;
  canvases: number;
  /** "Canvas" of a single lane, "Passage 3" of several. */
  name: string;
  /** How late each word settled, where that is looked at instead of the entropy. */
  lateness: number[] | null;
}

export interface ChangeMark {
  kind: "change";
  proposal: string;
  change: number;
  start: number;
  end: number;
  text: string;
  current: boolean;
}

export type PageMark =
  | { kind: "lock"; start: number; end: number }
  | { kind: "span"; start: number; end: number }
  | { kind: "tray"; at: number; proposal: Proposal }
  | { kind: "own"; at: number; text: string }
  | CanvasMark
  | ChangeMark;

export function isOpen(proposal: Proposal): boolean {
  return proposal.state === "open";
}

/** Open proposals, in the order of the text. */
export function openProposals(draft: DraftView | null): Proposal[] {
  return (draft?.proposals ?? []).filter(isOpen).sort((a, b) => a.start - b.start);
}

/**
 * Several texts for one place are shown side by side, a single one as changes within the text. A proofreading is always
 * the latter: side by side its few corrections would be lost in two copies of the draft.
 */
export function isTray(proposal: Proposal): boolean {
  return proposal.alternatives.length > 1 && proposal.action !== "proofread";
}

/** Changes that wait for a decision, in the order of the text. */
export function openChanges(
  draft: DraftView | null,
): { proposal: string; change: number; start: number; end: number; text: string }[] {
  return openProposals(draft)
    .filter((proposal) => !isTray(proposal))
    .flatMap((proposal) =>
      proposal.changes.flatMap((change, index) =>
        change.state === "open"
          ? [{ proposal: proposal.id, change: index, start: change.start, end: change.end, text: change.text }]
          : [],
      ),
    )
    .sort((a, b) => a.start - b.start);
}

/** The change that keys are about: the one that was gone to, else the first. */
export function currentChange(draft: DraftView): { proposal: string; change: number } | null {
  const open = openChanges(draft);
  const chosen = draft.currentChange;
  return open.find((one) => one.proposal === chosen?.proposal && one.change === chosen.change) ?? open[0] ?? null;
}

function nameOf(view: RunView | undefined, lane: number, canvas: number): string {
  if (!view || view.lanes.length < 2) return `Canvas ${canvas + 1}`;
  return `${view.run.action === "proofread" ? "Passage" : "Alternative"} ${lane + 1}`;
}

function laneContent(view: RunView, lane: LaneView, index: number): CanvasContent {
  const frame = lane.frame && lane.frame.canvas >= lane.settled.length ? lane.frame : null;
  return {
    name: nameOf(view, index, frame?.canvas ?? Math.max(0, lane.settled.length - 1)),
    lateness: null,
    run: view.run.id,
    lane: index,
    settled: lane.settled.map((canvas) => canvas?.text ?? "").join(""),
    frame,
    isHistory: false,
    canvases: Math.max(lane.settled.length, (frame?.canvas ?? 0) + 1),
  };
}

function canvasesOf(view: RunView): PageMark[] {
  return view.lanes.flatMap((lane, i): PageMark[] => {
    const place = view.run.lanes[i];
    if (!place) return [];
    if (!lane.frame && lane.settled.length === 0) return [{ kind: "span", start: place.start, end: place.end }];
    return [
      {
        kind: "canvas",
        key: `${view.run.id}/${i}`,
        start: place.start,
        end: place.end,
        content: laneContent(view, lane, i),
      },
    ];
  });
}

/** The last frame of a lane that has ended, with what tells where the model hesitated. */
function latenessOf(view: RunView): PageMark[] {
  return view.lanes.flatMap((lane, i): PageMark[] => {
    const place = view.run.lanes[i];
    const { frame } = lane;
    if (!place || !frame) return [];
    const earlier = lane.settled.slice(0, frame.canvas).map((canvas) => canvas?.text ?? "");
    const content = { ...laneContent(view, lane, i), settled: earlier.join(""), frame, lateness: lane.unsettledUntil };
    return [
      {
        kind: "canvas",
        key: `late/${view.run.id}/${i}`,
        start: place.start,
        end: place.end,
        content: { ...content, isHistory: true },
      },
    ];
  });
}

/**
 * Where the step of the history that is looked at can be shown in the text: while its run is under way or undecided.
 */
export function historyPlace(draft: DraftView): { start: number; end: number } | null {
  const { history } = draft;
  const view = history && draft.runs.find((one) => one.run.id === history.run);
  const place = history && view?.run.lanes[history.lane];
  if (!view || !place) return null;
  const undecided = draft.proposals.some((proposal) => proposal.run === view.run.id && isOpen(proposal));
  return undecided || !hasEnded(view.run) ? { start: place.start, end: place.end } : null;
}

function historyMark(draft: DraftView): CanvasMark | null {
  const { history } = draft;
  const place = historyPlace(draft);
  if (!history?.frame || !place) return null;
  const lane = draft.runs.find((one) => one.run.id === history.run)?.lanes[history.lane];
  const settled = (lane?.settled ?? []).slice(0, history.canvas).map((canvas) => canvas?.text ?? "");
  return {
    kind: "canvas",
    key: `history/${history.run}/${history.lane}`,
    ...place,
    content: {
      name: nameOf(
        draft.runs.find((one) => one.run.id === history.run),
        history.lane,
        history.canvas,
      ),
      lateness: null,
      run: history.run,
      lane: history.lane,
      settled: settled.join(""),
      frame: history.frame,
      isHistory: true,
      canvases: history.lanes?.[history.lane]?.length ?? 1,
    },
  };
}

function changesOf(proposal: Proposal, current: { proposal: string; change: number } | null): ChangeMark[] {
  return proposal.changes.flatMap((change, index) =>
    change.state === "open"
      ? [
          {
            kind: "change",
            proposal: proposal.id,
            change: index,
            start: change.start,
            end: change.end,
            text: change.text,
            current: current?.proposal === proposal.id && current.change === index,
          } satisfies ChangeMark,
        ]
      : [],
  );
}

function isUndecided(draft: DraftView, view: RunView): boolean {
  return draft.proposals.some((proposal) => proposal.run === view.run.id && isOpen(proposal) && !isTray(proposal));
}

function overlaps(mark: { start: number; end: number }, others: readonly CanvasMark[]): boolean {
  return others.some((other) => mark.start < other.end && other.start < mark.end);
}

/** Canvases that lie over each other would hide text: the first one stands. */
function apartFromEachOther(marks: readonly PageMark[]): PageMark[] {
  const canvases: CanvasMark[] = [];
  return marks.filter((mark) => {
    if (mark.kind !== "canvas") return true;
    if (overlaps(mark, canvases)) return false;
    canvases.push(mark);
    return true;
  });
}

export function pageMarks(state: AppState): PageMark[] {
  const { draft } = state;
  if (!draft) return [];
  const locks: PageMark[] = draft.locks.map((lock) => ({ kind: "lock", start: lock.start, end: lock.end }));
  if (state.ui.originalHeld) return locks;

  const history = historyMark(draft);
  const live = draft.runs.filter((view) => !hasEnded(view.run)).flatMap(canvasesOf);
  const looked =
    state.ui.entropyHeld && live.length === 0 && !history
      ? draft.runs.filter((view) => isUndecided(draft, view)).flatMap(latenessOf)
      : [];
  const canvases = apartFromEachOther([...(history ? [history] : []), ...live, ...looked]);
  const taken = canvases.filter((mark): mark is CanvasMark => mark.kind === "canvas");
  const current = currentChange(draft);
  const proposals = openProposals(draft).flatMap((proposal): PageMark[] => {
    if (!isTray(proposal)) return changesOf(proposal, current).filter((change) => !overlaps(change, taken));
    return [
      { kind: "span", start: proposal.start, end: proposal.end },
      { kind: "tray", at: proposal.end, proposal },
    ];
  });
  const own: PageMark[] = draft.ownProposal
    ? [{ kind: "own", at: draft.ownProposal.at, text: draft.ownProposal.text }]
    : [];
  return [...locks, ...canvases, ...proposals, ...own];
}
