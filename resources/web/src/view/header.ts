// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The bar on top: which draft this is, whether it is saved, undo and redo, the model, the menu of all actions.

import { type Command, groups, keysOf } from "../client/commands";
import { renameDraft } from "../client/library";
import type { Session } from "../client/session";
import type { AppState } from "../state/app_state";
import { plural } from "../state/format";
import { button, h, halfIcon, iconButton, setAttribute, setText } from "./dom";
import { type MenuSection, toggleMenu } from "./menu";

function savedInWords(state: AppState): string {
  const { draft, connection } = state;
  if (!draft) return "";
  const waiting = draft.sync.inFlight !== null || draft.sync.pending.length > 0;
  if (connection.phase !== "open") return waiting ? "Not saved yet: no connection" : "No connection";
  if (draft.saveProblem) return draft.saveProblem;
  if (waiting || !draft.saved) return "Saving…";
  return draft.revision > 0 ? `Saved · revision ${draft.revision}` : "Saved";
}

function modelInWords(state: AppState): string {
  const { status, connection } = state;
  if (connection.phase !== "open" || !status) return "No connection";
  if (status.state === "loading") return `Loading the model · ${Math.round(status.progress * 100)} %`;
  if (status.state === "error" || !status.model) return "No model";
  const { id, deviceKind, device } = status.model;
  const where = (deviceKind || device).toUpperCase();
  return where ? `${id} · ${where}` : id;
}

/** All actions that make sense in a menu, by group. */
export function menuSections(commands: readonly Command[], session: Session): MenuSection[] {
  const { state } = session.store;
  return groups.map((group) => ({
    title: group,
    items: commands
      .filter((one) => one.group === group && !one.id.startsWith("alternative-"))
      .map((one) => {
        const keys = keysOf(one, state)[0];
        return {
          label: one.label(state),
          isEnabled: one.isEnabled(state),
          ...(keys ? { keys } : {}),
          ...(one.isChecked ? { isChecked: one.isChecked(state) } : {}),
          run: () => one.run(session),
        };
      }),
  }));
}

export class Header {
  readonly element: HTMLElement;
  readonly title: HTMLInputElement;
  readonly #saved = h("span", { class: "header__saved" });
  readonly #undo: HTMLButtonElement;
  readonly #redo: HTMLButtonElement;
  readonly #entropy: HTMLButtonElement;
  readonly #drafts: HTMLButtonElement;
  readonly #inspector: HTMLButtonElement;
  readonly #ask: HTMLButtonElement;
  readonly #model = h("span", {});
  readonly #modelChip: HTMLElement;
  readonly #session: Session;

  constructor(session: Session, commands: readonly Command[]) {
    this.#session = session;
    const run = (id: string) => () => commands.find((one) => one.id === id)?.run(session);
    this.title = this.#makeTitle();
    this.#undo = iconButton("undo", "Undo", { onclick: run("undo") });
    this.#redo = iconButton("redo", "Redo", { onclick: run("redo") });
    this.#entropy = button(halfIcon(), {
      class: "icon-button",
      "aria-label": "Tint words that have not settled",
      title: "Tint words that have not settled (hold Alt)",
      onclick: run("entropy"),
    });
    this.#drafts = iconButton("menu", "Drafts", { class: "icon-button header__drafts", onclick: run("library") });
    this.#inspector = iconButton("panel", "Inspector", {
      class: "icon-button header__inspector",
      onclick: run("inspector"),
    });
    this.#ask = iconButton("ask", "Ask about the draft", { onclick: run("ask") });
    this.#modelChip = h("span", { class: "chip chip--model" }, h("i", { class: "chip__dot" }), this.#model);
    const menu = iconButton("more", "All actions", {
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      onclick: () => toggleMenu(menu, "All actions", menuSections(commands, session)),
    });
    this.element = h(
      "header",
      { class: "header" },
      this.#drafts,
      h("h1", { class: "header__brand" }, "Palimpsest"),
      h("div", { class: "header__draft" }, this.title, this.#saved),
      h("div", { class: "header__tools" }, this.#undo, this.#redo, this.#entropy, this.#ask, this.#inspector),
      this.#modelChip,
      h("span", { class: "chip chip--server" }, h("i", { class: "chip__dot" }), `API ${location.host}`),
      menu,
    );
  }

  #makeTitle(): HTMLInputElement {
    const title = h("input", {
      class: "header__title",
      "aria-label": "Title of the draft",
      maxlength: 200,
      spellcheck: "false",
    });
    const rename = (): void => {
      const { draft } = this.#session.store.state;
      if (draft && title.value.trim() !== draft.title) renameDraft(this.#session, draft.id, title.value);
    };
    title.addEventListener("change", rename);
    title.addEventListener("input", () => title.style.setProperty("--characters", String(title.value.length)));
    title.addEventListener("keydown", (event) => {
      if (event.key === "Enter") title.blur();
      if (event.key !== "Escape") return;
      title.value = this.#session.store.state.draft?.title ?? "";
      title.blur();
      event.stopPropagation();
    });
    return title;
  }

  render(state: AppState): void {
    const { draft, status } = state;
    if (document.activeElement !== this.title) {
      const title = draft?.title ?? "";
      if (this.title.value !== title) this.title.value = title;
      this.title.style.setProperty("--characters", String(Math.max(4, title.length)));
    }
    setAttribute(this.title, "hidden", draft === null);
    setText(this.#saved, savedInWords(state));
    this.#undo.disabled = draft?.undo == null;
    this.#redo.disabled = draft?.redo == null;
    this.#undo.title = draft?.undo ? `Undo: ${draft.undo}` : "Undo";
    this.#redo.title = draft?.redo ? `Redo: ${draft.redo}` : "Redo";
    setAttribute(this.#entropy, "aria-pressed", String(state.preferences.entropyShown));
    setAttribute(this.#ask, "aria-pressed", String(state.ui.inspectorOpen && state.ui.panel === "ask"));
    setAttribute(this.#inspector, "aria-pressed", String(state.ui.inspectorOpen));
    setAttribute(this.#drafts, "aria-expanded", String(state.ui.libraryOpen));
    setText(this.#model, modelInWords(state));
    const waiting = status ? plural(status.waiting, "request waits", "requests wait") : "";
    this.#modelChip.title = status?.problem || (status && status.waiting > 0 ? waiting : "");
    setAttribute(
      this.#modelChip,
      "data-state",
      state.connection.phase === "open" ? (status?.state ?? "loading") : "error",
    );
  }
}
