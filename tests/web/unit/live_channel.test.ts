// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import type {
  ChannelEvents,
  LiveChannel as Channel,
  RequestError as Refused,
} from "../../../resources/web/src/client/live_channel";

/** A socket whose other end is the test. */
class FakeSocket {
  static readonly OPEN = 1;
  static all: FakeSocket[] = [];
  readyState = 0;
  sent: { type: string; ref?: number }[] = [];
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly protocols: string[];

  constructor(_url: string, protocols: string[]) {
    this.protocols = protocols;
    FakeSocket.all.push(this);
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  open(): void {
    this.readyState = 1;
  }
  receive(message: object | string): void {
    this.onmessage?.({ data: typeof message === "string" ? message : JSON.stringify(message) });
  }
  close(): void {
    this.readyState = 3;
    this.onclose?.();
  }
}

const stored = new Map<string, string>();
let modelsStatus = 200;
Object.assign(globalThis, {
  WebSocket: FakeSocket,
  window: globalThis,
  addEventListener: () => undefined,
  sessionStorage: {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  },
  fetch: () => Promise.resolve({ status: modelsStatus }),
});
const { LiveChannel, RequestError } = await import("../../../resources/web/src/client/live_channel");
const { storeKey } = await import("../../../resources/web/src/client/api_key");

function started(): { channel: Channel; socket: FakeSocket; log: string[] } {
  const log: string[] = [];
  const events: ChannelEvents = {
    message: (message) => log.push(message.type),
    connecting: () => log.push("connecting"),
    lost: () => log.push("lost"),
    keyWanted: () => log.push("key wanted"),
    malformed: () => log.push("malformed"),
  };
  const channel = new LiveChannel("ws://127.0.0.1/ws", events);
  channel.connect();
  const socket = FakeSocket.all.at(-1) as FakeSocket;
  socket.open();
  return { channel, socket, log };
}

const never = new AbortController().signal;

describe("the live channel", () => {
  beforeEach(() => {
    stored.clear();
    modelsStatus = 200;
  });

  test("matches answers with requests, in any order", async () => {
    const { channel, socket } = started();
    const first = channel.request({ type: "undo", document: "d1" }, never);
    const second = channel.request({ type: "redo", document: "d1" }, never);
    socket.receive({ type: "reply", ref: socket.sent[1]?.ref, version: 2 });
    socket.receive({ type: "reply", ref: socket.sent[0]?.ref, version: 1 });
    assert.deepEqual([(await first)["version"], (await second)["version"]], [1, 2]);
  });

  test("a refusal is an error with its code and sentence", async () => {
    const { channel, socket } = started();
    const request = channel.request({ type: "undo", document: "d1" }, never);
    socket.receive({ type: "error", ref: socket.sent[0]?.ref, code: "stale", message: "The text has changed." });
    await assert.rejects(
      request,
      (error: Refused) =>
        error instanceof RequestError && error.code === "stale" && error.message === "The text has changed.",
    );
  });

  test("what waits is refused when the connection is lost, and nothing is asked without one", async () => {
    const { channel, socket, log } = started();
    const request = channel.request({ type: "undo", document: "d1" }, never);
    socket.close();
    await assert.rejects(request, (error: Refused) => error.code === "lost");
    await assert.rejects(
      channel.request({ type: "undo", document: "d1" }, never),
      (error: Refused) => error.code === "lost",
    );
    assert.equal(channel.send({ type: "close", document: "d1" }), false);
    assert.ok(log.includes("lost"));
    channel.connect();
    assert.equal(FakeSocket.all.at(-1)?.sent.length, 0);
  });

  test("a request that is given up is forgotten", async () => {
    const { channel, socket } = started();
    const giveUp = new AbortController();
    const request = channel.request({ type: "undo", document: "d1" }, giveUp.signal);
    giveUp.abort();
    await assert.rejects(request, (error: Refused) => error.code === "aborted");
    socket.receive({ type: "reply", ref: socket.sent[0]?.ref });
  });

  test("malformed messages are told, and the connection lives", () => {
    const { channel, socket, log } = started();
    socket.receive("{");
    socket.receive({ type: "edited" });
    socket.receive({ type: "weather" });
    socket.receive({ type: "title", document: "d1", title: "x" });
    assert.deepEqual(log, ["connecting", "malformed", "malformed", "title"]);
    assert.ok(channel.isOpen);
  });

  test("a refused key is asked for, and sent as a subprotocol", async () => {
    const { channel, socket, log } = started();
    assert.deepEqual(socket.protocols, ["palimpsest.v1"]);
    modelsStatus = 401;
    socket.close();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(log.at(-1), "key wanted");
    storeKey("s?ü>");
    channel.connect();
    assert.deepEqual(FakeSocket.all.at(-1)?.protocols, ["palimpsest.v1", "palimpsest.key.cz_DvD4"]);
  });
});
