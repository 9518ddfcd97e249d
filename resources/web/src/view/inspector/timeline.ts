// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Going through the steps of a canvas: a slider, buttons, and "Branch here".

import { branchHere, closeHistory, goToEnd, goToStep, stepBy, togglePlay } from "../../client/history";
import type { Session } from "../../client/session";
import { button, h, icon, iconButton, setAttribute, setText } from "../dom";

export interface TimelinePosition {
  step: number;
  steps: number;
  /** What the slider's whole length stands for: the cap while it runs, the last step afterwards. */
  scale: number;
  /** An earlier step is looked at. */
  isHistory: boolean;
  playing: boolean;
  canBranch: boolean;
}

export class Timeline {
  readonly element: HTMLElement;
  readonly #slider: HTMLInputElement;
  readonly #play: HTMLButtonElement;
  readonly #branch: HTMLButtonElement;
  readonly #leave: HTMLButtonElement;
  readonly #buttons: HTMLButtonElement[];
  #playShown = "";

  constructor(session: Session, branchLabel = "Branch here") {
    const step = (name: "first" | "back" | "last", label: string, run: () => Promise<void>): HTMLButtonElement =>
      iconButton(name, label, { class: "icon-button icon-button--framed", onclick: () => session.attempt(run()) });
    this.#slider = h("input", { type: "range", class: "slider", min: 1, max: 1, value: 1, "aria-label": "Step" });
    this.#slider.addEventListener("input", () => session.attempt(goToStep(session, Number(this.#slider.value))));
    this.#play = button(icon("play"), {
      class: "icon-button icon-button--framed",
      onclick: () => session.attempt(togglePlay(session)),
    });
    this.#branch = button(branchLabel, {
      class: "button button--ghost button--small",
      title: "Makes this step the text of the draft",
      onclick: () => session.attempt(branchHere(session)),
    });
    this.#leave = button("Newest", {
      class: "text-button",
      title: "Leave the history",
      onclick: () => closeHistory(session),
    });
    this.#buttons = [
      step("first", "First step", () => goToEnd(session, "first")),
      step("back", "One step back", () => stepBy(session, -1)),
      this.#play,
      step("last", "Last step", () => goToEnd(session, "last")),
    ];
    this.element = h(
      "div",
      { class: "timeline" },
      this.#slider,
      h(
        "div",
        { class: "timeline__buttons" },
        ...this.#buttons,
        this.#leave,
        h("span", { class: "timeline__space" }),
        this.#branch,
      ),
    );
  }

  render(at: TimelinePosition | null): void {
    const steps = at?.steps ?? 0;
    const off = at === null || steps < 1;
    for (const one of [...this.#buttons, this.#slider]) one.disabled = off;
    this.#branch.disabled = !at?.canBranch;
    this.#leave.hidden = !at?.isHistory;
    const step = Math.max(1, Math.min(at?.step ?? 1, Math.max(1, steps)));
    const scale = Math.max(1, at?.scale ?? 1);
    setAttribute(this.#slider, "max", String(scale));
    if (this.#slider.value !== String(step)) this.#slider.value = String(step);
    setAttribute(this.#slider, "aria-valuetext", off ? "No steps yet" : `Step ${step} of ${steps}`);
    this.#slider.style.setProperty("--share", String(scale > 1 ? (step - 1) / (scale - 1) : 0));
    const label = at?.playing ? "Stop playing" : "Play the steps";
    if (label === this.#playShown) return;
    this.#playShown = label;
    this.#play.replaceChildren(icon(at?.playing ? "pause" : "play"));
    this.#play.title = label;
    this.#play.setAttribute("aria-label", label);
  }

  /** For a heading: "step 17". */
  static inWords(at: TimelinePosition | null, heading: Node): void {
    setText(heading, at && at.steps > 0 ? `step ${at.step}` : "");
  }
}
