// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the model may be asked to do with a span of a draft.

export const actions = ["proofread", "rewrite", "renoise", "fill", "continue"] as const;
export type Action = (typeof actions)[number];

/** How much of a span is drawn anew when it is re-noised. */
export type Amount = "light" | "medium" | "full";
