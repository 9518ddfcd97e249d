// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { type KeyPress, keyName } from "../../../resources/web/src/state/keys";

const press = (key: string, code: string, modifiers: Partial<KeyPress> = {}): string =>
  keyName({ key, code, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers });

test("combinations are written as in the list of keys", () => {
  assert.equal(press("k", "KeyK", { ctrlKey: true }), "Ctrl+K");
  assert.equal(press("Backspace", "Backspace", { ctrlKey: true, shiftKey: true }), "Ctrl+Shift+Backspace");
  assert.equal(press("F7", "F7", { shiftKey: true }), "Shift+F7");
  assert.equal(press("ArrowLeft", "ArrowLeft", { ctrlKey: true, altKey: true }), "Ctrl+Alt+Left");
  assert.equal(press("Escape", "Escape"), "Esc");
});

test("a modifier alone is no key", () => {
  for (const key of ["Alt", "Control", "Shift", "Meta"]) assert.equal(press(key, `${key}Left`), "");
});

test("a sign is itself, whatever has to be held for it", () => {
  assert.equal(press("?", "Slash", { shiftKey: true }), "?");
  assert.equal(press("?", "Minus", { shiftKey: true }), "?");
});

test("with Alt held, the place of the key counts: layouts put other signs there", () => {
  assert.equal(press("¡", "Digit1", { altKey: true }), "Alt+1");
  assert.equal(press("я", "KeyZ", { ctrlKey: true }), "Ctrl+Z");
});

test("the Command key of a Mac is Ctrl", () =>
  assert.equal(press("z", "KeyZ", { metaKey: true, shiftKey: true }), "Ctrl+Shift+Z"));
