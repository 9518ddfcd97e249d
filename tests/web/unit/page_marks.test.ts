// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AppState } from "../../../resources/web/src/state/app_state";
import { currentChange, openChanges, pageMarks } from "../../../resources/web/src/state/page_marks";
import { reduce } from "../../../resources/web/src/state/reduce";
import { placeOfChange, positionAt } from "../../../resources/web/src/state/word_places";
import { parseServerMessage } from "../../../resources/web/src/wire/messages";
import type { Proposal } from "../../../resources/web/src/wire/proposals";
import { draftOf, frame, openState, proposalMessage, runMessage } from "./samples";

function state(...messages: object[]): AppState {
  return messages.reduce<AppState>(
    (before, message) =>
      reduce(before, { type: "server", message: parseServerMessage(JSON.stringify(message)) as never }),
    openState(parseServerMessage),
  );
}

const kinds = (of: AppState): string[] => pageMarks(of).map((mark) => mark.kind);

describe("the page shows", () => {
  test("locks alone, where nothing runs", () => assert.deepEqual(kinds(state()), ["lock"]));

  test("where a run will write, until its first frame comes", () =>
    assert.deepEqual(kinds(state(runMessage())), ["lock", "span"]));

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
    const marks = kinds(
      state(runMessage(), { type: "frame", n: 4, ...frame() }, runMessage({ run: "r2", start: 5 }), second),
    );
    assert.equal(marks.filter((kind) => kind === "canvas").length, 1);
  });

  test("changes that are open, and which of them is current", () => {
    const decided = proposalMessage({
      changes: [
        { start: 7, end: 12, text: "paid", state: "rejected" },
        { start: 27, end: 35, text: "receipts", state: "open" },
      ],
    });
    const changes = pageMarks(state(decided)).filter((mark) => mark.kind === "change");
    assert.equal(changes.length, 1);
    assert.ok(changes[0]?.kind === "change" && changes[0].current);
  });

  test("alternatives in a tray under their span", () => {
    const alternatives = [1, 2, 3].map((n) => ({
      text: `Text ${n}`,
      seed: n,
      meanEntropy: 0.01,
      stops: ["converged"],
    }));
    assert.deepEqual(kinds(state(proposalMessage({ alternatives, action: "rewrite" }))), ["lock", "span", "tray"]);
  });

  test("a proofreading as changes, also where the writer has made a version of their own", () => {
    const alternatives = [1, 2].map((n) => ({ text: `Text ${n}`, seed: n, meanEntropy: 0.01, stops: ["converged"] }));
    assert.deepEqual(kinds(state(proposalMessage({ alternatives }))), ["lock", "change", "change"]);
  });

  test("nothing of a proposal that is decided", () => {
    for (const decided of ["accepted", "rejected", "dropped"])
      assert.deepEqual(kinds(state(proposalMessage({ state: decided }))), ["lock"]);
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

describe("from a change back to its word in the canvas", () => {
  const words = ["I", " have", " paid", " the", " fee", "."];
  const last = {
    type: "frame",
    n: 6,
    ...frame({ text: words, entropy: words.map(() => 0), marks: "======", show: [0, 6], last: true }),
  };
  const ended = () => draftOf(state(runMessage(), last, proposalMessage()));
  const proposal = () => ended().proposals[0] as Proposal;

  test("the position of its first letter", () => {
    assert.equal(placeOfChange(ended(), proposal(), 0)?.position, 2);
    assert.equal(positionAt(frame({ text: words, show: [0, 6] }), 0), 0);
    assert.equal(positionAt(frame({ text: words, show: [0, 6] }), 99), null);
  });

  test("none outside the lane, or where the canvas ended with other words", () => {
    assert.equal(placeOfChange(ended(), proposal(), 1), null);
    const other = proposalMessage({ changes: [{ start: 7, end: 12, text: "settled", state: "open" }] });
    const draft = draftOf(state(runMessage(), last, other));
    assert.equal(placeOfChange(draft, draft.proposals[0] as Proposal, 0), null);
  });
});

test("where the model hesitated is shown after the run, while the key is held", () => {
  const frames = [1, 2, 3].map((step) => ({
    type: "frame",
    n: 4,
    ...frame({ step, marks: step < 3 ? "==.-" : "===-" }),
  }));
  const done = state(runMessage(), ...frames, proposalMessage(), runMessage({ state: "done", proposal: "p1" }));
  assert.ok(!kinds(done).includes("canvas"));
  const held = pageMarks(reduce(done, { type: "ui", changes: { entropyHeld: true } })).find(
    (mark) => mark.kind === "canvas",
  );
  assert.deepEqual(held?.kind === "canvas" && held.content.lateness, [0, 0, 2, 0]);
});
