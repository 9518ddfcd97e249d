// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The settings of the sampler: names, ranges, and what they do in plain words. Pure.

import type { Sampler } from "../wire/status";

export interface SamplerSetting {
  key: keyof Sampler;
  label: string;
  help: string;
  min: number;
  max: number;
  step: number;
  digits: number;
}

export const samplerSettings: readonly SamplerSetting[] = [
  {
    key: "maxSteps",
    label: "Most steps",
    help: "How often a canvas may be rewritten before it is taken as it stands. More steps take longer, and may settle better.",
    min: 1,
    max: 128,
    step: 1,
    digits: 0,
  },
  {
    key: "entropyBound",
    label: "Entropy bound",
    help: "How much doubt all words accepted in one step may have together. Lower: fewer words at a time, more steps, more care.",
    min: 0,
    max: 1,
    step: 0.01,
    digits: 2,
  },
  {
    key: "tMax",
    label: "Temperature, first step",
    help: "How daring the first step draws its words. Higher: more varied. Lower: the likeliest words.",
    min: 0.05,
    max: 2,
    step: 0.05,
    digits: 2,
  },
  {
    key: "tMin",
    label: "Temperature, last step",
    help: "How daring the last step is. The steps between go from the one to the other.",
    min: 0.05,
    max: 2,
    step: 0.05,
    digits: 2,
  },
  {
    key: "stability",
    label: "Steps unchanged",
    help: "How many steps the canvas must stay as it is before it counts as settled.",
    min: 1,
    max: 8,
    step: 1,
    digits: 0,
  },
  {
    key: "confidence",
    label: "Rest of doubt",
    help: "How little doubt a canvas may have left, on average, to count as settled. It says nothing about being right.",
    min: 0.001,
    max: 0.1,
    step: 0.001,
    digits: 3,
  },
];

/** The writer's setting, else the model's own; null if the server told neither. */
export function settingOf(key: keyof Sampler, own: Sampler, defaults: Sampler | undefined): number | null {
  return own[key] ?? defaults?.[key] ?? null;
}
