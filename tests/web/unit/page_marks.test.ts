// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AppState } from "../../../resources/web/src/state/app_state";
import { currentChange, openChanges, pageMarks } from "../../../resources/web/src/state/page_marks";
import { reduce } from "../../../resources/web/src/state/reduce";
import { parseServerMessage } from "../../../resources/web/src/wire/messages";
import { draftOf, frame, openState, proposalMessage, runMessage } from "./samples";

function state(...messages: object[]): AppState {
  return messages.reduce<AppState>(
    (before, message) => reduce(before, { type: "server", message: parseServerMessage(JSON.stringify(message)) as never }),
    openState(parseServerMessage),
  );
}

const kinds = (of: AppState): string[] => pageMarks(of).map((mark) => mark.kind);

describe("the page shows", () => {
  test("locks alone, where nothing runs", () => assert.deepEqual(kinds(state()), ["lock"]));

  test("where a run will write, until its first frame comes", () => assert.deepEqual(kinds(state(runMessage())), ["lock", "span"]));

  test("a canvas in the place of its span, as soon as there is a frame", () => {
    const marks = pageMarks(state(runMessage(), { type: "frame", n: 4, ...frame() }));
    const canvas = marks.find((mark) => mark.kind === "canvas");
    assert.ok(canvas?.kind === "canvas");
    assert.deepEqual([canvas.start, canvas.end, canvas.content.settled], [0, 21, ""]);
  });

  test("settled canvases in front of the one under way, and no stale frame", () => {
    const settled = { type: "settled", run: "r1", lane: 0, canvas: 0, text: "I have", steps: 9, stop: "converged" };
    const marks = pageMarks(state(runMessage(), { type: "frame", n: 4, ...frame() }, settled));
    const canvas = marks.find((mark) => mark.kind === "canvas");
    assert.ok(canvas?.kind === "canvas");
    assert.deepEqual([canvas.content.settled, canvas.content.frame], ["I have", null]);
  });

  test("one canvas where two would lie over each other", () => {
    const second = { type: "frame", n: 4, ...frame({ run: "r2" }) };
    const marks = kinds(state(runMessage(), { type: "frame", n: 4, ...frame() }, runMessage({ run: "r2", start: 5 }), second));
    assert.equal(marks.filter((kind) => kind === "canvas").length, 1);
  });

  test("changes that are open, and which of them is current", () => {
    const decided = proposalMessage({ changes: [{ start: 7, end: 12, text: "paid", state: "rejected" }, { start: 27, end: 35, text: "receipts", state: "open" }] });
    const changes = pageMarks(state(decided)).filter((mark) => mark.kind === "change");
    assert.equal(changes.length, 1);
    assert.ok(changes[0]?.kind === "change" && changes[0].current);
  });

  test("alternatives in a tray under their span", () => {
    const alternatives = [1, 2, 3].map((n) => ({ text: `Text ${n}`, seed: n, meanEntropy: 0.01, stops: ["converged"] }));
    assert.deepEqual(kinds(state(proposalMessage({ alternatives }))), ["lock", "span", "tray"]);
  });

  test("nothing of a proposal that is decided", () => {
    for (const decided of ["accepted", "rejected", "dropped"]) assert.deepEqual(kinds(state(proposalMessage({ state: decided }))), ["lock"]);
  });

  test("the original while its key is held", () => {
    const held = reduce(state(proposalMessage()), { type: "ui", changes: { originalHeld: true } });
    assert.deepEqual(kinds(held), ["lock"]);
  });
});

test("the change that was gone to stays current until it is decided", () => {
  const chosen = { ...draftOf(state(proposalMessage())), currentChange: { proposal: "p1", change: 1 } };
  assert.deepEqual(currentChange(chosen)?.change, 1);
  assert.equal(openChanges(chosen).length, 2);
  assert.equal(currentChange({ ...chosen, currentChange: { proposal: "p1", change: 9 } })?.change, 0);
  assert.equal(currentChange({ ...chosen, proposals: [] }), null);
});
