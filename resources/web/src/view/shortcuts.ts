// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Keys of the whole page.

import { type Command, escape, keysOf } from "../client/commands";
import type { Session } from "../client/session";
import { keyName } from "../state/keys";
import { closeMenu } from "./menu";

/** A plain sign typed into a field is text, not a command. */
function isTyping(target: HTMLElement): boolean {
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** Fields have their own undo and their own Esc; the draft's are for the draft. */
function isPlainField(target: HTMLElement): boolean {
  return target.tagName === "INPUT" || target.tagName === "TEXTAREA";
}

const keysOfFields: readonly string[] = ["Ctrl+Z", "Ctrl+Y", "Ctrl+Shift+Z"];

/** Whether a key is for whatever has the focus, and not for the page. */
function belongsToFocus(name: string, target: HTMLElement): boolean {
  const isText = name.length === 1 || /^Shift\+.$/.test(name);
  return (isText && isTyping(target)) || (keysOfFields.includes(name) && isPlainField(target));
}

export function listenToKeys(session: Session, commands: readonly Command[]): void {
  const { store } = session;
  const hold = (key: "entropyHeld" | "originalHeld", held: boolean): void => {
    if (store.state.ui[key] !== held) store.dispatch({ type: "ui", changes: { [key]: held } });
  };

  const pressed = (event: KeyboardEvent): void => {
    // Esc and Enter belong to an input method that composes, and everything to a dialog that is open.
    if (event.isComposing || document.querySelector("dialog[open]")) return;
    const target = event.target as HTMLElement;
    hold("entropyHeld", event.key === "Alt" && !event.ctrlKey && !event.shiftKey && !event.metaKey);
    if (event.key === "F8") hold("originalHeld", true);
    const name = keyName(event);
    if (name === "Esc") {
      const isOwn = isPlainField(target) && target.id !== "instruction";
      if (closeMenu() || (!isOwn && escape(session))) event.preventDefault();
      return;
    }
    if (name === "" || belongsToFocus(name, target)) return;
    const command = commands.find((one) => keysOf(one, store.state).includes(name));
    if (!command) return;
    const isEnabled = command.isEnabled(store.state);
    // With nothing to accept, Ctrl+Enter runs what stands in the box.
    if (!isEnabled && isPlainField(target)) return;
    // A known key never falls through to the browser, which would reload or leave the page.
    event.preventDefault();
    event.stopPropagation();
    if (isEnabled) command.run(session);
  };

  const released = (event: KeyboardEvent): void => {
    if (event.key === "F8") hold("originalHeld", false);
    if (event.key !== "Alt") return;
    hold("entropyHeld", false);
    event.preventDefault(); // the browser's menu would take the focus
  };

  document.addEventListener("keydown", pressed, { capture: true });
  document.addEventListener("keyup", released);
  addEventListener("blur", () => {
    hold("entropyHeld", false);
    hold("originalHeld", false);
  });
}
