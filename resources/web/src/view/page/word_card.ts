// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What else may stand in a word's place, and how likely the model holds it.

import type { Session } from "../../client/session";
import { closeCard, holdWord, takeAlternative } from "../../client/words";
import type { AppState, WordCard } from "../../state/app_state";
import { decimal, percent } from "../../state/format";
import { hasEnded } from "../../state/reduce_runs";
import type { Alternative } from "../../wire/runs";
import { button, h, iconButton } from "../dom";

/** A word as it can be read: line breaks and spaces have signs of their own. */
function legible(text: string): string {
  const word = text.trim();
  if (word !== "") return word;
  return text.includes("\n") ? "⏎ new line" : text === "" ? "(nothing)" : "␣ space";
}

export class WordCardView {
  readonly element = h("section", { class: "word-card", role: "dialog", hidden: true });
  readonly #session: Session;
  readonly #focusPage: () => void;
  #shown: WordCard | null = null;
  #cameFrom: HTMLElement | null = null;

  constructor(session: Session, focusPage: () => void) {
    this.#session = session;
    this.#focusPage = focusPage;
    this.element.addEventListener("keydown", (event) => this.#move(event));
  }

  /** True if it is to be seen; where, is for the page to say. */
  render(state: AppState): boolean {
    const { card } = state.ui;
    if (card === this.#shown) return card !== null;
    const isNew =
      card !== null &&
      (this.#shown?.position !== card.position || this.#shown.run !== card.run || this.#shown.canvas !== card.canvas);
    const hadFocus = this.element.contains(document.activeElement);
    this.#shown = card;
    this.element.hidden = card === null;
    if (!card) {
      if (hadFocus) this.#giveFocusBack();
      return false;
    }
    this.element.setAttribute("aria-label", `Alternatives for “${card.word}”`);
    const view = state.draft?.runs.find((one) => one.run.id === card.run);
    const isLive = view !== undefined && !hasEnded(view.run) && card.step === null;
    this.element.replaceChildren(
      h(
        "div",
        { class: "word-card__head" },
        h("b", {}, card.word),
        h("span", {}, `${decimal(card.entropyNats, 2)} nats`),
        iconButton("close", "Close", {
          class: "icon-button word-card__close",
          onclick: () => closeCard(this.#session),
        }),
      ),
      this.#choices(card),
      h("p", { class: "word-card__help" }, isLive ? "Click takes a word, Alt+click locks it" : "Click takes a word"),
      isLive ? this.#lockButton(card) : "",
    );
    if (isNew && !hadFocus) this.#cameFrom = document.activeElement as HTMLElement | null;
    if (isNew || hadFocus)
      (this.element.querySelector<HTMLElement>(".word-card__choice") ?? this.element.querySelector("button"))?.focus({
        preventScroll: true,
      });
    return true;
  }

  /** To where the card was asked for. */
  #giveFocusBack(): void {
    if (this.#cameFrom?.isConnected && this.#cameFrom !== document.body) this.#cameFrom.focus();
    else this.#focusPage();
  }

  #choices(card: WordCard): HTMLElement {
    if (card.problem) return h("p", { class: "word-card__help" }, card.problem);
    if (!card.alternatives) return h("p", { class: "word-card__help" }, "Asking the model…");
    return h(
      "div",
      { class: "word-card__choices" },
      ...card.alternatives.map((alternative) => this.#choice(card, alternative)),
    );
  }

  #choice(card: WordCard, alternative: Alternative): HTMLElement {
    const bar = h("i", { class: "word-card__share" });
    bar.style.setProperty("--share", String(Math.max(0, Math.min(1, alternative.probability))));
    const word = legible(alternative.text);
    const share = percent(alternative.probability);
    const take = (event: MouseEvent): void => {
      const frame = this.#frameOf(card);
      this.#session.attempt(takeAlternative(this.#session, card, alternative));
      // Taking an alternative holds it; Alt only says that it is meant to stay, which it does.
      if (event.altKey && frame === null) this.#session.tell("Words of a canvas can be locked while it runs.");
    };
    return h(
      "button",
      { type: "button", class: "word-card__choice", onclick: take },
      h("span", { class: "word-card__row" }, h("span", { dir: "auto" }, word), " ", h("em", {}, share)),
      bar,
    );
  }

  #frameOf(card: WordCard) {
    return (
      this.#session.store.state.draft?.runs.find((one) => one.run.id === card.run)?.lanes[card.lane]?.frame ?? null
    );
  }

  #lockButton(card: WordCard): HTMLElement {
    return button(card.held ? "Unlock the word" : "Lock the word", {
      class: "text-button",
      onclick: () => {
        const frame = this.#frameOf(card);
        if (frame) this.#session.attempt(holdWord(this.#session, frame, card.position));
        closeCard(this.#session);
      },
    });
  }

  #move(event: KeyboardEvent): void {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const buttons = [...this.element.querySelectorAll<HTMLElement>("button:not(.word-card__close)")];
    const at = buttons.findIndex((one) => one === document.activeElement);
    buttons[(at + (event.key === "ArrowDown" ? 1 : -1) + buttons.length) % buttons.length]?.focus();
    event.preventDefault();
  }
}
