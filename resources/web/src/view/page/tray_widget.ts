// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Several texts for one place, side by side, with their differences marked. Words that are selected in one of them can
// be taken into the chosen one; the writer may also write a version of their own.

import { WidgetType } from "@codemirror/view";
import { settledInWords } from "../../state/format";
import { ownPieces } from "../../state/word_diff";
import type { Span } from "../../wire/drafts";
import type { Proposal, ProposedText } from "../../wire/proposals";
import { button, h } from "../dom";

export interface TrayHandlers {
  choose(proposal: string, alternative: number): void;
  take(proposal: string, alternative: number, words: Span): void;
  edit(proposal: string, text: string): void;
}

/** What is selected of an element's text, in UTF-16 units; null if nothing is. */
function selectedIn(element: HTMLElement): Span | null {
  const selection = document.getSelection();
  if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!element.contains(range.startContainer) || !element.contains(range.endContainer)) return null;
  const before = document.createRange();
  before.selectNodeContents(element);
  before.setEnd(range.startContainer, range.startOffset);
  const start = before.toString().length;
  const end = start + range.toString().length;
  return start < end ? { start, end } : null;
}

function headline(alternative: ProposedText, index: number): string {
  if (alternative.stops.length === 0) return `${index + 1} · yours`;
  const seed = alternative.seed === null ? "" : ` · seed ${alternative.seed}`;
  return `${index + 1}${seed}${alternative.steps === null ? "" : ` · ${alternative.steps} steps`}`;
}

export class TrayWidget extends WidgetType {
  readonly proposal: Proposal;
  readonly #handlers: TrayHandlers;
  #shown = new AbortController();

  constructor(proposal: Proposal, handlers: TrayHandlers) {
    super();
    this.proposal = proposal;
    this.#handlers = handlers;
  }

  override eq(other: TrayWidget): boolean {
    const { id, alternatives, chosen } = this.proposal;
    return other.proposal.id === id && other.proposal.alternatives === alternatives && other.proposal.chosen === chosen;
  }

  override destroy(): void {
    this.#shown.abort();
  }

  override toDOM(): HTMLElement {
    this.#shown = new AbortController();
    const cards = this.proposal.alternatives.map((alternative, i) => this.#card(alternative, i));
    return h("div", { class: "tray", role: "group", "aria-label": "Alternatives" }, ...cards);
  }

  override ignoreEvent(): boolean {
    return true;
  }

  #card(alternative: ProposedText, index: number): HTMLElement {
    const { id, chosen, alternatives, sampler } = this.proposal;
    const handlers = this.#handlers;
    const isChosen = index === chosen;
    const others = alternatives.filter((_, i) => i !== index).map((other) => other.text);
    const text = h(
      "p",
      { class: "alternative__text", dir: "auto" },
      ...ownPieces(alternative.text, others).map((piece) => (piece.common ? piece.text : h("mark", {}, piece.text))),
    );
    const take = button("Take these words", {
      class: "text-button",
      hidden: true,
      onclick: () => {
        const words = selectedIn(text);
        if (words) handlers.take(id, index, words);
      },
      // The press must not clear the selection that it is about.
      onpointerdown: (event) => event.preventDefault(),
    });
    const name = `alternative ${index + 1}`;
    const choose = button("Choose", {
      class: "text-button",
      "aria-label": `Choose ${name}`,
      onclick: () => handlers.choose(id, index),
    });
    const edit = button("Edit", {
      class: "text-button",
      "aria-label": `Edit ${name}`,
      onclick: () => this.#edit(card, alternative.text),
    });
    const settled = settledInWords(alternative.steps, sampler.maxSteps ?? 0, alternative.stops);
    const card = h(
      "section",
      { class: isChosen ? "alternative alternative--chosen" : "alternative", "aria-label": `Alternative ${index + 1}` },
      h("div", { class: "alternative__head" }, h("span", {}, headline(alternative, index)), h("span", {}, settled)),
      text,
      h("div", { class: "alternative__foot" }, isChosen ? edit : choose, take),
    );
    const offerWords = (): void => void (take.hidden = isChosen || selectedIn(text) === null);
    document.addEventListener("selectionchange", offerWords, { signal: this.#shown.signal });
    text.addEventListener("click", () => {
      if (!isChosen && selectedIn(text) === null) handlers.choose(id, index);
    });
    return card;
  }

  #edit(card: HTMLElement, text: string): void {
    const area = h("textarea", { class: "alternative__edit", "aria-label": "Your own version", rows: 5 });
    area.value = text;
    const keep = (): void => this.#handlers.edit(this.proposal.id, area.value);
    area.addEventListener("keydown", (event) => {
      event.stopPropagation(); // keys belong to the text field, not to the page
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep();
    });
    const foot = h(
      "div",
      { class: "alternative__foot" },
      button("Keep my version", { class: "text-button", onclick: keep }),
    );
    card.replaceChildren(area, foot);
    area.focus();
  }
}
