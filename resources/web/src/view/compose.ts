// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The presets, the box that says what to do, and how far the run is.

import { acceptAll, currentTray, rejectAll } from "../client/proposals";
import { choosePreset, pauseOrResume, runAgain, runBox, stepRun, stopRun } from "../client/runs";
import type { Session } from "../client/session";
import type { AppState, RunView } from "../state/app_state";
import { openProposals } from "../state/page_marks";
import { hintOf, presetOf } from "../state/presets";
import { inspectedLane, liveRun } from "../state/reduce_runs";
import type { Proposal } from "../wire/proposals";
import { type Mode, footInWords } from "./compose_words";
import { button, h, keyed, setAttribute, setText } from "./dom";
import { CellMap } from "./inspector/cell_map";

function modeOf(state: AppState, tray: Proposal | null): Mode {
  const live = liveRun(state.draft);
  if (live) return live.run.state === "paused" ? "paused" : "running";
  if (tray) return "tray";
  return openProposals(state.draft).length > 0 || state.draft?.ownProposal ? "changes" : "idle";
}

/** How much of a run is behind it, 0 to 1. */
function progressOf(view: RunView): number {
  const shares = view.lanes.map((lane, i) => {
    const state = view.run.lanes[i]?.state;
    if (state === "done" || state === "stopped" || state === "failed") return 1;
    return lane.frame ? lane.frame.step / Math.max(1, lane.frame.maxSteps) : 0;
  });
  return shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
}

export class Compose {
  readonly element: HTMLElement;
  readonly instruction: HTMLTextAreaElement;
  readonly #session: Session;
  readonly #focusPage: () => void;
  readonly #presets = h("div", { class: "presets", role: "group", "aria-label": "What to do" });
  readonly #buttons = h("div", { class: "box__buttons" });
  readonly #bar = h("i", { class: "progress__bar" });
  readonly #progress: HTMLElement;
  readonly #left = h("span", {});
  readonly #right = h("span", { class: "compose__hint" });
  readonly #mini = new CellMap(32, false);
  #mode = "";

  constructor(session: Session, focusPage: () => void) {
    this.#session = session;
    this.#focusPage = focusPage;
    this.instruction = h("textarea", {
      id: "instruction",
      class: "box__field",
      rows: 1,
      "aria-label": "What to do with the words",
      spellcheck: "true",
    });
    this.instruction.addEventListener("input", () =>
      session.store.dispatch({ type: "ui", changes: { instruction: this.instruction.value } }),
    );
    this.instruction.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      if (liveRun(session.store.state.draft) === null) session.attempt(runBox(session));
    });
    this.#progress = h(
      "div",
      {
        class: "progress",
        role: "progressbar",
        "aria-label": "Progress of the run",
        "aria-valuemin": 0,
        "aria-valuemax": 100,
        hidden: true,
      },
      this.#bar,
    );
    this.element = h(
      "section",
      { class: "compose", "aria-label": "What to do" },
      h("div", { class: "compose__map" }, this.#mini.element),
      this.#presets,
      h("div", { class: "box" }, this.instruction, this.#buttons),
      this.#progress,
      h("div", { class: "compose__foot" }, this.#left, this.#right),
    );
  }

  render(state: AppState): void {
    const { draft, ui } = state;
    const preset = presetOf(state.presets, ui.preset);
    this.#renderPresets(state);
    if (this.instruction.value !== ui.instruction) this.instruction.value = ui.instruction;
    this.instruction.placeholder = hintOf(preset);
    this.instruction.disabled = draft === null;

    const tray = currentTray(this.#session);
    const mode = modeOf(state, tray);
    const live = liveRun(draft);
    const key = `${mode} ${tray?.id} ${tray?.chosen} ${live?.run.id} ${draft === null || state.connection.phase !== "open"}`;
    if (key !== this.#mode) {
      this.#mode = key;
      const hadFocus = this.#buttons.contains(document.activeElement);
      this.#buttons.replaceChildren(
        ...this.#buttonsFor(mode, tray, draft === null || state.connection.phase !== "open"),
      );
      if (hadFocus) this.#keepFocus(live !== null);
    }
    this.#progress.hidden = live === null;
    if (live) {
      const share = progressOf(live);
      this.#bar.style.setProperty("--share", share.toFixed(3));
      setAttribute(this.#progress, "aria-valuenow", String(Math.round(share * 100)));
    }
    const [left, right] = draft ? footInWords(state, draft, mode, live) : ["", ""];
    setText(this.#left, left);
    setText(this.#right, right);
    const inspected = draft && live ? inspectedLane(draft) : null;
    setAttribute(this.element, "data-running", live !== null && inspected?.lane.frame != null ? "true" : null);
    if (inspected?.lane.frame) this.#mini.render(inspected.lane.frame);
  }

  /** Focus is never lost with the button that had it. A phone's keyboard stays away: nobody asked for it. */
  #keepFocus(isRunning: boolean): void {
    if (isRunning) this.#buttons.querySelector<HTMLElement>("button:last-child")?.focus();
    else if (!matchMedia("(pointer: coarse)").matches) this.#focusPage();
  }

  #renderPresets(state: AppState): void {
    keyed(
      this.#presets,
      state.presets,
      (preset) => preset.id,
      (preset) => button(preset.label, { class: "preset", onclick: () => this.#choose(preset.id) }),
      (element, preset) => {
        setText(element, preset.label);
        setAttribute(element, "aria-pressed", String(preset.id === state.ui.preset));
      },
    );
  }

  #choose(id: string): void {
    choosePreset(this.#session, id);
    if (id === "custom") this.instruction.focus();
  }

  #buttonsFor(mode: Mode, tray: Proposal | null, isOff: boolean): HTMLElement[] {
    const session = this.#session;
    const ghost = (label: string, run: () => void): HTMLButtonElement =>
      button(label, { class: "button button--ghost", onclick: run });
    const main = (label: string, run: () => void): HTMLButtonElement =>
      button(label, { class: "button", onclick: run, disabled: isOff });
    switch (mode) {
      case "running":
      case "paused":
        return [
          ghost(mode === "paused" ? "Resume" : "Pause", () => pauseOrResume(session)),
          ghost("Step", () => stepRun(session)),
          ghost("Keep", () => stopRun(session, true)),
          main("Stop", () => stopRun(session, false)),
        ].map((one) => {
          if (one.textContent === "Keep") one.title = "Stop, and propose what has settled";
          return one;
        });
      case "tray":
        return tray
          ? [
              ghost("3 more", () => session.attempt(this.#more())),
              ghost("Keep mine", () =>
                session.attempt(session.request({ type: "proposal.reject", proposal: tray.id })),
              ),
              main(`Take ${tray.chosen + 1}`, () =>
                session.attempt(session.request({ type: "proposal.accept", proposal: tray.id })),
              ),
            ]
          : [];
      case "changes":
        return [
          ghost("Reject all", () => session.attempt(rejectAll(session))),
          main("Accept all", () => session.attempt(acceptAll(session))),
        ];
      case "idle":
        return [main("Run", () => session.attempt(runBox(session)))];
    }
  }

  #more(): Promise<void> {
    return runAgain(this.#session, false);
  }
}
