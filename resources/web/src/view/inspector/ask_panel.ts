// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Questions about the draft, and the answers. An answer reaches the text only as a proposal.

import { ask, stopAsking } from "../../client/ask";
import { proposeOwn } from "../../client/proposals";
import type { Session } from "../../client/session";
import type { AppState, ChatView } from "../../state/app_state";
import { button, h, setText } from "../dom";

type Turn = ChatView["turns"][number];

export class AskPanel {
  readonly element: HTMLElement;
  readonly field: HTMLTextAreaElement;
  readonly #session: Session;
  readonly #turns = h("div", {
    class: "ask__turns",
    tabindex: "0",
    role: "log",
    "aria-label": "Questions and answers",
    "aria-live": "off",
  });
  readonly #thinking = h("input", { type: "checkbox", role: "switch" });
  readonly #thinkingRow: HTMLElement;
  readonly #send: HTMLButtonElement;
  #shown: Turn[] = [];
  #wasBusy = false;

  constructor(session: Session) {
    this.#session = session;
    this.field = h("textarea", {
      class: "ask__field",
      rows: 2,
      "aria-label": "Question about the draft",
      placeholder: "Ask about the draft or the selection",
    });
    this.field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#ask();
    });
    this.#thinking.addEventListener("change", () =>
      session.store.dispatch({ type: "chat", changes: { thinking: this.#thinking.checked } }),
    );
    this.#thinkingRow = h(
      "label",
      { class: "switch" },
      this.#thinking,
      h("span", { class: "switch__track", "aria-hidden": "true" }),
      "Think first",
    );
    this.#send = button("Ask", { class: "button button--small", onclick: () => this.#ask() });
    const clear = button("Clear", {
      class: "text-button",
      onclick: () => session.store.dispatch({ type: "chat", changes: { turns: [] } }),
    });
    this.element = h(
      "div",
      { class: "inspector__panel ask" },
      h("h2", { class: "heading" }, "Ask about the draft ", clear),
      this.#turns,
      h("div", { class: "ask__form" }, this.field, h("div", { class: "ask__foot" }, this.#thinkingRow, this.#send)),
    );
  }

  render(state: AppState): void {
    const { chat, status } = state;
    this.#thinkingRow.hidden = !status?.model?.thinking;
    this.#thinking.checked = chat.thinking;
    setText(this.#send, chat.busy ? "Stop" : "Ask");
    this.#send.disabled = !chat.busy && state.connection.phase !== "open";
    if (chat.turns === this.#shown && chat.busy === this.#wasBusy && chat.turns.length > 0) return;
    this.#wasBusy = chat.busy;
    const isNew = chat.turns.length !== this.#turns.querySelectorAll(".turn").length;
    this.#shown = chat.turns;
    if (chat.turns.length === 0) {
      this.#turns.replaceChildren(
        h(
          "p",
          { class: "inspector__note" },
          "The model reads the draft, or what is selected of it, and answers here. The draft itself does not change.",
        ),
      );
      return;
    }
    if (isNew) this.#turns.replaceChildren(...chat.turns.map((turn) => this.#turn(turn, chat.busy)));
    else this.#turns.lastElementChild?.replaceWith(this.#turn(chat.turns[chat.turns.length - 1] as Turn, chat.busy));
    this.#turns.scrollTop = this.#turns.scrollHeight;
  }

  #turn(turn: Turn, busy: boolean): HTMLElement {
    const isAnswer = turn.role === "assistant";
    const insert = (): void => proposeOwn(this.#session, turn.content.trim());
    return h(
      "article",
      { class: `turn turn--${turn.role}`, "aria-label": isAnswer ? "Answer" : "Question" },
      turn.thought
        ? h("details", {}, h("summary", {}, "What it thought"), h("p", { class: "turn__text" }, turn.thought))
        : null,
      turn.content ? h("p", { class: "turn__text", dir: "auto" }, turn.content) : null,
      isAnswer && busy && !turn.content && !turn.problem && turn === this.#shown.at(-1)
        ? h("p", { class: "inspector__note" }, "Writing…")
        : null,
      turn.problem ? h("p", { class: "turn__problem" }, turn.problem) : null,
      isAnswer && turn.content && !(busy && turn === this.#shown.at(-1))
        ? button("Insert at the caret", {
            class: "text-button",
            title: "Proposes the answer at the caret of the draft",
            onclick: insert,
          })
        : null,
    );
  }

  #ask(): void {
    if (this.#session.store.state.chat.busy) return stopAsking();
    const question = this.field.value.trim();
    if (question === "") return this.field.focus();
    this.field.value = "";
    void ask(this.#session, question);
  }
}
