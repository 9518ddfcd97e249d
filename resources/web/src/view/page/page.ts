// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The page: the text, and what floats over it.

import { openCard, holdWord } from "../../client/words";
import type { Command } from "../../client/commands";
import { newDraft } from "../../client/library";
import {
  acceptChange,
  acceptOwn,
  chooseAlternative,
  editProposal,
  rejectChange,
  rejectOwn,
  takeWords,
} from "../../client/proposals";
import type { Session } from "../../client/session";
import type { AppState } from "../../state/app_state";
import { placeOfChange } from "../../state/word_places";
import { button, h, setAttribute } from "../dom";
import { PageEditor, type PageHandlers } from "./editor";
import { SelectionBar } from "./selection_bar";
import { WordCardView } from "./word_card";

const gapPx = 8;

export class Page {
  readonly element: HTMLElement;
  readonly editor: PageEditor;
  readonly #session: Session;
  readonly #bar: SelectionBar;
  readonly #card: WordCardView;
  readonly #surface = h("div", { class: "page__surface" });
  readonly #empty: HTMLElement;
  readonly #opening = h("p", { class: "page__opening", hidden: true }, "Opening the draft…");
  #isPlacing = false;
  #entered: string | null = null;

  constructor(session: Session, commands: readonly Command[], chooseFile: () => void) {
    this.#session = session;
    this.#bar = new SelectionBar(session, commands);
    this.#card = new WordCardView(session, () => this.editor.focus());
    this.#empty = h(
      "div",
      { class: "page__empty", hidden: true },
      h("h2", {}, "A blank desk"),
      h("p", {}, "Begin a draft, or bring a text along as a Markdown or plain text file."),
      h(
        "div",
        { class: "page__empty-buttons" },
        button("New draft", { class: "button", onclick: () => session.attempt(newDraft(session)) }),
        button("Import…", { class: "button button--ghost", onclick: chooseFile }),
      ),
    );
    this.element = h(
      "div",
      { class: "page" },
      this.#surface,
      this.#empty,
      this.#opening,
      this.#bar.element,
      this.#card.element,
    );
    this.editor = new PageEditor(this.#surface, session, this.#handlers());
    document.addEventListener("pointerdown", (event) => this.#pressedOutside(event));
  }

  render(state: AppState): void {
    const isOpening = state.documentId !== null && state.draft === null;
    const isEmpty = state.documentId === null && state.library.documents !== null;
    this.#empty.hidden = !isEmpty;
    this.#opening.hidden = !isOpening;
    this.#surface.hidden = state.draft === null;
    setAttribute(this.element, "data-font", state.preferences.pageFont);
    this.element.style.setProperty("--page-size", `${state.preferences.fontSize}px`);
    this.element.style.setProperty("--page-line-height", String(state.preferences.lineHeight));
    this.editor.render(state);
    this.#enterFresh(state);
    this.#place();
  }

  /** Puts the keys on the page of a draft that was just made, once. */
  #enterFresh({ draft, ui }: AppState): void {
    if (!draft || draft.id !== ui.freshDraft || draft.id === this.#entered) return;
    this.#entered = draft.id;
    this.editor.focus();
  }

  #handlers(): PageHandlers {
    const session = this.#session;
    return {
      word: (frame, position, isHistory, locks) =>
        session.attempt(
          locks && !isHistory ? holdWord(session, frame, position) : openCard(session, frame, position, isHistory),
        ),
      accept: (proposal, change) => session.attempt(acceptChange(session, proposal, change)),
      reject: (proposal, change) => session.attempt(rejectChange(session, proposal, change)),
      goTo: (proposal, change) => {
        const document = session.store.state.documentId;
        if (document !== null)
          session.store.dispatch({ type: "draft", document, changes: { currentChange: { proposal, change } } });
        this.#openChange(proposal, change);
      },
      acceptOwn: () => acceptOwn(session),
      rejectOwn: () => rejectOwn(session),
      choose: (proposal, alternative) => session.attempt(chooseAlternative(session, proposal, alternative)),
      take: (proposal, alternative, words) => session.attempt(takeWords(session, proposal, alternative, words)),
      edit: (proposal, text) => session.attempt(editProposal(session, proposal, text)),
      moved: () => this.#place(),
    };
  }

  /** Shows what else might stand in the place of a proposed word. */
  #openChange(id: string, change: number): void {
    const { draft } = this.#session.store.state;
    const proposal = draft?.proposals.find((one) => one.id === id);
    const place = draft && proposal && placeOfChange(draft, proposal, change);
    if (place) this.#session.attempt(openCard(this.#session, place.frame, place.position, true));
  }

  /** Puts the bar under the selection and the card under its word, once the layout is known. */
  #place(): void {
    if (this.#isPlacing) return;
    this.#isPlacing = true;
    requestAnimationFrame(() => {
      this.#isPlacing = false;
      const { state } = this.#session.store;
      const focused = document.activeElement;
      const hasFocus = this.editor.view.hasFocus || this.#bar.element.contains(focused);
      if (this.#bar.render(state, hasFocus)) this.#placeBar();
      if (this.#card.render(state)) this.#placeCard(state);
    });
  }

  #placeBar(): void {
    const { view } = this.editor;
    const { from, to } = view.state.selection.main;
    const begin = view.coordsAtPos(from, 1);
    const end = view.coordsAtPos(to, -1);
    if (!begin || !end) return;
    const middle = end.top > begin.bottom ? end.right : (begin.left + end.right) / 2;
    this.#float(this.#bar.element, middle, end.bottom, begin.top);
  }

  #placeCard(state: AppState): void {
    const { card } = state.ui;
    if (!card) return;
    const word = card.fromMap
      ? document.querySelector(`.inspector [data-cell="${card.position}"]`)
      : (this.editor.painters.wordElement(card.run, card.lane, card.position) ??
        document.querySelector(".change--current"));
    const around = (word ?? this.element).getBoundingClientRect();
    this.#float(this.#card.element, (around.left + around.right) / 2, around.bottom, around.top);
  }

  /** Centres an element under a place of the window, or above it where there is no room, within the page. */
  #float(element: HTMLElement, middle: number, below: number, above: number): void {
    const page = this.element.getBoundingClientRect();
    const { width, height } = element.getBoundingClientRect();
    const left = Math.max(gapPx, Math.min(middle - page.left - width / 2, page.width - width - gapPx));
    const under = below - page.top + gapPx;
    const over = above - page.top - height - gapPx;
    const top = under + height <= page.height ? under : Math.max(gapPx, over);
    element.style.setProperty("--left", `${left}px`);
    element.style.setProperty("--top", `${top}px`);
  }

  #pressedOutside(event: PointerEvent): void {
    const target = event.target as Element;
    if (this.#session.store.state.ui.card === null || this.#card.element.contains(target)) return;
    if (target.closest("[data-position], .cell-map, .change__inserted")) return;
    this.#session.store.dispatch({ type: "ui", changes: { card: null } });
  }
}
