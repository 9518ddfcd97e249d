// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The two small pictures of a canvas: its mean entropy, falling, and how many words were accepted in each step.

import { h, svg } from "../dom";

const width = 280;

/** The mean entropy over the steps, with a dotted line to where the cap lies. */
export class EntropyCurve {
  readonly element: HTMLElement;
  readonly #line = svg("path", { class: "curve__line" });
  readonly #rest = svg("path", { class: "curve__rest" });
  readonly #dot = svg("circle", { class: "curve__dot", r: 4 });
  #shown = "";

  constructor() {
    const base = svg("line", { class: "curve__base", x1: 0, x2: width, y1: 62, y2: 62 });
    const picture = svg(
      "svg",
      { viewBox: `0 0 ${width} 66`, "aria-hidden": "true" },
      base,
      this.#rest,
      this.#line,
      this.#dot,
    );
    this.element = h("div", { class: "curve" }, picture);
  }

  render(curve: readonly (number | null)[], maxSteps: number, at: number): void {
    const shown = `${curve.join()} ${maxSteps} ${at}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const highest = Math.max(0.5, ...curve.map((value) => value ?? 0));
    const x = (step: number): number => ((step - 1) / Math.max(1, maxSteps - 1)) * (width - 8) + 4;
    const y = (value: number): number => 62 - (value / highest) * 54;
    const points = curve.flatMap((value, i) => (value === null ? [] : [{ x: x(i + 1), y: y(value), step: i + 1 }]));
    this.#line.setAttribute(
      "d",
      points.map((point, i) => `${i === 0 ? "M" : "L"}${point.x.toFixed(1)} ${point.y.toFixed(1)}`).join(""),
    );
    const end = points.at(-1);
    this.#rest.setAttribute(
      "d",
      end && end.step < maxSteps ? `M${end.x.toFixed(1)} ${end.y.toFixed(1)}L${width - 4} 61` : "",
    );
    const dot = points.findLast((point) => point.step <= at) ?? end;
    this.#dot.setAttribute("visibility", dot ? "visible" : "hidden");
    if (!dot) return;
    this.#dot.setAttribute("cx", dot.x.toFixed(1));
    this.#dot.setAttribute("cy", dot.y.toFixed(1));
  }
}

/** A bar for each step: how many positions the step accepted. */
export class AcceptedBars {
  readonly element: HTMLElement;
  readonly #bars = svg("g", {});
  #shown = "";

  constructor() {
    const base = svg("line", { class: "curve__base", x1: 0, x2: width, y1: 43, y2: 43 });
    this.element = h(
      "div",
      { class: "curve" },
      svg("svg", { viewBox: `0 0 ${width} 44`, "aria-hidden": "true" }, this.#bars, base),
    );
  }

  render(accepted: readonly (number | null)[], maxSteps: number): void {
    const shown = `${accepted.join()} ${maxSteps}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const steps = Math.max(maxSteps, accepted.length, 1);
    const pitch = width / steps;
    const highest = Math.max(1, ...accepted.map((value) => value ?? 0));
    this.#bars.replaceChildren(
      ...accepted.flatMap((value, i) => {
        if (value === null) return [];
        const height = Math.max(2, (value / highest) * 38);
        return [
          svg("rect", {
            class: "curve__bar",
            x: (i * pitch).toFixed(2),
            y: (42 - height).toFixed(2),
            width: Math.max(1, pitch * 0.7).toFixed(2),
            height: height.toFixed(2),
            rx: 1.5,
            opacity: (0.45 + (0.55 * (i + 1)) / accepted.length).toFixed(2),
          }),
        ];
      }),
    );
  }
}
