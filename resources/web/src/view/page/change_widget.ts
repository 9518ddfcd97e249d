// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A proposed change: what would come, and the two buttons that decide.

import { WidgetType } from "@codemirror/view";
import type { ChangeMark } from "../../state/page_marks";
import { button, h, icon } from "../dom";

export interface ChangeHandlers {
  accept(proposal: string, change: number): void;
  reject(proposal: string, change: number): void;
  goTo(proposal: string, change: number): void;
  acceptOwn(): void;
  rejectOwn(): void;
}

function shortened(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}

/** "“paid” instead of “payed”": what a change does, in words. */
export function changeInWords(before: string, after: string): string {
  const from = shortened(before);
  const to = shortened(after);
  if (from === "") return `insert “${to}”`;
  return to === "" ? `delete “${from}”` : `“${to}” instead of “${from}”`;
}

function decideButtons(what: string, accept: () => void, reject: () => void): HTMLElement {
  return h(
    "span",
    { class: "decide" },
    button(icon("check"), {
      class: "decide__accept",
      "aria-label": `Accept: ${what}`,
      title: "Accept",
      onclick: accept,
    }),
    button(icon("close"), {
      class: "decide__reject",
      "aria-label": `Reject: ${what}`,
      title: "Reject",
      onclick: reject,
    }),
  );
}

export class ChangeWidget extends WidgetType {
  readonly mark: ChangeMark;
  readonly before: string;
  readonly #handlers: ChangeHandlers;

  constructor(mark: ChangeMark, before: string, handlers: ChangeHandlers) {
    super();
    this.mark = mark;
    this.before = before;
    this.#handlers = handlers;
  }

  override eq(other: ChangeWidget): boolean {
    const { mark } = this;
    return (
      other.mark.proposal === mark.proposal &&
      other.mark.change === mark.change &&
      other.mark.text === mark.text &&
      other.mark.current === mark.current &&
      other.before === this.before
    );
  }

  override toDOM(): HTMLElement {
    const { proposal, change, text, current } = this.mark;
    const handlers = this.#handlers;
    const insertion = text === "" ? null : h("ins", { class: "change__inserted" }, text);
    insertion?.addEventListener("click", () => handlers.goTo(proposal, change));
    return h(
      "span",
      { class: current ? "change change--current" : "change", "data-change": `${proposal}/${change}` },
      insertion,
      decideButtons(
        changeInWords(this.before, text),
        () => handlers.accept(proposal, change),
        () => handlers.reject(proposal, change),
      ),
    );
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

/** A text that the page itself offers at the caret. */
export class OwnProposalWidget extends WidgetType {
  readonly text: string;
  readonly #handlers: ChangeHandlers;

  constructor(text: string, handlers: ChangeHandlers) {
    super();
    this.text = text;
    this.#handlers = handlers;
  }

  override eq(other: OwnProposalWidget): boolean {
    return other.text === this.text;
  }

  override toDOM(): HTMLElement {
    return h(
      "span",
      { class: "change change--current" },
      h("ins", { class: "change__inserted" }, this.text),
      decideButtons(
        changeInWords("", this.text),
        () => this.#handlers.acceptOwn(),
        () => this.#handlers.rejectOwn(),
      ),
    );
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

/** Shows where something is to be put in. */
export class GapWidget extends WidgetType {
  override eq(): boolean {
    return true;
  }

  override toDOM(): HTMLElement {
    return h("span", { class: "gap", role: "img", "aria-label": "Here" });
  }
}

/** The lock's sign above the first letter: locks are told by shape too. */
export class LockWidget extends WidgetType {
  override eq(): boolean {
    return true;
  }

  override toDOM(): HTMLElement {
    return h("span", { class: "lock-sign", role: "img", "aria-label": "Locked" }, icon("lock"));
  }
}
