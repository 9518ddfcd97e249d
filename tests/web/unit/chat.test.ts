// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EventSplitter, errorMessage, parseChatEvent } from "../../../resources/web/src/wire/chat";

describe("a stream of events", () => {
  const stream = 'data: {"a":1}\n\n: ping\n\nevent: draft\ndata: {"b":2}\n\ndata: [DONE]\n\n';

  test("is the same however it is cut", () => {
    for (let size = 1; size <= stream.length; size++) {
      const splitter = new EventSplitter();
      const events: string[] = [];
      for (let at = 0; at < stream.length; at += size) events.push(...splitter.push(stream.slice(at, at + size)));
      assert.deepEqual(events, ['{"a":1}', "[DONE]"], `pieces of ${size}`);
    }
  });

  test("may end its lines with carriage returns", () => {
    assert.deepEqual(new EventSplitter().push("data: x\r\n\r\n"), ["x"]);
  });
});

describe("a piece of an answer", () => {
  test("text, thoughts, the end", () => {
    assert.equal(parseChatEvent('{"choices":[{"delta":{"content":"Hello"}}]}')?.content, "Hello");
    assert.equal(parseChatEvent('{"choices":[{"delta":{"reasoning_content":"Hm"}}]}')?.thought, "Hm");
    assert.equal(parseChatEvent('{"choices":[{"delta":{},"finish_reason":"stop"}]}')?.finish, "stop");
    assert.equal(parseChatEvent('{"choices":[],"usage":{}}')?.content, "");
    assert.equal(parseChatEvent("[DONE]"), null);
  });

  test("an error in mid-stream is a sentence", () => {
    assert.equal(parseChatEvent('{"error":{"message":"The model is gone."}}')?.problem, "The model is gone.");
    assert.equal(errorMessage({ error: "text" }), "");
  });

  test("anything else is refused", () => assert.throws(() => parseChatEvent("<html>")));
});
