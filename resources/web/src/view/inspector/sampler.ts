// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The settings of the sampler and the seed.

import { changeSampler, changeSeed, resetSampler } from "../../client/draft";
import { runAgain } from "../../client/runs";
import type { Session } from "../../client/session";
import type { AppState } from "../../state/app_state";
import { dash, grouped } from "../../state/format";
import { type SamplerSetting, samplerSettings, settingOf } from "../../state/sampler_help";
import { button, h, setAttribute, setText } from "../dom";

interface Row {
  setting: SamplerSetting;
  slider: HTMLInputElement;
  value: HTMLElement;
}

export class SamplerView {
  readonly element: HTMLElement;
  readonly #session: Session;
  readonly #rows: Row[];
  readonly #seed: HTMLInputElement;
  readonly #seedShown = h("b", {});
  readonly #reset: HTMLButtonElement;
  readonly #help: HTMLButtonElement;
  readonly #again: HTMLButtonElement;

  constructor(session: Session) {
    this.#session = session;
    this.#rows = samplerSettings.map((setting) => this.#makeRow(setting));
    this.#seed = h("input", {
      class: "field",
      inputmode: "numeric",
      "aria-label": "Seed",
      placeholder: "a new one each time",
      maxlength: 16,
    });
    this.#seed.addEventListener("change", () => this.#seedChanged());
    this.#reset = button("Reset", {
      class: "text-button",
      title: "Gives every setting back to the model",
      onclick: () => resetSampler(session),
    });
    this.#help = button("What do these do?", {
      class: "text-button",
      "aria-expanded": "false",
      onclick: () => this.#toggleHelp(),
    });
    this.#again = button("Same seed again", {
      class: "text-button",
      onclick: () => session.attempt(runAgain(session, true)),
    });
    this.element = h(
      "section",
      { class: "sampler", "aria-label": "Sampler" },
      h("h2", { class: "heading" }, "Sampler ", this.#reset),
      ...this.#rows.map((row) => this.#rowElement(row)),
      h("label", { class: "pair pair--field" }, "Seed", this.#seed),
      h("div", { class: "pair" }, "Seed of the last run", this.#seedShown),
      h(
        "p",
        { class: "setting__help" },
        "The same seed with the same settings and the same text gives the same words.",
      ),
      h("div", { class: "sampler__foot" }, this.#again, this.#help),
    );
  }

  render(state: AppState): void {
    const { draft, status } = state;
    const own = draft?.settings.sampler ?? {};
    const defaults = status?.model?.defaults;
    for (const { setting, slider, value } of this.#rows) {
      const number = settingOf(setting.key, own, defaults);
      slider.disabled = draft === null || number === null;
      setText(value, number === null ? dash : number.toFixed(setting.digits));
      if (number === null) continue;
      if (document.activeElement !== slider) slider.value = String(number);
      slider.style.setProperty(
        "--share",
        String(Math.max(0, Math.min(1, (number - setting.min) / (setting.max - setting.min)))),
      );
      setAttribute(
        slider,
        "aria-valuetext",
        `${number.toFixed(setting.digits)}${own[setting.key] === undefined ? ", the model's own" : ""}`,
      );
    }
    this.#reset.disabled = Object.keys(own).length === 0;
    this.#seed.disabled = draft === null;
    const seed = draft?.settings.seed ?? null;
    if (document.activeElement !== this.#seed) this.#seed.value = seed === null ? "" : String(seed);
    const last = draft?.runs.at(-1)?.run.seed ?? null;
    setText(this.#seedShown, last === null ? dash : grouped(last));
    this.#again.disabled = last === null || state.connection.phase !== "open";
  }

  #makeRow(setting: SamplerSetting): Row {
    const { min, max, step, label } = setting;
    const slider = h("input", { type: "range", class: "slider", min, max, step, "aria-label": label });
    const value = h("b", {});
    slider.addEventListener("input", () => {
      setText(value, Number(slider.value).toFixed(setting.digits));
      slider.style.setProperty("--share", String((Number(slider.value) - min) / (max - min)));
    });
    slider.addEventListener("change", () => changeSampler(this.#session, { [setting.key]: Number(slider.value) }));
    return { setting, slider, value };
  }

  #rowElement({ setting, slider, value }: Row): HTMLElement {
    return h(
      "div",
      { class: "setting" },
      h("div", { class: "pair" }, setting.label, value),
      slider,
      h("p", { class: "setting__help" }, setting.help),
    );
  }

  #toggleHelp(): void {
    const shown = this.element.classList.toggle("sampler--help");
    setAttribute(this.#help, "aria-expanded", String(shown));
  }

  #seedChanged(): void {
    const digits = this.#seed.value.replace(/\D/g, "");
    const seed = digits === "" ? null : Number(digits);
    if (seed !== null && !Number.isSafeInteger(seed)) {
      this.#session.complain("A seed is a whole number below 9 007 199 254 740 992.");
      return;
    }
    changeSeed(this.#session, seed);
  }
}
