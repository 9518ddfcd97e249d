// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseServerMessage } from "../../../resources/web/src/wire/messages";
import { parseAlternatives, parseFrame, parseHistory } from "../../../resources/web/src/wire/runs";
import { draftMessage, frame, proposalMessage, runMessage } from "./samples";

function read(message: object) {
  return parseServerMessage(JSON.stringify(message));
}

describe("server messages", () => {
  test("a draft, with what is left out filled in", () => {
    const message = parseServerMessage(draftMessage());
    assert.equal(message?.type, "document");
    if (message?.type !== "document") return;
    assert.equal(message.draft.version, 4);
    assert.deepEqual(message.draft.settings, { sampler: { maxSteps: 30 }, seed: null });
    assert.equal(message.draft.redo, null);
  });

  test("the greeting names status and presets", () => {
    const status = {
      state: "ready",
      progress: 1,
      model: { id: "demo", canvasLength: 256, thinking: true, defaults: { maxSteps: 48 } },
      running: 0,
      waiting: 2,
      windows: 1,
    };
    const presets = [{ id: "formal", label: "More formal", action: "rewrite", instruction: "Make it more formal." }];
    const hello = read({ type: "hello", protocol: 1, client: "w1", version: "0.2", status, presets });
    assert.equal(hello?.type === "hello" && hello.status.model?.id, "demo");
    assert.equal(hello?.type === "hello" && hello.status.stepMs, null);
    assert.equal(hello?.type === "hello" && hello.presets[0]?.action, "rewrite");
  });

  test("a run without figures has none, not zeros", () => {
    const run = read(runMessage());
    assert.equal(run?.type === "run" && run.run.figures, null);
    const done = read(runMessage({ state: "done", figures: { steps: 9, wordsPerSecond: null } }));
    assert.deepEqual(done?.type === "run" && [done.run.figures?.steps, done.run.figures?.wordsPerSecond], [9, null]);
  });

  test("an unknown type is ignored, an unknown state is not an error", () => {
    assert.equal(read({ type: "weather", wind: 4 }), null);
    assert.equal(read({ type: "toString" }), null);
    const run = read(runMessage({ state: "dreaming" }));
    assert.equal(run?.type === "run" && run.run.state, "running");
  });

  test("unknown fields are ignored", () => {
    const message = read({ type: "title", document: "d1", title: "New", colour: "blue" });
    assert.deepEqual(message, { type: "title", document: "d1", title: "New" });
  });

  const malformed: [string, string][] = [
    ["not JSON", "{"],
    ["a list", "[]"],
    ["no type", "{}"],
    [
      "a text for a number",
      JSON.stringify({ type: "edited", document: "d", version: "4", start: 0, end: 0, text: "" }),
    ],
    ["a missing text", JSON.stringify({ type: "edited", document: "d", version: 4, start: 0, end: 0 })],
    ["a run without lanes' places", JSON.stringify(runMessage({ lanes: [{}] }))],
    ["a proposal without alternatives", JSON.stringify(proposalMessage({ alternatives: undefined }))],
    ["a draft without text", draftMessage({ text: undefined })],
  ];
  for (const [name, text] of malformed) {
    test(`${name} is refused`, () => assert.throws(() => parseServerMessage(text)));
  }
});

describe("frames", () => {
  const wire = (changes: object = {}) => ({ ...frame(), n: 4, ...changes });

  test("are read", () => assert.deepEqual(parseFrame(wire()).show, [0, 3]));

  for (const [name, changes] of [
    ["fewer texts than positions", { text: ["I"] }],
    ["fewer entropies", { entropy: [1] }],
    ["fewer marks", { marks: "=" }],
  ] as const) {
    test(`${name} are refused`, () => assert.throws(() => parseFrame(wire(changes)), TypeError));
  }
});

test("a canvas under way has no reason for stopping", () => {
  const [lane] = parseHistory({
    lanes: [{ canvases: [{ steps: 3, maxSteps: 48, meanEntropy: [3, 2, 1], accepted: [1, 4, 9] }] }],
  });
  assert.equal(lane?.[0]?.stop, null);
});

test("alternatives of a word", () => {
  const { alternatives } = parseAlternatives({
    entropy: 1.4,
    alternatives: [{ id: 3, text: " fees", probability: 0.12 }],
  });
  assert.equal(alternatives[0]?.text, " fees");
});
