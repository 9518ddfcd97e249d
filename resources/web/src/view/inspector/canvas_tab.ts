// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The canvas that is under way, or a step of it: map, entropy, accepted words, timeline, and the sampler.

import type { Session } from "../../client/session";
import { holdWord, openCard } from "../../client/words";
import type { AppState, DraftView, LaneView } from "../../state/app_state";
import { dash, decimal, plural, stopInWords } from "../../state/format";
import { hasEnded, inspectedLane } from "../../state/reduce_runs";
import type { Frame } from "../../wire/runs";
import { h, setAttribute, setText } from "../dom";
import { CellMap } from "./cell_map";
import { AcceptedBars, EntropyCurve } from "./curves";
import { SamplerView } from "./sampler";
import { Timeline, type TimelinePosition } from "./timeline";

interface Shown {
  frame: Frame | null;
  meanEntropy: readonly (number | null)[];
  accepted: readonly (number | null)[];
  maxSteps: number;
  stop: string;
  at: TimelinePosition | null;
}

const nothing: Shown = { frame: null, meanEntropy: [], accepted: [], maxSteps: 0, stop: "", at: null };

function ofHistory(draft: DraftView): Shown | null {
  const { history } = draft;
  const canvas = history?.lanes?.[history.lane]?.[history.canvas];
  if (!history || !canvas) return null;
  return {
    frame: history.frame,
    meanEntropy: canvas.meanEntropy,
    accepted: canvas.accepted,
    maxSteps: canvas.maxSteps || canvas.steps,
    stop: canvas.stop ? stopInWords(canvas.stop, canvas.steps, canvas.maxSteps) : "",
    at: {
      step: history.step,
      steps: canvas.steps,
      scale: canvas.steps,
      isHistory: true,
      playing: history.playing,
      canBranch: history.frame !== null,
    },
  };
}

function ofLane(lane: LaneView, ended: boolean): Shown {
  const { frame } = lane;
  const last = lane.settled.at(-1);
  return {
    frame,
    meanEntropy: lane.meanEntropy,
    accepted: lane.accepted,
    maxSteps: frame?.maxSteps ?? 0,
    stop: ended && last ? stopInWords(last.stop, last.steps, frame?.maxSteps ?? null) : "",
    at: frame
      ? {
          step: frame.step,
          steps: frame.step,
          scale: ended ? frame.step : frame.maxSteps,
          isHistory: false,
          playing: false,
          canBranch: true,
        }
      : null,
  };
}

export function shownCanvas(state: AppState): Shown {
  const { draft } = state;
  if (!draft) return nothing;
  const inspected = inspectedLane(draft);
  return ofHistory(draft) ?? (inspected ? ofLane(inspected.lane, hasEnded(inspected.view.run)) : nothing);
}

export class CanvasTab {
  readonly element: HTMLElement;
  readonly #session: Session;
  readonly #map = new CellMap(16, true);
  readonly #curve = new EntropyCurve();
  readonly #bars = new AcceptedBars();
  readonly #timeline: Timeline;
  readonly #sampler: SamplerView;
  readonly #lanes: HTMLSelectElement;
  readonly #lanesRow: HTMLElement;
  readonly #tokens = h("span", { class: "heading__name" });
  readonly #standing = h("span", {});
  readonly #mean = h("span", {});
  readonly #gained = h("span", {});
  readonly #step = h("span", {});
  readonly #stop = h("p", { class: "inspector__note" });
  readonly #ahead = h("p", { class: "inspector__note" });

  constructor(session: Session) {
    this.#session = session;
    this.#timeline = new Timeline(session);
    this.#sampler = new SamplerView(session);
    this.#lanes = h("select", { class: "field", "aria-label": "Passage that is shown" });
    this.#lanes.addEventListener("change", () => this.#chooseLane(Number(this.#lanes.value)));
    this.#lanesRow = h("div", { class: "pair pair--field" }, "Shown", this.#lanes);
    this.#map.onOpen = (position, locks) => this.#open(position, locks);
    this.element = h(
      "div",
      { class: "inspector__panel" },
      this.#lanesRow,
      h(
        "section",
        { "aria-label": "Map of the canvas" },
        h("h2", { class: "heading" }, this.#tokens, this.#standing),
        this.#map.element,
      ),
      h(
        "section",
        { "aria-label": "Mean entropy" },
        h("h2", { class: "heading" }, "Mean entropy ", this.#mean),
        this.#curve.element,
      ),
      h(
        "section",
        { "aria-label": "Accepted each step" },
        h("h2", { class: "heading" }, "Accepted each step ", this.#gained),
        this.#bars.element,
      ),
      h(
        "section",
        { "aria-label": "Timeline" },
        h("h2", { class: "heading" }, "Timeline ", this.#step),
        this.#timeline.element,
        this.#stop,
        this.#ahead,
      ),
      this.#sampler.element,
    );
  }

  render(state: AppState): void {
    const shown = shownCanvas(state);
    const { frame } = shown;
    const cells = frame?.text.length ?? state.status?.model?.canvasLength ?? 256;
    this.#map.render(frame, cells);
    setText(this.#tokens, `${cells} tokens`);
    setText(this.#standing, frame ? `${frame.settled} settled${frame.held > 0 ? ` · ${frame.held} locked` : ""}` : "");
    const step = shown.at?.step ?? 0;
    setText(this.#mean, `${decimal(frame?.meanEntropy ?? shown.meanEntropy[step - 1], 2)} nats`);
    if (!frame && shown.meanEntropy.length === 0) setText(this.#mean, dash);
    this.#curve.render(shown.meanEntropy, shown.maxSteps, step);
    this.#bars.render(shown.accepted.slice(0, Math.max(step, shown.accepted.length)), shown.maxSteps);
    setText(this.#gained, frame ? `+${Math.max(0, frame.accepted - frame.settled)}` : dash);
    Timeline.inWords(shown.at, this.#step);
    this.#timeline.render(shown.at);
    const sentence = shown.stop && `${shown.stop[0]?.toUpperCase()}${shown.stop.slice(1)}`;
    setText(this.#stop, state.draft?.history?.problem || sentence);
    this.#renderAhead(state.draft);
    this.#renderLanes(state.draft);
    this.#sampler.render(state);
  }

  #renderAhead(draft: DraftView | null): void {
    const run = draft ? inspectedLane(draft)?.view.run : undefined;
    const total = run?.aheadTotal ?? null;
    const sees = run?.aheadCharacters ?? null;
    this.#ahead.hidden = total === null || sees === null || total === 0;
    if (total === null || sees === null) return;
    setText(
      this.#ahead,
      sees >= total
        ? "The model sees all of the text behind this span."
        : `The model sees ${plural(sees, "character", "characters")} of ${plural(total, "character", "characters")} behind this span.`,
    );
  }

  #renderLanes(draft: DraftView | null): void {
    const inspected = draft ? inspectedLane(draft) : null;
    const lanes = inspected?.view.lanes.length ?? 0;
    this.#lanesRow.hidden = lanes < 2;
    if (!inspected || lanes < 2) return;
    const name = inspected.view.run.action === "proofread" ? "Passage" : "Alternative";
    if (this.#lanes.options.length !== lanes || !this.#lanes.options[0]?.text.startsWith(name)) {
      this.#lanes.replaceChildren(
        ...inspected.view.lanes.map((_, i) => h("option", { value: i }, `${name} ${i + 1} of ${lanes}`)),
      );
    }
    setAttribute(this.#lanes, "data-run", inspected.view.run.id);
    const index = draft?.history?.lane ?? inspected.index;
    if (document.activeElement !== this.#lanes) this.#lanes.value = String(index);
  }

  #chooseLane(lane: number): void {
    const { draft } = this.#session.store.state;
    const run = this.#lanes.dataset["run"];
    if (!draft || run === undefined) return;
    this.#session.store.dispatch({
      type: "draft",
      document: draft.id,
      changes: { inspected: { run, lane }, history: null },
    });
  }

  #open(position: number, locks: boolean): void {
    const { state } = this.#session.store;
    const { frame, at } = shownCanvas(state);
    if (!frame) return;
    const view = state.draft?.runs.find((one) => one.run.id === frame.run);
    const isHistory = (at?.isHistory ?? false) || view === undefined || hasEnded(view.run);
    this.#session.attempt(
      locks && !isHistory
        ? holdWord(this.#session, frame, position)
        : openCard(this.#session, frame, position, isHistory, true),
    );
  }
}
