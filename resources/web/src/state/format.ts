// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Figures, times and reasons in the words that the studio uses. What is not known is a dash, never a guess.

import type { StopReason } from "../wire/runs";

export const dash = "–";
const thinSpace = "\u2009";

/** Groups of three digits: 20 260 611. */
export function grouped(value: number): string {
  return String(Math.trunc(value)).replace(/\B(?=(\d{3})+(?!\d))/g, thinSpace);
}

export function count(value: number | null): string {
  return value === null ? dash : grouped(value);
}

export function decimal(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined ? dash : value.toFixed(digits);
}

/** A rate or a time with as many digits as it is known to: 9.4, 38, 1 200. */
export function figure(value: number | null): string {
  if (value === null) return dash;
  return value < 10 ? value.toFixed(1) : grouped(Math.round(value));
}

export function seconds(ms: number | null): string {
  if (ms === null) return dash;
  return ms < 9950 ? `${(ms / 1000).toFixed(2)} s` : `${(ms / 1000).toFixed(1)} s`;
}

export function milliseconds(ms: number | null): string {
  return ms === null ? dash : `${figure(ms)} ms`;
}

export function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.5) return "< 1 %";
  return `${Math.round(value)} %`;
}

export function megabytes(bytes: number | null): string {
  if (bytes === null) return dash;
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

export function plural(amount: number, one: string, many: string): string {
  return `${grouped(amount)} ${amount === 1 ? one : many}`;
}

/** A message as a sentence: the engine's own begin with a small letter and end without a full stop. */
export function asSentence(message: string): string {
  const text = message.trim();
  const first = /^\p{Ll}+(?![\p{L}\p{N}_.])/u.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[\p{L}\p{N})”"]$/u.test(first) ? `${first}.` : first;
}

export function wordCount(text: string): number {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/gu)?.length ?? 0;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

function daysBetween(earlier: Date, later: Date): number {
  const midnight = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((midnight(later) - midnight(earlier)) / dayMs);
}

/** "now", "9 min ago", "yesterday", "Thursday", "12 Nov", "12 Nov 2024". */
export function whenInWords(timeMs: number, nowMs: number): string {
  const age = nowMs - timeMs;
  const date = new Date(timeMs);
  const now = new Date(nowMs);
  const days = daysBetween(date, now);
  if (age < minuteMs) return "now";
  if (age < 60 * minuteMs) return `${Math.floor(age / minuteMs)} min ago`;
  if (days === 0) return `${Math.floor(age / (60 * minuteMs))} h ago`;
  if (days === 1) return "yesterday";
  if (days < 7) return date.toLocaleDateString("en-GB", { weekday: "long" });
  const year = date.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...year });
}

/** Why a canvas came to rest: "settled after 17 of 48". */
export function stopInWords(stop: string, steps: number | null, maxSteps: number | null): string {
  const of =
    steps === null ? "" : maxSteps ? ` after ${steps} of ${maxSteps}` : ` after ${plural(steps, "step", "steps")}`;
  switch (stop as StopReason) {
    case "converged":
      return `settled${of}`;
    case "cap":
      return maxSteps || steps ? `stopped at the cap (${maxSteps || steps})` : "stopped at the cap";
    case "cancelled":
      return `stopped by you${of}`;
    default:
      return dash;
  }
}

/** How soon a text settled, in plain words: no number tells whether it is right. */
export function settledInWords(steps: number | null, maxSteps: number, stops: readonly string[]): string {
  if (stops.length === 0) return "your own";
  if (stops.some((stop) => stop !== "converged")) return "not settled";
  if (steps === null || maxSteps <= 0) return "settled";
  const share = steps / maxSteps / Math.max(1, stops.length);
  if (share < 0.25) return "settled early";
  return share < 0.6 ? "settled" : "settled late";
}

/** How a single word stands, from its entropy in hundredths of a nat. */
export function wordStandInWords(hundredthsOfNat: number, mark: string): string {
  if (mark === "#") return "locked";
  if (mark === "+") return "accepted in this step";
  if (mark === "=" || hundredthsOfNat < levelBorders[0]) return "settled";
  return hundredthsOfNat < levelBorders[2] ? "not settled yet" : "far from settled";
}

/**
 * How late a word settled, as a level of unrest: 0 in the first third of the steps, 4 not at all. What is looked at
 * after the run, when no word is unsettled any more.
 */
export function latenessLevel(unsettledUntil: number, steps: number): number {
  const share = steps > 1 ? unsettledUntil / steps : 0;
  if (share < 1 / 3) return 0;
  if (share < 2 / 3) return 1;
  return share < 1 ? 3 : 4;
}

/** Borders of the levels of unrest, in hundredths of a nat; the ramp of the design goes from 0 to 4 nats. */
const levelBorders = [10, 50, 120, 220, 330] as const;

/** 0 settled … 5 noise. */
export function entropyLevel(hundredthsOfNat: number): number {
  const level = levelBorders.findIndex((border) => hundredthsOfNat < border);
  return level < 0 ? levelBorders.length : level;
}
