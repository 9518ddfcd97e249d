// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A canvas under way, in the place of the text that it will replace. The element belongs to CodeMirror; what stands in
// it is painted from the newest frame, token by token, touching only what changed.

import { WidgetType } from "@codemirror/view";
import { entropyLevel, latenessLevel, wordStandInWords } from "../../state/format";
import type { CanvasContent } from "../../state/page_marks";
import type { Frame } from "../../wire/runs";
import { h, setAttribute, setText } from "../dom";

export interface CanvasHandlers {
  /** A word was clicked; `locks` with Alt. */
  word(frame: Frame, position: number, isHistory: boolean, locks: boolean): void;
}

/** One position: the space before the word, and the word. Shade and underline belong to the word alone. */
interface TokenView {
  space: Text;
  word: HTMLSpanElement;
  text: string;
  look: string;
}

function lookOf(frame: Frame, position: number, entropyShown: boolean, lateness: readonly number[] | null): string {
  const mark = frame.marks[position] ?? ".";
  if (mark === "#") return "token token--held";
  if (lateness) {
    const late = latenessLevel(lateness[position] ?? 0, frame.step);
    return late > 0 ? `token token--level-${late}` : "token";
  }
  const level = mark === "=" ? 0 : entropyLevel(frame.entropy[position] ?? 0);
  const accepted = mark === "+" ? " token--accepted" : "";
  return entropyShown && level > 0 ? `token token--level-${level}${accepted}` : `token${accepted}`;
}

/** Paints one canvas into whatever element shows it at the moment. */
class CanvasPainter {
  readonly #handlers: CanvasHandlers;
  #element: HTMLElement | null = null;
  #chip: HTMLElement | null = null;
  #settled: HTMLElement | null = null;
  #tokens: TokenView[] = [];
  #content: CanvasContent | null = null;

  constructor(handlers: CanvasHandlers) {
    this.#handlers = handlers;
  }

  /** Makes an element and shows the canvas in it from now on. */
  attach(): HTMLElement {
    this.#chip = h("span", { class: "canvas__chip", "aria-hidden": "true" });
    this.#settled = h("span", { class: "canvas__settled" });
    this.#tokens = [];
    this.#element = h("span", { class: "canvas", role: "group" }, this.#chip, this.#settled);
    this.#element.addEventListener("click", (event) => this.#clicked(event));
    this.#element.addEventListener("pointerover", (event) => this.#hovered(event));
    return this.#element;
  }

  /** The element of a position's word; null if it is not on the page. */
  wordElement(position: number): HTMLElement | null {
    const begin = this.#content?.frame?.show[0] ?? 0;
    return this.#tokens[position - begin]?.word ?? null;
  }

  paint(content: CanvasContent, entropyShown: boolean): void {
    this.#content = content;
    if (!this.#element || !this.#chip || !this.#settled) return;
    const { frame } = content;
    const label = `${content.name}, ${content.isHistory ? "an earlier step" : "under way"}`;
    setAttribute(this.#element, "aria-label", label);
    setText(this.#chip, frame ? `${content.name} · step ${frame.step}` : content.name);
    setText(this.#settled, content.settled);
    this.#paintTokens(frame, entropyShown, content.lateness);
  }

  #paintTokens(frame: Frame | null, entropyShown: boolean, lateness: readonly number[] | null): void {
    const [begin, end] = frame?.show ?? [0, 0];
    while (this.#tokens.length > end - begin) {
      const gone = this.#tokens.pop();
      gone?.space.remove();
      gone?.word.remove();
    }
    while (this.#tokens.length < end - begin) {
      const token: TokenView = { space: new Text(), word: h("span"), text: "", look: "" };
      this.#tokens.push(token);
      this.#element?.append(token.space, token.word);
    }
    if (!frame) return;
    this.#tokens.forEach((token, i) => {
      const position = begin + i;
      const text = frame.text[position] ?? "";
      if (text !== token.text) {
        const word = text.trimStart();
        token.text = text;
        token.space.data = text.slice(0, text.length - word.length);
        token.word.textContent = word;
      }
      const look = lookOf(frame, position, entropyShown, lateness);
      if (look !== token.look) token.word.className = token.look = look;
      token.word.dataset["position"] = String(position);
    });
  }

  #positionOf(event: Event): number | null {
    const position = event.target instanceof HTMLElement ? event.target.dataset["position"] : undefined;
    return position === undefined ? null : Number(position);
  }

  #hovered(event: Event): void {
    const frame = this.#content?.frame;
    const position = this.#positionOf(event);
    if (!frame || position === null || !(event.target instanceof HTMLElement)) return;
    event.target.title = wordStandInWords(frame.entropy[position] ?? 0, frame.marks[position] ?? ".");
  }

  #clicked(event: MouseEvent): void {
    const frame = this.#content?.frame;
    const position = this.#positionOf(event);
    if (!frame || position === null) return;
    event.preventDefault();
    this.#handlers.word(frame, position, this.#content?.isHistory ?? false, event.altKey);
  }
}

export class CanvasWidget extends WidgetType {
  readonly key: string;
  readonly #painters: CanvasPainters;

  constructor(key: string, painters: CanvasPainters) {
    super();
    this.key = key;
    this.#painters = painters;
  }

  override eq(other: CanvasWidget): boolean {
    return other.key === this.key;
  }

  override toDOM(): HTMLElement {
    return this.#painters.attach(this.key);
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

/** The painters of all canvases on the page, by key. */
export class CanvasPainters {
  readonly #handlers: CanvasHandlers;
  #painters = new Map<string, CanvasPainter>();
  #contents = new Map<string, CanvasContent>();
  #entropyShown = true;

  constructor(handlers: CanvasHandlers) {
    this.#handlers = handlers;
  }

  attach(key: string): HTMLElement {
    const painter = this.#painters.get(key) ?? new CanvasPainter(this.#handlers);
    this.#painters.set(key, painter);
    const element = painter.attach();
    const content = this.#contents.get(key);
    if (content) painter.paint(content, this.#entropyShown);
    return element;
  }

  /** Paints what is new, and forgets canvases that are gone. True if anything was painted. */
  paint(contents: ReadonlyMap<string, CanvasContent>, entropyShown: boolean): boolean {
    let painted = false;
    for (const [key, content] of contents) {
      const known = this.#contents.get(key);
      const same = known?.frame === content.frame && known?.settled === content.settled;
      if (same && entropyShown === this.#entropyShown) continue;
      this.#painters.get(key)?.paint(content, entropyShown);
      painted = true;
    }
    this.#contents = new Map(contents);
    this.#entropyShown = entropyShown;
    for (const key of this.#painters.keys()) if (!contents.has(key)) this.#painters.delete(key);
    return painted;
  }

  /** Where a word stands on the page, in whichever canvas shows this lane. */
  wordElement(run: string, lane: number, position: number): HTMLElement | null {
    for (const [key, content] of this.#contents) {
      if (content.run === run && content.lane === lane) return this.#painters.get(key)?.wordElement(position) ?? null;
    }
    return null;
  }
}
