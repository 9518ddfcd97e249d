// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Keys as text: "Ctrl+Shift+Backspace". Pure.

/** What of a keyboard event tells which keys are down. */
export interface KeyPress {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/**
 * The combination as it is written in the list of keys. The Command key of a Mac counts as Ctrl. "" for a modifier
 * alone.
 */
export function keyName(press: KeyPress): string {
  if (["Control", "Shift", "Alt", "Meta", "AltGraph", "Dead", "Process"].includes(press.key)) return "";
  // With Alt held, layouts put other signs on letters and digits: the key's place says which one is meant.
  const digitOrLetter = /^(?:Digit(\d)|Key([A-Z]))$/.exec(press.code);
  const placed =
    press.altKey || press.ctrlKey || press.metaKey ? (digitOrLetter?.[1] ?? digitOrLetter?.[2]) : undefined;
  const key = placed ?? named(press.key);
  // A sign like "?" needs Shift on most layouts, and is itself what is meant.
  const isSign = key.length === 1 && key.toUpperCase() === key.toLowerCase() && placed === undefined;
  const modifiers = [
    press.ctrlKey || press.metaKey ? "Ctrl" : "",
    press.altKey ? "Alt" : "",
    press.shiftKey && !isSign ? "Shift" : "",
  ];
  return [...modifiers.filter(Boolean), key].join("+");
}

function named(key: string): string {
  const names: Record<string, string> = {
    " ": "Space",
    Escape: "Esc",
    ArrowLeft: "Left",
    ArrowRight: "Right",
    ArrowUp: "Up",
    ArrowDown: "Down",
  };
  return names[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}
