// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Revisions in the words of the history. Pure.

import type { Revision } from "../wire/drafts";
import { plural, stopInWords, whenInWords } from "./format";

/** What a revision is called. */
export function revisionTitle(revision: Revision): string {
  if (revision.label) return revision.label;
  switch (revision.kind) {
    case "human":
      return revision.words > 0 ? `You typed ${plural(revision.words, "word", "words")}` : "You edited";
    case "model":
      return (
        {
          proofread: "Proofread",
          rewrite: "Rewritten",
          renoise: "Re-noised",
          fill: "Filled in",
          continue: "Continued",
        }[revision.action] ?? "Written by the model"
      );
    case "restored":
      return "Restored";
    case "imported":
      return "Imported";
  }
}

/** "2 min ago · model, seed 20260611 · settled after 17 of 48". */
export function revisionDetails(revision: Revision, nowMs: number): string {
  const when = whenInWords(revision.createdMs, nowMs);
  if (revision.kind !== "model") return when;
  const seed = revision.seed === null ? "model" : `model, seed ${revision.seed}`;
  const single = (revision.canvases ?? 1) <= 1;
  const steps = single ? revision.steps : null;
  const stop = revision.stop
    ? stopInWords(revision.stop, steps, single ? (revision.sampler.maxSteps ?? null) : null)
    : "";
  return [when, seed, stop].filter((part) => part && part !== "–").join(" · ");
}
