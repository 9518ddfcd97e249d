// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What may be done with the words that are selected. Floats under them.

import { isLocked, toggleLock } from "../../client/draft";
import { startRun } from "../../client/runs";
import type { Session } from "../../client/session";
import type { Command } from "../../client/commands";
import type { AppState } from "../../state/app_state";
import { openProposals } from "../../state/page_marks";
import { liveRun } from "../../state/reduce_runs";
import type { Amount } from "../../wire/actions";
import { button, h, setAttribute, setText } from "../dom";

const amounts: readonly { amount: Amount; label: string; help: string }[] = [
  { amount: "light", label: "Lightly", help: "Draws a few of the words anew" },
  { amount: "medium", label: "By half", help: "Draws about half of the words anew" },
  { amount: "full", label: "Fully", help: "Draws all of the words anew" },
];

export class SelectionBar {
  readonly element: HTMLElement;
  readonly #lock: HTMLButtonElement;
  readonly #renoise: HTMLButtonElement;
  readonly #amounts: HTMLElement;

  constructor(session: Session, commands: readonly Command[]) {
    const run = (id: string) => () => commands.find((one) => one.id === id)?.run(session);
    const item = (label: string, attributes: Record<string, unknown>): HTMLButtonElement =>
      button(label, { class: "selection-bar__item", ...attributes });
    this.#lock = item("Lock", { onclick: () => session.attempt(toggleLock(session)) });
    this.#renoise = item("Re-noise", {
      "aria-expanded": "false",
      onclick: () => this.#showAmounts(this.#amounts.hidden),
    });
    this.#amounts = h(
      "div",
      { class: "selection-bar__amounts", role: "group", "aria-label": "How much to re-noise", hidden: true },
      ...amounts.map(({ amount, label, help }) =>
        item(label, {
          title: help,
          onclick: () => {
            this.#showAmounts(false);
            session.attempt(startRun(session, { action: "renoise", amount }));
          },
        }),
      ),
    );
    this.element = h(
      "div",
      { class: "selection-bar", role: "toolbar", "aria-label": "Selection", hidden: true },
      item("Rewrite…", { onclick: run("rewrite") }),
      this.#renoise,
      this.#amounts,
      this.#lock,
      item("Insert", { title: "Write something between, behind the selection", onclick: run("fill") }),
      item("3 alternatives", { onclick: run("alternatives") }),
    );
    // A press on the bar must not take the selection away that it is about.
    this.element.addEventListener("pointerdown", (event) => event.preventDefault());
  }

  #showAmounts(shown: boolean): void {
    this.#amounts.hidden = !shown;
    setAttribute(this.#renoise, "aria-expanded", String(shown));
  }

  /** True if it is to be seen; where, is for the page to say. */
  render(state: AppState, hasFocus: boolean): boolean {
    const { draft } = state;
    const selected = draft !== null && draft.selection.start < draft.selection.end;
    // Words that something else is proposed for are to be decided first.
    const isFree =
      selected &&
      !openProposals(draft).some(
        (one) => one.action !== "proofread" && one.start < draft.selection.end && draft.selection.start < one.end,
      );
    const shown = isFree && hasFocus && liveRun(draft) === null && !state.ui.card;
    if (this.element.hidden === shown) {
      this.element.hidden = !shown;
      this.#showAmounts(false);
    }
    if (draft && shown) setText(this.#lock, isLocked(draft, draft.selection) ? "Unlock" : "Lock");
    return shown;
  }
}
