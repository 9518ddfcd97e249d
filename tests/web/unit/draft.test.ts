// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AppState } from "../../../resources/web/src/state/app_state";
import { needsFetching, reduce } from "../../../resources/web/src/state/reduce";
import { inspectedLane, liveRun } from "../../../resources/web/src/state/reduce_runs";
import { paragraphAt, scopeInWords, spanFor } from "../../../resources/web/src/state/scope";
import { localText, takeNext } from "../../../resources/web/src/state/text_sync";
import { parseServerMessage } from "../../../resources/web/src/wire/messages";
import { draftMessage, draftOf, frame, openState, proposalMessage, runMessage, text } from "./samples";

function receive(state: AppState, message: object): AppState {
  const read = parseServerMessage(JSON.stringify(message));
  assert.ok(read);
  return reduce(state, { type: "server", message: read });
}

function type(state: AppState, start: number, end: number, insert: string): AppState {
  return reduce(state, { type: "typed", edit: { start, end, text: insert, typing: true } });
}

const open = (changes: object = {}): AppState => openState(parseServerMessage, changes);

describe("a draft that is open", () => {
  test("typing is shown at once and moves locks, runs and changes", () => {
    let state = receive(receive(open(), runMessage()), proposalMessage());
    state = type(state, 0, 0, "Yes, ");
    const draft = draftOf(state);
    assert.equal(draft.text, `Yes, ${text}`);
    assert.equal(localText(draft.sync), draft.text);
    assert.deepEqual(draft.locks, [{ start: 7, end: 11 }]);
    assert.equal(draft.runs[0]?.run.lanes[0]?.start, 5);
    assert.equal(draft.proposals[0]?.changes[0]?.start, 12);
  });

  test("places in messages are those of the confirmed text", () => {
    const state = receive(type(open(), 0, 0, "Yes, "), proposalMessage());
    assert.equal(draftOf(state).proposals[0]?.changes[0]?.start, 12);
  });

  test("somebody else's edit is put under what was typed meanwhile", () => {
    let state = type(open(), text.length, text.length, " Yours");
    state = receive(state, {
      type: "edited",
      document: "d1",
      version: 5,
      start: 0,
      end: 1,
      text: "We",
      by: "w2",
      cause: "typing",
    });
    assert.equal(draftOf(state).text, `We${text.slice(1)} Yours`);
    assert.equal(draftOf(state).sync.version, 5);
  });

  test("a missing version asks for the draft anew, and what was typed is kept", () => {
    let state = type(open(), 0, 0, "Yes, ");
    state = receive(state, {
      type: "edited",
      document: "d1",
      version: 9,
      start: 0,
      end: 0,
      text: "x",
      by: null,
      cause: "undo",
    });
    assert.ok(needsFetching(state.draft));
    state = reduce(state, {
      type: "server",
      message: parseServerMessage(draftMessage({ version: 9, text: `x${text}` })) as never,
    });
    assert.ok(!needsFetching(state.draft));
    assert.equal(draftOf(state).text, `xYes, ${text}`);
  });

  test("messages about another draft change nothing", () => {
    const state = open();
    assert.equal(receive(state, { type: "title", document: "d2", title: "Other" }), state);
    assert.equal(receive(state, runMessage({ document: "d2" })).draft?.runs.length, 0);
  });

  test("a draft that is gone is closed", () => {
    const state = receive(open(), { type: "document.gone", document: "d1" });
    assert.equal(state.draft, null);
    assert.equal(state.documentId, null);
  });

  test("a run that is opened again keeps what its window had seen", () => {
    let state = receive(open(), runMessage());
    state = reduce(state, { type: "server", message: { type: "frame", frame: frame({ step: 3 }) } });
    state = reduce(state, {
      type: "server",
      message: parseServerMessage(draftMessage({ runs: [runMessage()] })) as never,
    });
    assert.equal(draftOf(state).runs[0]?.lanes[0]?.frame?.step, 3);
  });

  test("a queue of edits goes out one at a time", () => {
    const state = type(type(open(), 0, 0, "a"), 10, 10, "b");
    const { send, sync } = takeNext(draftOf(state).sync);
    assert.equal(send?.text, "a");
    assert.equal(takeNext(sync).send, null);
  });
});

describe("runs", () => {
  test("a skipped frame leaves a gap in the curve", () => {
    let state = receive(open(), runMessage());
    for (const step of [1, 4])
      state = reduce(state, {
        type: "server",
        message: { type: "frame", frame: frame({ step, meanEntropy: 5 - step }) },
      });
    assert.deepEqual(draftOf(state).runs[0]?.lanes[0]?.meanEntropy, [4, null, null, 1]);
  });

  test("a new canvas begins a new curve, and the settled one is kept", () => {
    let state = receive(open(), runMessage());
    state = reduce(state, { type: "server", message: { type: "frame", frame: frame({ step: 9 }) } });
    state = receive(state, {
      type: "settled",
      run: "r1",
      lane: 0,
      canvas: 0,
      text: "I have paid",
      steps: 9,
      stop: "converged",
    });
    state = reduce(state, { type: "server", message: { type: "frame", frame: frame({ canvas: 1, step: 1 }) } });
    const lane = draftOf(state).runs[0]?.lanes[0];
    assert.equal(lane?.meanEntropy.length, 1);
    assert.equal(lane?.settled[0]?.text, "I have paid");
  });

  test("the one that goes on is the one to stop", () => {
    let state = receive(open(), runMessage());
    assert.equal(liveRun(state.draft)?.run.id, "r1");
    state = receive(state, runMessage({ state: "paused" }));
    assert.equal(liveRun(state.draft)?.run.state, "paused");
    state = receive(state, runMessage({ state: "stopped" }));
    assert.equal(liveRun(state.draft), null);
    assert.equal(inspectedLane(draftOf(state))?.view.run.id, "r1");
  });

  test("frames of a run that nobody knows are left out", () => {
    const state = open();
    const after = reduce(state, { type: "server", message: { type: "frame", frame: frame({ run: "r9" }) } });
    assert.deepEqual(draftOf(after).runs, []);
  });
});

describe("what a wish is about", () => {
  const at = (start: number, end: number) => ({ ...draftOf(open()), selection: { start, end } });

  test("the selection, if there is one", () => assert.deepEqual(spanFor(at(2, 6), "rewrite"), { start: 2, end: 6 }));
  test("else the paragraph at the caret", () =>
    assert.deepEqual(spanFor(at(25, 25), "renoise"), { start: 23, end: text.length }));
  test("for a proofreading the whole draft", () =>
    assert.deepEqual(spanFor(at(3, 3), "proofread"), { start: 0, end: 0 }));
  test("for a fill the place behind the selection", () =>
    assert.deepEqual(spanFor(at(2, 6), "fill"), { start: 6, end: 6 }));
  test("a draft just opened is continued at its end", () =>
    assert.deepEqual(spanFor(at(0, 0), "continue"), { start: text.length, end: text.length }));
  test("is said in words", () => {
    assert.equal(scopeInWords(at(2, 6), "rewrite"), "Selection · 1 word");
    assert.equal(scopeInWords(at(3, 3), "proofread"), "Whole draft · 9 words");
    assert.equal(scopeInWords(at(3, 3), "rewrite"), "This paragraph · 5 words");
  });
  test("paragraphs at the ends", () => {
    assert.deepEqual(paragraphAt("", 0), { start: 0, end: 0 });
    assert.deepEqual(paragraphAt("a\nb", 0), { start: 0, end: 1 });
    assert.deepEqual(paragraphAt("a\nb", 2), { start: 2, end: 3 });
    assert.deepEqual(paragraphAt("a\n", 2), { start: 2, end: 2 });
  });
});
