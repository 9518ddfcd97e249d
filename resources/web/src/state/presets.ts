// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The buttons above the box. The server names them (its wording is what models were trained on); here is what the box
// says where a preset has no instruction to edit.

import type { Preset } from "../wire/status";

export const customPreset: Preset = { id: "custom", label: "Custom…", action: "rewrite", instruction: "" };

/** The preset with this id; the writer's own wish if there is none. */
export function presetOf(presets: readonly Preset[], id: string): Preset {
  return presets.find((preset) => preset.id === id) ?? customPreset;
}

/** What an empty box stands for. */
export function hintOf(preset: Preset): string {
  switch (preset.action) {
    case "proofread":
      return "Correct the spelling and grammar, keep my wording.";
    case "continue":
      return "Go on from the caret.";
    case "fill":
      return "Write what lies between.";
    default:
      return "Say what to do with the selection.";
  }
}
