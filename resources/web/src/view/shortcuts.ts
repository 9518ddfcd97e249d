// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Keys of the whole page.

import { type Command, escape, keysOf } from "../client/commands";
import type { Session } from "../client/session";
import { keyName } from "../state/keys";
import { closeMenu } from "./menu";

/** A plain sign typed into a field is text, not a command. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** Fields have their own undo; the draft's is for the draft. */
function isPlainField(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  return target.tagName === "INPUT" || target.tagName === "TEXTAREA";
}

export function listenToKeys(session: Session, commands: readonly Command[]): void {
  const { store } = session;
  const hold = (key: "entropyHeld" | "originalHeld", held: boolean): void => {
    if (store.state.ui[key] !== held) store.dispatch({ type: "ui", changes: { [key]: held } });
  };

  document.addEventListener(
    "keydown",
    (event) => {
      if (event.isComposing) return; // Esc and Enter belong to the input method then
      if (event.key === "Alt") hold("entropyHeld", !event.ctrlKey && !event.shiftKey && !event.metaKey);
      else hold("entropyHeld", false);
      if (event.key === "F8") {
        hold("originalHeld", true);
        event.preventDefault();
        return;
      }
      const name = keyName(event);
      if (name === "Esc") {
        if (closeMenu() || escape(session)) event.preventDefault();
        return;
      }
      const isText = name.length === 1 || name.startsWith("Shift+");
      if (name === "" || (isText && isTyping(event) && !name.includes("F"))) return;
      if (
        ["Ctrl+Z", "Ctrl+Y", "Ctrl+Shift+Z", "Ctrl+Enter"].includes(name) &&
        isPlainField(event) &&
        name !== "Ctrl+Enter"
      )
        return;
      const command = commands.find((one) => keysOf(one, store.state).includes(name));
      if (!command) return;
      // A known key never falls through to the browser, which would reload or leave the page.
      event.preventDefault();
      event.stopPropagation();
      if (command.isEnabled(store.state)) command.run(session);
    },
    { capture: true },
  );
  document.addEventListener("keyup", (event) => {
    if (event.key === "Alt") {
      hold("entropyHeld", false);
      event.preventDefault(); // the browser's menu would take the focus
    }
    if (event.key === "F8") hold("originalHeld", false);
  });
  addEventListener("blur", () => {
    hold("entropyHeld", false);
    hold("originalHeld", false);
  });
}
