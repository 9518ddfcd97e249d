// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The revisions of the draft, the steps of the runs that made them, and the figures of the last one.

import { exportDiff } from "../../client/files";
import { loadRevisions, restoreRevision } from "../../client/draft";
import { goToStep, openHistory } from "../../client/history";
import type { Session } from "../../client/session";
import type { AppState, DraftView } from "../../state/app_state";
import { decimal, entropyLevel, figure, plural, seconds } from "../../state/format";
import { historyPlace } from "../../state/page_marks";
import { hasEnded } from "../../state/reduce_runs";
import { revisionDetails, revisionTitle } from "../../state/revision_words";
import type { Revision } from "../../wire/drafts";
import { type CanvasHistory, type Frame, parseHistory } from "../../wire/runs";
import { button, h, keyed, setAttribute, setText } from "../dom";
import { shownCanvas } from "./canvas_tab";
import { Timeline } from "./timeline";

/** Runs whose strips are fetched without being asked for. */
const stripsAtOnce = 6;
/** A strip with more cells than this would not fit. */
const mostStripCells = 26;

export class HistoryTab {
  readonly element: HTMLElement;
  readonly #session: Session;
  readonly #revisions = h("ol", { class: "revisions" });
  readonly #count = h("span", {});
  readonly #empty = h(
    "p",
    { class: "inspector__note" },
    "Revisions appear here as you write and as the model proposes.",
  );
  readonly #heading = h("span", { class: "heading__name" });
  readonly #timeline: Timeline;
  readonly #steps = h("ol", { class: "steps" });
  readonly #preview = h("p", { class: "step-preview", hidden: true });
  readonly #figures = h("div", {});
  readonly #histories = new Map<string, CanvasHistory[][] | null>();
  #selected: number | null = null;
  #asked: string | null = null;
  #stepsShown = "";
  #figuresShown: unknown = undefined;

  constructor(session: Session) {
    this.#session = session;
    this.#timeline = new Timeline(session, "Use this step");
    const list = h("details", { class: "steps-list" }, h("summary", {}, "Steps as a list"), this.#steps);
    this.element = h(
      "div",
      { class: "inspector__panel" },
      h(
        "section",
        { class: "revisions-part", "aria-label": "Revisions" },
        h("h2", { class: "heading" }, "This draft ", this.#count),
        this.#empty,
        this.#revisions,
      ),
      h(
        "section",
        { "aria-label": "Steps" },
        h("h2", { class: "heading" }, this.#heading),
        this.#timeline.element,
        this.#preview,
        list,
      ),
      h("section", { "aria-label": "Figures" }, h("h2", { class: "heading" }, "Figures"), this.#figures),
    );
  }

  render(state: AppState): void {
    const { draft } = state;
    if (draft && draft.revisions === null && this.#asked !== draft.id && state.connection.phase === "open") {
      this.#asked = draft.id;
      this.#histories.clear();
      this.#session.attempt(loadRevisions(this.#session).finally(() => (this.#asked = null)));
    }
    this.#renderRevisions(draft);
    this.#renderSteps(state);
    this.#renderFigures(draft);
  }

  #renderRevisions(draft: DraftView | null): void {
    const revisions = [...(draft?.revisions ?? [])].sort((a, b) => b.revision - a.revision);
    setText(this.#count, plural(revisions.length, "revision", "revisions"));
    this.#empty.hidden = revisions.length > 0;
    const now = Date.now();
    revisions
      .filter((one) => one.run)
      .slice(0, stripsAtOnce)
      .forEach((one) => this.#fetchStrip(one.run));
    keyed(
      this.#revisions,
      revisions,
      (revision) => `${draft?.id} ${revision.revision}`,
      (revision) => this.#row(revision),
      (row, revision) => this.#update(row, revision, revision.revision === draft?.revision, now),
    );
  }

  #row(revision: Revision): HTMLElement {
    const { revision: number, run } = revision;
    return h(
      "li",
      { class: `revision revision--${revision.kind}` },
      h(
        "button",
        { type: "button", class: "revision__open", "aria-expanded": "false", onclick: () => this.#select(number, run) },
        h("b", {}, revisionTitle(revision)),
        h("span", { class: "revision__details" }),
      ),
      h("div", { class: "strip", "aria-hidden": "true" }),
      h(
        "div",
        { class: "revision__actions", hidden: true },
        button("Restore", {
          class: "text-button",
          onclick: () => this.#session.attempt(restoreRevision(this.#session, number)),
        }),
        button("Diff to now", {
          class: "text-button",
          onclick: () => this.#session.attempt(exportDiff(this.#session, number)),
        }),
      ),
    );
  }

  #update(row: HTMLElement, revision: Revision, isCurrent: boolean, now: number): void {
    const part = (name: string): HTMLElement | null => row.querySelector<HTMLElement>(name);
    const [open, details, actions, strip] = [
      part(".revision__open"),
      part(".revision__details"),
      part(".revision__actions"),
      part(".strip"),
    ];
    if (!open || !details || !actions || !strip) return;
    const isSelected = this.#selected === revision.revision;
    row.classList.toggle("revision--current", isCurrent);
    setText(details, revisionDetails(revision, now));
    setAttribute(open, "aria-expanded", String(isSelected));
    actions.hidden = !isSelected;
    const lanes = this.#histories.get(revision.run);
    const curve = lanes?.[0]?.flatMap((canvas) => canvas.meanEntropy) ?? [];
    if (strip.childElementCount > 0 || curve.length === 0) return;
    const every = Math.max(1, Math.ceil(curve.length / mostStripCells));
    const cells = curve.filter((_, i) => i % every === 0 || i === curve.length - 1);
    strip.replaceChildren(
      ...cells.map((nats) => h("i", { class: `strip__cell strip__cell--level-${entropyLevel(nats * 100)}` })),
    );
  }

  #select(revision: number, run: string): void {
    this.#selected = this.#selected === revision ? null : revision;
    if (run && this.#selected !== null) this.#session.attempt(openHistory(this.#session, run));
    this.render(this.#session.store.state);
  }

  #fetchStrip(run: string): void {
    if (this.#histories.has(run)) return;
    this.#histories.set(run, null); // asked once; a run that is not recorded has no strip
    this.#session.request({ type: "history", run }).then(
      (reply) => {
        this.#histories.set(run, parseHistory(reply));
        this.render(this.#session.store.state);
      },
      () => undefined,
    );
  }

  #renderSteps(state: AppState): void {
    const shown = shownCanvas(state);
    const { at, frame } = shown;
    this.#timeline.render(at);
    const lane = state.draft?.history?.lane ?? 0;
    setText(
      this.#heading,
      at && at.steps > 0
        ? `Step ${at.step} of ${at.steps}, canvas ${(frame?.canvas ?? 0) + 1}${lane > 0 ? `, passage ${lane + 1}` : ""}`
        : "Steps",
    );
    this.#renderPreview(state.draft, frame);
    const key = `${frame?.run} ${frame?.canvas} ${at?.isHistory} ${shown.meanEntropy.length}`;
    if (key === this.#stepsShown) return;
    this.#stepsShown = key;
    this.#steps.replaceChildren(
      ...shown.meanEntropy.map((nats, i) =>
        h(
          "li",
          {},
          button(`Step ${i + 1}: ${decimal(nats, 2)} nats, ${shown.accepted[i] ?? "–"} accepted`, {
            class: "text-button",
            onclick: () => this.#session.attempt(goToStep(this.#session, i + 1)),
          }),
        ),
      ),
    );
  }

  /** A step whose place in the text is gone is shown here instead of on the page. */
  #renderPreview(draft: DraftView | null, frame: Frame | null): void {
    const elsewhere = draft?.history?.frame != null && historyPlace(draft) === null;
    this.#preview.hidden = !elsewhere;
    if (elsewhere && frame) setText(this.#preview, frame.text.slice(frame.show[0], frame.show[1]).join(""));
  }

  #renderFigures(draft: DraftView | null): void {
    const run = draft?.runs.findLast((view) => hasEnded(view.run))?.run;
    const figures = run?.figures ?? null;
    if (figures === this.#figuresShown) return;
    this.#figuresShown = figures;
    const perCanvas = figures?.steps != null && figures.canvases ? figures.steps / figures.canvases : null;
    const pairs: [string, string][] = [
      ["Words a second", figure(figures?.wordsPerSecond ?? null)],
      ["Steps a canvas", decimal(perCanvas, 1)],
      ["ms a step", figure(figures?.stepMs ?? null)],
      ["First draft", seconds(figures?.firstDraftMs ?? null)],
      ["All of it", seconds(figures?.totalMs ?? null)],
    ];
    this.#figures.replaceChildren(
      ...pairs.map(([name, value]) => h("div", { class: "pair" }, name, h("b", {}, value))),
    );
  }
}
