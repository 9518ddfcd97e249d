// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Questions and settings that lie over the page.

import { storeKey, storedKey } from "../client/api_key";
import { deleteDraft } from "../client/library";
import type { Session } from "../client/session";
import type { AppState, PageFont, Preferences, Theme } from "../state/app_state";
import { button, h, iconButton, setText } from "./dom";

/** Opens or closes a dialog so that it is as the state says. */
export function showDialog(dialog: HTMLDialogElement, shown: boolean): void {
  if (shown && !dialog.open) dialog.showModal();
  if (!shown && dialog.open) dialog.close();
}

/** A dialog with a heading and a button that closes it. */
export function dialogFrame(title: string, close: () => void, ...content: HTMLElement[]): HTMLDialogElement {
  const dialog = h(
    "dialog",
    { class: "dialog", "aria-label": title },
    h("div", { class: "dialog__head" }, h("h2", {}, title), iconButton("close", "Close", { onclick: close })),
    ...content,
  );
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    close();
  });
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  return dialog;
}

/** Asks before something is gone for good. */
export class DeleteDialog {
  readonly element: HTMLDialogElement;
  readonly #text = h("p", {});

  constructor(session: Session) {
    const close = (): void => session.store.dispatch({ type: "ui", changes: { dialog: "" } });
    const remove = (): void => {
      const document = session.store.state.ui.dialogDocument;
      close();
      session.attempt(deleteDraft(session, document));
    };
    this.element = dialogFrame(
      "Delete for good?",
      close,
      this.#text,
      h(
        "div",
        { class: "dialog__buttons" },
        button("Keep it", { class: "button button--ghost", autofocus: true, onclick: close }),
        button("Delete for good", { class: "button button--rust", onclick: remove }),
      ),
    );
  }

  render(state: AppState): void {
    const entry = state.library.documents?.find((one) => one.id === state.ui.dialogDocument);
    setText(
      this.#text,
      `“${entry?.title || "Untitled draft"}” will be deleted with all its revisions and its history. Nobody can bring it back.`,
    );
    showDialog(this.element, state.ui.dialog === "delete");
  }
}

/** Asks for the server's API key. */
export class KeyDialog {
  readonly element: HTMLDialogElement;
  readonly #refused = h(
    "p",
    { class: "dialog__problem", role: "alert", hidden: true },
    "The server did not accept this key.",
  );

  constructor(session: Session) {
    const field = h("input", {
      class: "field",
      type: "password",
      "aria-label": "API key",
      autocomplete: "off",
      required: true,
    });
    const form = h(
      "form",
      { class: "dialog__form" },
      h("p", {}, "This server wants an API key. It is kept until you close this tab, and sent to nobody else."),
      field,
      this.#refused,
      h("div", { class: "dialog__buttons" }, h("button", { type: "submit", class: "button" }, "Go on")),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      storeKey(field.value.trim());
      field.value = "";
      session.connect();
    });
    this.element = h(
      "dialog",
      { class: "dialog", "aria-label": "API key" },
      h("div", { class: "dialog__head" }, h("h2", {}, "API key")),
      form,
    );
    this.element.addEventListener("cancel", (event) => event.preventDefault());
    this.element.addEventListener("keydown", (event) => event.stopPropagation());
  }

  render(state: AppState): void {
    if (state.connection.phase === "locked") this.#refused.hidden = storedKey() === "";
    showDialog(
      this.element,
      state.connection.phase === "locked" || (this.element.open && state.connection.phase === "connecting"),
    );
  }
}

function choice<T extends string>(
  name: string,
  label: string,
  values: readonly [T, string][],
  change: (value: T) => void,
): { element: HTMLElement; set(value: T): void } {
  const select = h(
    "select",
    { class: "field", "aria-label": label },
    ...values.map(([value, text]) => h("option", { value }, text)),
  );
  select.name = name;
  select.addEventListener("change", () => {
    const chosen = values.find(([value]) => value === select.value);
    if (chosen) change(chosen[0]);
  });
  return {
    element: h("label", { class: "pair pair--field" }, label, select),
    set: (value) => {
      if (document.activeElement !== select) select.value = value;
    },
  };
}

/** A slider with its name. */
function slider(label: string, min: number, max: number, step: number, change: (value: number) => void) {
  const input = h("input", { type: "range", class: "slider", min, max, step, "aria-label": label });
  input.addEventListener("input", () => change(Number(input.value)));
  return {
    element: h("label", { class: "pair pair--field" }, label, input),
    set: (value: number): void => {
      input.value = String(value);
      input.style.setProperty("--share", String((value - min) / (max - min)));
    },
  };
}

/** How the page looks and moves, in this browser. */
export class SettingsDialog {
  readonly element: HTMLDialogElement;
  readonly #theme;
  readonly #font;
  readonly #size;
  readonly #lineHeight;
  readonly #motion = h("input", { type: "checkbox", role: "switch" });

  constructor(session: Session) {
    const set = (changes: Partial<Preferences>): void => session.store.dispatch({ type: "preferences", changes });
    const themes: [Theme, string][] = [
      ["system", "As the system"],
      ["light", "Light"],
      ["dark", "Dark"],
    ];
    const fonts: [PageFont, string][] = [
      ["serif", "Serif"],
      ["sans", "Sans serif"],
      ["readable", "Sans serif, wide"],
    ];
    this.#theme = choice("theme", "Colours", themes, (theme) => set({ theme }));
    this.#font = choice("font", "Letters", fonts, (pageFont) => set({ pageFont }));
    this.#size = slider("Size of the letters", 14, 32, 1, (fontSize) => set({ fontSize }));
    this.#lineHeight = slider("Space between lines", 1.3, 2.4, 0.05, (lineHeight) => set({ lineHeight }));
    this.#motion.addEventListener("change", () => set({ reducedMotion: this.#motion.checked }));
    this.element = dialogFrame(
      "Reading settings",
      () => session.store.dispatch({ type: "ui", changes: { dialog: "" } }),
      this.#theme.element,
      this.#font.element,
      this.#size.element,
      this.#lineHeight.element,
      h(
        "label",
        { class: "switch" },
        this.#motion,
        h("span", { class: "switch__track", "aria-hidden": "true" }),
        "Less motion: show a canvas three times a second at most",
      ),
    );
  }

  render(state: AppState): void {
    const { theme, pageFont, fontSize, lineHeight, reducedMotion } = state.preferences;
    showDialog(this.element, state.ui.dialog === "settings");
    this.#theme.set(theme);
    this.#font.set(pageFont);
    this.#size.set(fontSize);
    this.#lineHeight.set(lineHeight);
    this.#motion.checked = reducedMotion;
  }
}
