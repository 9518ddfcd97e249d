// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allCommands } from "../../../resources/web/src/client/commands";
import { redo, undo } from "../../../resources/web/src/client/draft";
import { Session } from "../../../resources/web/src/client/session";
import { Store } from "../../../resources/web/src/client/store";
import { defaultPreferences, initialState } from "../../../resources/web/src/state/app_state";
import { FakeSocket } from "./fake_browser";
import { draftMessage, frame, proposalMessage, runMessage } from "./samples";

const hello = {
  type: "hello",
  protocol: 1,
  client: "1",
  status: { state: "ready", progress: 1, running: 0, waiting: 0, windows: 1 },
};

interface Sent {
  type: string;
  ref?: number;
  [field: string]: unknown;
}

/** A session with the text "abc" open, and what it sends from then on. */
function opened(text = "abc") {
  const store = new Store(initialState(defaultPreferences));
  const session = new Session(store, "ws://127.0.0.1/ws");
  session.connect();
  const socket = FakeSocket.all.at(-1) as FakeSocket;
  socket.open();
  store.dispatch({ type: "opening", document: "d1" });
  socket.receive(hello);
  socket.receive(JSON.parse(draftMessage({ text, version: 1, locks: [] })));
  socket.sent.length = 0;
  return { store, session, socket, sent: socket.sent as Sent[] };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function type(of: ReturnType<typeof opened>, start: number, end: number, text: string): void {
  of.store.dispatch({ type: "typed", edit: { start, end, text, typing: true } });
  of.session.flush();
}

/** Answers the newest request of a type. */
function answer(of: ReturnType<typeof opened>, type: string, fields: object): Promise<void> {
  const request = of.sent.findLast((one) => one.type === type);
  of.socket.receive({ type: "reply", ref: request?.ref, ...fields });
  return settle();
}

const edits = (sent: Sent[]): Sent[] => sent.filter((one) => one.type === "edit");

describe("typing", () => {
  test("goes out one edit at a time; what is typed meanwhile is joined into the next", async () => {
    const window = opened();
    for (const [at, letter] of [..."xyz"].entries()) type(window, 3 + at, 3 + at, letter);
    assert.deepEqual(
      edits(window.sent).map((one) => one["text"]),
      ["x"],
    );
    await answer(window, "edit", { version: 2, start: 3, end: 3 });
    assert.deepEqual(
      edits(window.sent).map((one) => [one["version"], one["start"], one["text"]]),
      [
        [1, 3, "x"],
        [2, 4, "yz"],
      ],
    );
  });

  test("waits while an input method composes", () => {
    const window = opened();
    window.session.setComposing(true);
    type(window, 3, 3, "n");
    type(window, 3, 4, "に");
    assert.equal(edits(window.sent).length, 0);
    window.session.setComposing(false);
    assert.deepEqual(
      edits(window.sent).map((one) => one["text"]),
      ["に"],
    );
  });

  test("is idle only when the server has all of it", async () => {
    const window = opened();
    type(window, 3, 3, "x");
    let isIdle = false;
    const idle = window.session.idle().then(() => (isIdle = true));
    await settle();
    assert.equal(isIdle, false);
    await answer(window, "edit", { version: 2, start: 3, end: 3 });
    await idle;
  });

  test("is kept when the server put an edit elsewhere: the draft is fetched anew", async () => {
    const window = opened();
    type(window, 3, 3, "x");
    type(window, 4, 4, "y");
    await answer(window, "edit", { version: 2, start: 0, end: 0 });
    assert.equal(window.sent.at(-1)?.type, "open");
    window.socket.receive(JSON.parse(draftMessage({ text: "abcx", version: 2, locks: [] })));
    assert.equal(window.store.state.draft?.text, "abcxy");
    assert.equal(edits(window.sent).at(-1)?.["text"], "y");
  });
});

describe("undo and redo by key", () => {
  const commands = allCommands({} as never);
  const isEnabled = ({ store }: ReturnType<typeof opened>, id: string): boolean | undefined =>
    commands.find((one) => one.id === id)?.isEnabled(store.state);
  const tell = ({ socket }: ReturnType<typeof opened>, undo: string | null, redo: string | null): void =>
    socket.receive({ type: "undoable", document: "d1", undo, redo });

  test("are there while the server has not told what can be undone", async () => {
    const window = opened();
    tell(window, null, null);
    assert.deepEqual([isEnabled(window, "undo"), isEnabled(window, "redo")], [false, false]);
    type(window, 3, 3, "x");
    assert.equal(isEnabled(window, "undo"), true);
    tell(window, "typing", null);
    await answer(window, "edit", { version: 2, start: 3, end: 3 });
    assert.deepEqual([isEnabled(window, "undo"), isEnabled(window, "redo")], [true, false]);

    const undone = undo(window.session);
    await settle();
    const edit = { type: "edited", document: "d1", version: 3, start: 3, end: 4, text: "", by: null, cause: "undo" };
    window.socket.receive(edit); // the text comes first
    assert.equal(isEnabled(window, "redo"), true);
    const redone = redo(window.session);
    await settle();
    tell(window, null, "typing");
    await answer(window, "undo", { version: 3 });
    await undone;
    tell(window, "typing", null);
    await answer(window, "redo", { version: 4 });
    await redone;
    assert.deepEqual([isEnabled(window, "undo"), isEnabled(window, "redo")], [true, false]);
  });
});

describe("a lost connection", () => {
  test("keeps what is typed meanwhile, opens the draft again and sends it", async () => {
    const window = opened();
    type(window, 3, 3, "x");
    window.socket.close();
    type(window, 4, 4, "yz");
    assert.equal(window.store.state.connection.phase, "lost");
    await assert.rejects(window.session.idle());

    window.session.connect();
    const socket = FakeSocket.all.at(-1) as FakeSocket;
    socket.open();
    socket.receive(hello);
    assert.ok(socket.sent.some((one) => one.type === "open"));
    socket.receive(JSON.parse(draftMessage({ text: "abcx", version: 2, locks: [] })));
    assert.equal(window.store.state.draft?.text, "abcxyz");
    assert.deepEqual(
      edits(socket.sent as Sent[]).map((one) => [one["version"], one["text"]]),
      [[2, "yz"]],
    );
  });
});

test("of each lane the newest frame that was painted is confirmed", () => {
  const window = opened();
  window.socket.receive(runMessage());
  for (const step of [1, 2, 3]) window.socket.receive({ type: "frame", n: 4, ...frame({ step }) });
  window.session.confirmFrames();
  window.session.confirmFrames();
  assert.deepEqual(
    window.sent.filter((one) => one.type === "seen"),
    [{ type: "seen", run: "r1", lane: 0, canvas: 0, step: 3 }],
  );
});

test("why a run proposed nothing is told once", () => {
  const window = opened();
  window.socket.receive(runMessage());
  const done = runMessage({ state: "done", problem: "Nothing to correct was found." });
  window.socket.receive(done);
  window.socket.receive(done);
  assert.deepEqual(
    window.store.state.notices.map((notice) => notice.text),
    ["Nothing to correct was found."],
  );
});

test("what was held back of a proposal is told once", () => {
  const window = opened();
  const noted = proposalMessage({ changes: [], note: "One correction was held back: it had no like in the text." });
  window.socket.receive(noted);
  window.socket.receive(noted);
  assert.equal(window.store.state.notices.length, 1);
});

test("the list of drafts comes with the answer, unless the writer has typed on", async () => {
  const window = opened();
  const entry = { id: "d1", title: "Letter", excerpt: "", modified: 0, revisions: 1, binned: false };
  const asked = window.session.watchLibrary("", false);
  await answer(window, "library.watch", { documents: [entry] });
  await asked;
  assert.equal(window.store.state.library.documents?.length, 1);
  window.store.dispatch({ type: "watching", query: "harbour", binned: false });
  const late = window.session.watchLibrary("har", false);
  await answer(window, "library.watch", { documents: [] });
  await late;
  assert.equal(window.store.state.library.documents?.length, 1);
});
