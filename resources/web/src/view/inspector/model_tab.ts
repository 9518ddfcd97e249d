// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The model, the machine it runs on, and the server.

import type { AppState } from "../../state/app_state";
import { count, dash, megabytes, milliseconds } from "../../state/format";
import { h, setText } from "../dom";

function pairsOf(state: AppState): Record<string, [string, string][]> {
  const { status, connection } = state;
  const model = status?.model;
  const states = { loading: "loading", ready: "ready", busy: "writing", error: "not working" };
  return {
    Model: [
      ["Name", model?.id ?? dash],
      ["Runs on", model?.device || model?.deviceKind.toUpperCase() || dash],
      ["Weights", megabytes(model?.weightBytes ?? null)],
      ["Context", model?.contextLength == null ? dash : `${count(model.contextLength)} tokens`],
      ["Canvas", model?.canvasLength == null ? dash : `${count(model.canvasLength)} tokens`],
      ["Vocabulary", count(model?.vocabSize ?? null)],
      ["Can think first", model ? (model.thinking ? "yes" : "no") : dash],
    ],
    Server: [
      ["State", connection.phase === "open" && status ? states[status.state] : "no connection"],
      ["Address", location.host],
      ["Program", connection.version || dash],
      ["A step takes", milliseconds(status?.stepMs ?? null)],
      ["Runs under way", status ? count(status.running) : dash],
      ["Requests waiting", status ? count(status.waiting) : dash],
      ["Windows open", status ? count(status.windows) : dash],
    ],
  };
}

export class ModelTab {
  readonly element: HTMLElement;
  readonly #values = new Map<string, HTMLElement>();
  readonly #problem = h("p", { class: "inspector__note" });

  constructor(initial: AppState) {
    const sections = Object.entries(pairsOf(initial)).map(([title, pairs]) =>
      h(
        "section",
        { "aria-label": title },
        h("h2", { class: "heading" }, title),
        ...pairs.map(([name]) => {
          const value = h("b", {});
          this.#values.set(`${title} ${name}`, value);
          return h("div", { class: "pair" }, name, value);
        }),
      ),
    );
    const endpoint = `${location.origin}/v1`;
    this.element = h(
      "div",
      { class: "inspector__panel" },
      ...sections,
      this.#problem,
      h(
        "section",
        { "aria-label": "For other programs" },
        h("h2", { class: "heading" }, "For other programs"),
        h("p", { class: "inspector__note" }, "Programs that speak the OpenAI interface reach the same model at"),
        h("code", { class: "endpoint" }, endpoint),
        h(
          "p",
          { class: "inspector__note" },
          "A settled word is one that the model no longer doubts. That does not make it right: read what it wrote.",
        ),
      ),
    );
  }

  render(state: AppState): void {
    for (const [title, pairs] of Object.entries(pairsOf(state))) {
      for (const [name, value] of pairs) {
        const element = this.#values.get(`${title} ${name}`);
        if (element) setText(element, value);
      }
    }
    this.#problem.hidden = !state.status?.problem;
    setText(this.#problem, state.status?.problem ?? "");
  }
}
