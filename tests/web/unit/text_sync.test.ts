// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type TextEdit,
  applied,
  cleanedText,
  editBetween,
  movedEdit,
  movedSpan,
} from "../../../resources/web/src/state/text_edit";
import {
  type TextSync,
  acknowledged,
  freshSync,
  isIdle,
  localText,
  longestInsertion,
  rebased,
  takeNext,
  withLocalEdit,
  withRemoteEdit,
} from "../../../resources/web/src/state/text_sync";
import { seeded } from "./samples";

const letters = "abcdefghij \n😀é";

function randomText(below: (n: number) => number, length: number): string {
  return Array.from({ length }, () => [...letters][below([...letters].length)]).join("");
}

function randomEdit(below: (n: number) => number, text: string): TextEdit {
  const start = below(text.length + 1);
  const end = start + below(Math.min(5, text.length - start) + 1);
  return { start, end, text: below(3) === 0 ? "" : randomText(below, 1 + below(3)) };
}

describe("moving an edit over another", () => {
  const cases: [string, TextEdit, TextEdit, TextEdit][] = [
    [
      "two insertions at one place: the later one goes behind",
      { start: 2, end: 2, text: "x" },
      { start: 2, end: 2, text: "yy" },
      { start: 4, end: 4, text: "x" },
    ],
    [
      "in front: stays",
      { start: 0, end: 2, text: "x" },
      { start: 2, end: 4, text: "" },
      { start: 0, end: 2, text: "x" },
    ],
    [
      "behind: shifts",
      { start: 5, end: 6, text: "x" },
      { start: 1, end: 3, text: "abc" },
      { start: 6, end: 7, text: "x" },
    ],
    [
      "holds the other: what that wrote survives",
      { start: 1, end: 6, text: "x" },
      { start: 2, end: 4, text: "yy" },
      { start: 1, end: 6, text: "xyy" },
    ],
    [
      "within the other: only what it writes is left",
      { start: 3, end: 4, text: "x" },
      { start: 1, end: 6, text: "yy" },
      { start: 3, end: 3, text: "x" },
    ],
    [
      "equal spans, the later one",
      { start: 1, end: 3, text: "x" },
      { start: 1, end: 3, text: "yy" },
      { start: 3, end: 3, text: "x" },
    ],
    [
      "ends inside the other",
      { start: 0, end: 3, text: "x" },
      { start: 2, end: 5, text: "y" },
      { start: 0, end: 2, text: "x" },
    ],
    [
      "begins inside the other",
      { start: 3, end: 7, text: "x" },
      { start: 2, end: 5, text: "y" },
      { start: 3, end: 5, text: "x" },
    ],
  ];
  for (const [name, edit, over, moved] of cases) {
    test(name, () => assert.deepEqual(movedEdit(edit, over, "later"), moved));
  }

  test("either order gives the same text", () => {
    const below = seeded(11);
    for (let round = 0; round < 20_000; round++) {
      const text = randomText(below, below(9));
      const first = randomEdit(below, text);
      const second = randomEdit(below, text);
      const one = applied(applied(text, first), movedEdit(second, first, "later"));
      const other = applied(applied(text, second), movedEdit(first, second, "earlier"));
      assert.equal(one, other, JSON.stringify({ text, first, second }));
    }
  });
});

describe("moving a span over an edit", () => {
  const cases: [string, [number, number], TextEdit, [number, number]][] = [
    ["an insertion in front of it", [2, 5], { start: 2, end: 2, text: "xx" }, [4, 7]],
    ["an insertion behind it stays outside", [2, 5], { start: 5, end: 5, text: "xx" }, [2, 5]],
    ["an insertion within belongs to it", [2, 5], { start: 3, end: 3, text: "xx" }, [2, 7]],
    ["replaced as a whole", [2, 5], { start: 1, end: 6, text: "xyz" }, [1, 1]],
    ["its end is cut", [2, 5], { start: 4, end: 8, text: "x" }, [2, 4]],
    ["its beginning is cut", [2, 5], { start: 0, end: 3, text: "xy" }, [2, 4]],
    ["a caret goes behind what is inserted at its place", [3, 3], { start: 3, end: 3, text: "xx" }, [5, 5]],
  ];
  for (const [name, [start, end], edit, [movedStart, movedEnd]] of cases) {
    test(name, () => assert.deepEqual(movedSpan({ start, end }, edit), { start: movedStart, end: movedEnd }));
  }
});

/** What the server does: moves an edit over those that came in since, and numbers it. */
class Server {
  text: string;
  log: TextEdit[] = [];
  constructor(text: string) {
    this.text = text;
  }
  get version(): number {
    return this.log.length;
  }
  take(edit: TextEdit, version: number): TextEdit {
    const moved = this.log.slice(version).reduce((one, over) => movedEdit(one, over, "later"), edit);
    this.text = applied(this.text, moved);
    this.log.push(moved);
    return moved;
  }
}

interface Window {
  sync: TextSync;
  text: string;
  sent: { edit: TextEdit; version: number }[];
  inbox: ({ reply: TextEdit; version: number } | { remote: TextEdit; version: number })[];
}

describe("windows on one draft", () => {
  test("all end with the server's text, whatever the order of typing and of messages", () => {
    for (let seed = 1; seed <= 400; seed++) {
      const below = seeded(seed * 7919);
      const server = new Server(randomText(below, below(20)));
      const windows: Window[] = Array.from({ length: 2 + below(2) }, () => ({
        sync: freshSync(0, server.text),
        text: server.text,
        sent: [],
        inbox: [],
      }));
      const send = (window: Window): void => {
        const { sync, send: edit } = takeNext(window.sync);
        window.sync = sync;
        if (edit) window.sent.push({ edit, version: sync.version });
      };
      const arrive = (window: Window): void => {
        const message = window.sent.shift();
        if (!message) return;
        const moved = server.take(message.edit, message.version);
        for (const other of windows)
          other.inbox.push(
            other === window ? { reply: moved, version: server.version } : { remote: moved, version: server.version },
          );
      };
      const read = (window: Window): void => {
        const message = window.inbox.shift();
        if (!message) return;
        if ("reply" in message) {
          const sync = acknowledged(window.sync, message.version, message.reply.start, message.reply.end);
          assert.ok(sync, `seed ${seed}: the server put the edit elsewhere`);
          window.sync = sync;
          send(window);
        } else {
          const result = withRemoteEdit(window.sync, message.remote, message.version);
          assert.ok(result, `seed ${seed}: a version is missing`);
          window.sync = result.sync;
          window.text = applied(window.text, result.local);
        }
        assert.equal(window.text, localText(window.sync), `seed ${seed}`);
      };
      for (let round = 0; round < 60; round++) {
        const window = windows[below(windows.length)] as Window;
        const action = below(4);
        if (action === 0) {
          const edit = randomEdit(below, window.text);
          window.text = applied(window.text, edit);
          window.sync = withLocalEdit(window.sync, { ...edit, typing: below(2) === 0 });
          send(window);
        } else if (action === 1) arrive(window);
        else read(window);
      }
      for (let left = true; left;) {
        left = windows.some((window) => window.sent.length > 0 || window.inbox.length > 0);
        for (const window of windows) {
          arrive(window);
          read(window);
        }
      }
      for (const window of windows) {
        assert.ok(isIdle(window.sync));
        assert.equal(window.text, server.text, `seed ${seed}`);
      }
    }
  });
});

describe("one window", () => {
  test("joins what is typed in one go", () => {
    let sync = freshSync(1, "ab");
    for (const [at, letter] of [
      [1, "x"],
      [2, "y"],
      [3, "z"],
    ] as const)
      sync = withLocalEdit(sync, { start: at, end: at, text: letter, typing: true });
    assert.deepEqual(sync.pending, [{ start: 1, end: 1, text: "xyz", typing: true }]);
    sync = withLocalEdit(sync, { start: 3, end: 4, text: "", typing: true });
    assert.deepEqual(sync.pending, [{ start: 1, end: 1, text: "xy", typing: true }]);
  });

  test("what is typed and deleted again is no edit", () => {
    let sync = withLocalEdit(freshSync(1, "ab"), { start: 1, end: 1, text: "x", typing: true });
    sync = withLocalEdit(sync, { start: 1, end: 2, text: "", typing: true });
    assert.ok(isIdle(sync));
  });

  test("keeps one edit under way", () => {
    const first = takeNext(withLocalEdit(freshSync(1, "ab"), { start: 0, end: 0, text: "x", typing: true }));
    const second = takeNext(withLocalEdit(first.sync, { start: 1, end: 1, text: "y", typing: true }));
    assert.equal(first.send?.text, "x");
    assert.equal(second.send, null);
  });

  test("cuts a long paste between characters", () => {
    const long = `${"a".repeat(longestInsertion - 1)}😀${"b".repeat(10)}`;
    let sync = withLocalEdit(freshSync(1, ""), { start: 0, end: 0, text: long, typing: false });
    const sent: string[] = [];
    for (;;) {
      const next = takeNext(sync);
      if (!next.send) break;
      sent.push(next.send.text);
      const done = acknowledged(next.sync, next.sync.version + 1, next.send.start, next.send.end);
      assert.ok(done);
      sync = done;
    }
    assert.equal(sent.length, 2);
    assert.equal(sent.join(""), long);
    assert.equal(sent[0]?.length, longestInsertion - 1);
    assert.equal(sync.confirmed, long);
  });

  test("notices when the server put its edit elsewhere", () => {
    const { sync } = takeNext(withLocalEdit(freshSync(1, "ab"), { start: 1, end: 1, text: "x", typing: true }));
    assert.equal(acknowledged(sync, 2, 0, 0), null);
    assert.equal(acknowledged(sync, 3, 1, 1), null);
    assert.equal(withRemoteEdit(sync, { start: 0, end: 0, text: "y" }, 5), null);
  });
});

describe("after the connection was lost", () => {
  const typing = true;
  const waiting = (): TextSync => {
    const { sync } = takeNext(withLocalEdit(freshSync(3, "The ship"), { start: 8, end: 8, text: " left", typing }));
    return withLocalEdit(sync, { start: 13, end: 13, text: " port.", typing });
  };

  test("the edit under way had not arrived: it is sent again", () => {
    const { sync, local } = rebased(waiting(), 3, "The ship");
    assert.equal(local, "The ship left port.");
    assert.equal(sync.pending.length, 2);
  });

  test("the edit under way had arrived: it is not doubled", () => {
    const { sync, local } = rebased(waiting(), 4, "The ship left");
    assert.equal(local, "The ship left port.");
    assert.equal(sync.pending.length, 1);
  });

  test("somebody else wrote meanwhile: both stay", () => {
    assert.equal(rebased(waiting(), 5, "Yes. The ship left").local, "Yes. The ship left port.");
    assert.equal(rebased(waiting(), 4, "Yes. The ship").local, "Yes. The ship left port.");
  });
});

test("the smallest edit between two texts makes the one of the other, and cuts no pair", () => {
  const below = seeded(5);
  for (let round = 0; round < 5000; round++) {
    const before = randomText(below, below(12));
    const after = below(2) ? applied(before, randomEdit(below, before)) : randomText(below, below(12));
    assert.equal(applied(before, editBetween(before, after)), after);
  }
  assert.deepEqual(editBetween("a😀b", "a😁b"), { start: 1, end: 3, text: "😁" });
});

test("half a character and NUL become the replacement character, one for one", () => {
  assert.equal(cleanedText("a\ud83d b\0c\ude00 😀"), "a\ufffd b\ufffdc\ufffd 😀");
});
