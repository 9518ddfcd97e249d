// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The column on the right: the canvas, the history, the model; or questions about the draft.

import type { Session } from "../../client/session";
import type { AppState, Panel } from "../../state/app_state";
import { h, iconButton, setAttribute } from "../dom";
import { AskPanel } from "./ask_panel";
import { CanvasTab } from "./canvas_tab";
import { HistoryTab } from "./history_tab";
import { ModelTab } from "./model_tab";

interface Part {
  element: HTMLElement;
  render(state: AppState): void;
}

const tabs: readonly { panel: Panel; label: string }[] = [
  { panel: "canvas", label: "Canvas" },
  { panel: "history", label: "History" },
  { panel: "model", label: "Model" },
];

export class Inspector {
  readonly element: HTMLElement;
  readonly ask: AskPanel;
  readonly #parts: Record<Panel, Part>;
  readonly #tabs: Map<Panel, HTMLElement>;
  readonly #tablist: HTMLElement;

  constructor(session: Session) {
    this.ask = new AskPanel(session);
    this.#parts = {
      canvas: new CanvasTab(session),
      history: new HistoryTab(session),
      model: new ModelTab(session.store.state),
      ask: this.ask,
    };
    const show = (panel: Panel): void => session.store.dispatch({ type: "ui", changes: { panel } });
    this.#tabs = new Map(
      tabs.map(({ panel, label }) => [
        panel,
        h(
          "button",
          {
            type: "button",
            role: "tab",
            id: `tab-${panel}`,
            class: "tabs__tab",
            "aria-controls": `panel-${panel}`,
            onclick: () => show(panel),
          },
          label,
        ),
      ]),
    );
    this.#tablist = h("div", { class: "tabs", role: "tablist", "aria-label": "Inspector" }, ...this.#tabs.values());
    this.#tablist.addEventListener("keydown", (event) => this.#move(event, show));
    for (const [panel, part] of Object.entries(this.#parts)) {
      part.element.id = `panel-${panel}`;
      if (panel === "ask") continue;
      part.element.setAttribute("role", "tabpanel");
      part.element.setAttribute("aria-labelledby", `tab-${panel}`);
    }
    const close = iconButton("close", "Close the inspector", {
      class: "icon-button inspector__close",
      onclick: () => session.store.dispatch({ type: "ui", changes: { inspectorOpen: false } }),
    });
    this.element = h(
      "aside",
      { class: "inspector", "aria-label": "Inspector" },
      h("div", { class: "inspector__top" }, this.#tablist, close),
      ...Object.values(this.#parts).map((part) => part.element),
    );
  }

  render(state: AppState): void {
    const { panel, inspectorOpen } = state.ui;
    for (const [name, tab] of this.#tabs) {
      setAttribute(tab, "aria-selected", String(name === panel));
      // With the questions shown no tab is selected; the first one is then the way back for the keyboard.
      setAttribute(tab, "tabindex", name === panel || (panel === "ask" && name === "canvas") ? "0" : "-1");
    }
    for (const [name, part] of Object.entries(this.#parts)) {
      const shown = inspectorOpen && name === panel;
      part.element.hidden = !shown;
      if (shown) part.render(state);
    }
  }

  #move(event: KeyboardEvent, show: (panel: Panel) => void): void {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0 || event.ctrlKey || event.altKey) return;
    const at = tabs.findIndex(({ panel }) => this.#tabs.get(panel) === document.activeElement);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (!next) return;
    show(next.panel);
    this.#tabs.get(next.panel)?.focus();
    event.preventDefault();
  }
}
