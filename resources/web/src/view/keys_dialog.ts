// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The list of keys. Each can be changed.

import { type Command, groups, keysOf } from "../client/commands";
import type { Session } from "../client/session";
import type { AppState } from "../state/app_state";
import { keyName } from "../state/keys";
import { button, h } from "./dom";
import { dialogFrame, showDialog } from "./dialogs";

/** Keys that belong to the text and to the box, and cannot be changed. */
const fixed: readonly [string, string][] = [
  ["Enter", "Run (in the box)"],
  ["Alt (hold)", "Tint words that have not settled"],
  ["F8 (hold)", "Show the original"],
  ["Esc", "Close; stop; reject; clear the selection"],
  ["Alt+click", "Lock a word of a running canvas"],
];

export class KeysDialog {
  readonly element: HTMLDialogElement;
  readonly #session: Session;
  readonly #commands: readonly Command[];
  readonly #list = h("div", { class: "keys", tabindex: "0", role: "region", "aria-label": "List of keys" });
  readonly #reset: HTMLButtonElement;
  #shown = "";

  constructor(session: Session, commands: readonly Command[]) {
    this.#session = session;
    this.#commands = commands;
    this.#reset = button("Reset all keys", { class: "text-button", onclick: () => this.#save({}) });
    this.element = dialogFrame(
      "Keys",
      () => session.store.dispatch({ type: "ui", changes: { dialog: "" } }),
      this.#list,
      h("div", { class: "dialog__buttons" }, this.#reset),
    );
  }

  render(state: AppState): void {
    const isOpen = state.ui.dialog === "keys";
    const shown = isOpen ? JSON.stringify(state.preferences.keys) : "";
    if (isOpen && shown !== this.#shown) this.#build(state);
    this.#shown = shown;
    this.#reset.disabled = Object.keys(state.preferences.keys).length === 0;
    showDialog(this.element, isOpen);
  }

  #build(state: AppState): void {
    const sections = groups.map((group) => {
      const rows = this.#commands.filter((one) => one.group === group).map((one) => this.#row(one, state));
      return h("section", {}, h("h3", {}, group), ...rows);
    });
    const always = h(
      "section",
      {},
      h("h3", {}, "Always"),
      ...fixed.map(([keys, what]) => h("div", { class: "keys__row" }, h("span", {}, what), h("kbd", {}, keys))),
    );
    this.#list.replaceChildren(always, ...sections);
  }

  #row(one: Command, state: AppState): HTMLElement {
    const keys = keysOf(one, state);
    const label = one.label({ ...state, draft: null });
    const change = h(
      "button",
      { type: "button", class: "keys__change", title: "Change", onclick: () => this.#listen(change, one) },
      h("span", { class: "visually-hidden" }, `${label}: `),
      keys.length > 0 ? h("kbd", {}, keys.join(" or ")) : "set a key",
    );
    return h("div", { class: "keys__row" }, h("span", {}, label), change);
  }

  /** Takes the next combination that is pressed; Esc leaves it, Backspace takes the key away. */
  #listen(place: HTMLButtonElement, one: Command): void {
    place.textContent = "press keys…";
    const listening = new AbortController();
    place.addEventListener("blur", () => listening.abort());
    listening.signal.addEventListener("abort", () => this.#build(this.#session.store.state));
    place.addEventListener(
      "keydown",
      (event) => {
        const name = keyName(event);
        event.preventDefault();
        event.stopPropagation();
        if (name === "") return;
        if (name === "Backspace") this.#save({ ...this.#session.store.state.preferences.keys, [one.id]: "" });
        else if (name !== "Esc") this.#take(one, name);
        listening.abort();
      },
      { signal: listening.signal },
    );
  }

  #take(one: Command, name: string): void {
    const { state } = this.#session.store;
    const other = this.#commands.find((command) => command.id !== one.id && keysOf(command, state).includes(name));
    if (other) this.#session.tell(`${name} was the key of “${other.label(state)}”, which has none now.`);
    this.#save({ ...state.preferences.keys, ...(other ? { [other.id]: "" } : {}), [one.id]: name });
  }

  #save(keys: Record<string, string>): void {
    this.#session.store.dispatch({ type: "preferences", changes: { keys } });
  }
}
