// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { announcement } from "../../../resources/web/src/state/announcements";
import type { AppState } from "../../../resources/web/src/state/app_state";
import { reduce } from "../../../resources/web/src/state/reduce";
import { parseServerMessage } from "../../../resources/web/src/wire/messages";
import { frame, openState, proposalMessage, runMessage } from "./samples";

/** What is said while these messages come in. */
function said(...messages: object[]): string[] {
  const sentences: string[] = [];
  messages.reduce<AppState>((before, message) => {
    const after = reduce(before, { type: "server", message: parseServerMessage(JSON.stringify(message)) as never });
    const sentence = announcement(before, after);
    if (sentence) sentences.push(sentence);
    return after;
  }, openState(parseServerMessage));
  return sentences;
}

const settled = { type: "settled", run: "r1", lane: 0, canvas: 0, text: "I have paid", steps: 19, stop: "converged" };

test("a run is told by its beginning, its canvases and its end, never by its steps", () => {
  const frames = [1, 2, 3, 4].map((step) => ({ type: "frame", n: 4, ...frame({ step }) }));
  const sentences = said(
    runMessage(),
    ...frames,
    settled,
    proposalMessage(),
    runMessage({ state: "done", proposal: "p1" }),
  );
  assert.deepEqual(sentences, ["Generating", "Canvas 1 settled after 19 steps", "Done, 9 words, 2 changes to decide"]);
});

test("stopping at the cap is said", () => {
  assert.deepEqual(said(runMessage(), { ...settled, stop: "cap" }), ["Generating", "Canvas 1 stopped at the cap"]);
});

test("pausing, going on and stopping", () => {
  assert.deepEqual(
    said(runMessage(), runMessage({ state: "paused" }), runMessage(), runMessage({ state: "stopped" })),
    ["Generating", "Paused", "Going on", "Stopped. The text is as it was"],
  );
});

test("waiting in the queue, failing, and finding nothing", () => {
  assert.deepEqual(said(runMessage({ state: "queued", position: 2 })), ["Waiting, 2 requests in front"]);
  assert.deepEqual(said(runMessage(), runMessage({ state: "failed", problem: "The model is gone." })), [
    "Generating",
    "The run failed. The model is gone.",
  ]);
  assert.deepEqual(said(runMessage(), runMessage({ state: "done" })), ["Generating", "Done, nothing to change"]);
});

test("a decided change tells how many are left", () => {
  const open = proposalMessage();
  const one = proposalMessage({
    changes: [
      { start: 7, end: 11, text: "paid", state: "accepted" },
      { start: 26, end: 34, text: "receipts", state: "open" },
    ],
  });
  assert.deepEqual(said(open, one), ["1 change left"]);
});
