// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The canvas as a map: one cell a position, shaded by how unsettled it is. With arrow keys one cell is looked at, and
// Enter shows what else may stand there, so that every word can be reached without a pointer.

import { entropyLevel, wordStandInWords } from "../../state/format";
import type { Frame } from "../../wire/runs";
import { h, setAttribute } from "../dom";

export class CellMap {
  readonly element: HTMLElement;
  readonly #columns: number;
  /** Opens the card of a position. */
  onOpen: ((position: number, locks: boolean) => void) | null = null;
  #cells: HTMLElement[] = [];
  #looks: string[] = [];
  #frame: Frame | null = null;
  #cursor = 0;

  constructor(columns: number, isReachable: boolean) {
    this.#columns = columns;
    this.element = h("div", {
      class: columns === 32 ? "cell-map cell-map--wide" : "cell-map",
      ...(isReachable
        ? {
            tabindex: "0",
            role: "slider",
            "aria-label": "Words of the canvas",
            "aria-valuemin": 0,
            "aria-valuemax": 0,
            "aria-valuenow": 0,
          }
        : { "aria-hidden": "true" }),
    });
    if (!isReachable) return;
    this.element.addEventListener("keydown", (event) => this.#pressed(event));
    this.element.addEventListener("click", (event) => {
      const cell = event.target instanceof HTMLElement ? event.target.dataset["cell"] : undefined;
      if (cell !== undefined) this.onOpen?.(Number(cell), event.altKey);
    });
    this.element.addEventListener("pointerover", (event) => {
      if (event.target instanceof HTMLElement && event.target.dataset["cell"] !== undefined) {
        event.target.title = this.#describe(Number(event.target.dataset["cell"]));
      }
    });
    this.element.addEventListener("focus", () => this.#look(this.#cursor));
    this.element.addEventListener("blur", () => this.#cells[this.#cursor]?.classList.remove("cell--cursor"));
  }

  /** The frame shown; null: an empty map of so many cells. */
  render(frame: Frame | null, cells = frame?.text.length ?? 256): void {
    this.#frame = frame;
    while (this.#cells.length > cells) this.#cells.pop()?.remove();
    while (this.#cells.length < cells) {
      const cell = h("i", { class: "cell", "data-cell": this.#cells.length });
      this.#cells.push(cell);
      this.element.append(cell);
    }
    this.#looks.length = cells;
    this.#cells.forEach((cell, i) => {
      const look = frame ? this.#lookOf(frame, i) : "cell";
      if (look === this.#looks[i]) return;
      cell.className = this.#looks[i] = look;
    });
    if (this.element.hasAttribute("role")) setAttribute(this.element, "aria-valuemax", String(Math.max(0, cells - 1)));
  }

  #lookOf(frame: Frame, position: number): string {
    const mark = frame.marks[position] ?? ".";
    if (mark === "-") return "cell";
    if (mark === "#") return "cell cell--level-0 cell--held";
    const level = mark === "=" ? 0 : entropyLevel(frame.entropy[position] ?? 0);
    return `cell cell--level-${level}`;
  }

  #describe(position: number): string {
    const frame = this.#frame;
    if (!frame) return "";
    const mark = frame.marks[position] ?? ".";
    const word = (frame.text[position] ?? "").trim();
    if (mark === "-" || word === "") return `Position ${position + 1}: empty`;
    return `Position ${position + 1}: ${word}, ${wordStandInWords(frame.entropy[position] ?? 0, mark)}`;
  }

  #look(position: number): void {
    this.#cells[this.#cursor]?.classList.remove("cell--cursor");
    this.#looks[this.#cursor] = ""; // painted anew with the next frame
    this.#cursor = Math.max(0, Math.min(position, this.#cells.length - 1));
    this.#cells[this.#cursor]?.classList.add("cell--cursor");
    setAttribute(this.element, "aria-valuenow", String(this.#cursor));
    setAttribute(this.element, "aria-valuetext", this.#describe(this.#cursor));
  }

  #pressed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey) return;
    const moves: Record<string, number> = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: this.#columns,
      ArrowUp: -this.#columns,
      Home: -Infinity,
      End: Infinity,
    };
    const by = moves[event.key];
    if (by !== undefined) this.#look(this.#cursor + by);
    else if (event.key === "Enter" || event.key === " ") this.onOpen?.(this.#cursor, event.altKey);
    else return;
    event.preventDefault();
  }
}
