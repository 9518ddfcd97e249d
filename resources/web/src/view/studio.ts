// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The whole page: parts, layout, focus, and one painting for each refresh of the display.

import { allCommands } from "../client/commands";
import { openDraft } from "../client/library";
import { savePreferences } from "../client/preferences";
import type { Session } from "../client/session";
import { announcement } from "../state/announcements";
import type { AppState } from "../state/app_state";
import { Compose } from "./compose";
import { DeleteDialog, KeyDialog, SettingsDialog } from "./dialogs";
import { h, setAttribute, setText } from "./dom";
import { Header } from "./header";
import { Inspector } from "./inspector/inspector";
import { KeysDialog } from "./keys_dialog";
import { Library } from "./library";
import { Notices } from "./notices";
import { Page } from "./page/page";
import { listenToKeys } from "./shortcuts";

/** With reduced motion nothing flickers more often than three times a second. */
const calmIntervalMs = 350;

const wideEnoughForLibrary = matchMedia("(min-width: 720px)");
const wideEnoughForInspector = matchMedia("(min-width: 1180px)");
const systemWantsCalm = matchMedia("(prefers-reduced-motion: reduce)");

export class Studio {
  readonly #session: Session;
  readonly #root: HTMLElement;
  readonly #header: Header;
  readonly #library: Library;
  readonly #page: Page;
  readonly #compose: Compose;
  readonly #inspector: Inspector;
  readonly #overlays: { render(state: AppState): void }[];
  readonly #live = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  readonly #shade: HTMLElement;
  #isScheduled = false;
  #lastPaintMs = 0;

  constructor(session: Session) {
    this.#session = session;
    const commands = allCommands({
      focusInstruction: () => this.#compose.instruction.focus(),
      focusPage: () => this.#page.editor.focus(),
      focusNextPane: () => this.#focusNextPane(),
      chooseFile: () => this.#library.chooseFile(),
      focusTitle: () => this.#header.title.select(),
    });
    this.#header = new Header(session, commands);
    this.#library = new Library(session);
    this.#page = new Page(session, commands, () => this.#library.chooseFile());
    this.#compose = new Compose(session, () => this.#page.editor.focus());
    this.#inspector = new Inspector(session);
    const notices = new Notices(session);
    const dialogs = [
      new KeysDialog(session, commands),
      new DeleteDialog(session),
      new SettingsDialog(session),
      new KeyDialog(session),
    ];
    this.#overlays = [notices, ...dialogs];
    this.#shade = h("div", { class: "shade", onclick: () => this.#closeDrawers() });
    const main = h("main", { class: "desk" }, notices.banner, this.#page.element, this.#compose.element);
    this.#root = h(
      "div",
      { class: "studio" },
      this.#header.element,
      this.#library.element,
      main,
      this.#inspector.element,
      this.#shade,
    );
    document.body.append(this.#root, notices.element, this.#live, ...dialogs.map((dialog) => dialog.element));

    listenToKeys(session, commands);
    this.#fitWidth();
    for (const query of [wideEnoughForLibrary, wideEnoughForInspector])
      query.addEventListener("change", () => this.#fitWidth());
    session.store.subscribe((state, before) => this.#changed(state, before));
    this.#schedule();
  }

  #changed(state: AppState, before: AppState): void {
    if (state.preferences !== before.preferences) savePreferences(state.preferences);
    const news = announcement(before, state);
    if (news) setText(this.#live, news);
    if (state.documentId !== before.documentId) {
      this.#remember(state.documentId);
      this.#closeDrawers();
    }
    if (state.documentId === null && state.library.documents !== before.library.documents) this.#openSomething(state);
    this.#schedule();
  }

  /** Paints once for each refresh, from the newest state, however many messages came in between. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const { state } = this.#session.store;
    const isCalm = state.preferences.reducedMotion || systemWantsCalm.matches;
    const isMoving = state.draft?.runs.some((view) => view.run.state === "running") ?? false;
    const waitMs = isCalm && isMoving ? this.#lastPaintMs + calmIntervalMs - performance.now() : 0;
    const paint = (): void => {
      this.#isScheduled = false;
      this.#lastPaintMs = performance.now();
      this.#render(this.#session.store.state);
      this.#session.confirmFrames();
    };
    if (waitMs > 0) setTimeout(() => requestAnimationFrame(paint), waitMs);
    else requestAnimationFrame(paint);
  }

  #render(state: AppState): void {
    const { theme } = state.preferences;
    setAttribute(document.documentElement, "data-theme", theme === "system" ? null : theme);
    setAttribute(document.documentElement, "data-calm", state.preferences.reducedMotion);
    setAttribute(this.#root, "data-library", state.ui.libraryOpen);
    setAttribute(this.#root, "data-inspector", state.ui.inspectorOpen);
    document.title = state.draft?.title ? `${state.draft.title} – Palimpsest` : "Palimpsest";
    this.#header.render(state);
    this.#library.element.inert = !state.ui.libraryOpen;
    if (state.ui.libraryOpen) this.#library.render(state);
    this.#page.render(state);
    this.#compose.render(state);
    this.#inspector.element.inert = !state.ui.inspectorOpen;
    this.#inspector.render(state);
    for (const overlay of this.#overlays) overlay.render(state);
  }

  /** The draft that is open is in the address, so that a reload opens it again. */
  #remember(document: string | null): void {
    history.replaceState(null, "", document === null ? location.pathname : `#${encodeURIComponent(document)}`);
  }

  /** With no draft open, the one of the address is opened, else the newest. */
  #openSomething(state: AppState): void {
    const { documents, binned, query } = state.library;
    if (!documents || binned || query) return;
    const wanted = decodeURIComponent(location.hash.slice(1));
    const next = documents.find((entry) => entry.id === wanted) ?? documents[0];
    if (next) openDraft(this.#session, next.id);
  }

  /** Columns that would leave the page too narrow become drawers, which begin closed. */
  #fitWidth(): void {
    this.#session.store.dispatch({
      type: "ui",
      changes: { libraryOpen: wideEnoughForLibrary.matches, inspectorOpen: wideEnoughForInspector.matches },
    });
  }

  #closeDrawers(): void {
    this.#session.store.dispatch({
      type: "ui",
      changes: {
        ...(wideEnoughForLibrary.matches ? {} : { libraryOpen: false }),
        ...(wideEnoughForInspector.matches ? {} : { inspectorOpen: false }),
      },
    });
  }

  #focusNextPane(): void {
    const { ui } = this.#session.store.state;
    const panes: { element: HTMLElement; focus: () => void }[] = [
      { element: this.#page.element, focus: () => this.#page.editor.focus() },
      { element: this.#compose.element, focus: () => this.#compose.instruction.focus() },
    ];
    const first = (element: HTMLElement): void =>
      element.querySelector<HTMLElement>("button, input, [tabindex='0']")?.focus();
    if (ui.inspectorOpen)
      panes.push({
        element: this.#inspector.element,
        focus: () => this.#inspector.element.querySelector<HTMLElement>("[role=tab][tabindex='0']")?.focus(),
      });
    panes.push({ element: this.#header.element, focus: () => first(this.#header.element) });
    if (ui.libraryOpen) panes.push({ element: this.#library.element, focus: () => first(this.#library.element) });
    const at = panes.findIndex((pane) => pane.element.contains(document.activeElement));
    panes[(at + 1) % panes.length]?.focus();
  }
}
