// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { storeKey } from "../../../resources/web/src/client/api_key";
import { type ChannelEvents, LiveChannel, RequestError } from "../../../resources/web/src/client/live_channel";
import { FakeSocket, server, stored } from "./fake_browser";

function started(): { channel: LiveChannel; socket: FakeSocket; log: string[] } {
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
    server.status = 200;
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
      (error: RequestError) =>
        error instanceof RequestError && error.code === "stale" && error.message === "The text has changed.",
    );
  });

  test("what waits is refused when the connection is lost, and nothing is asked without one", async () => {
    const { channel, socket, log } = started();
    const request = channel.request({ type: "undo", document: "d1" }, never);
    socket.close();
    await assert.rejects(request, (error: RequestError) => error.code === "lost");
    await assert.rejects(
      channel.request({ type: "undo", document: "d1" }, never),
      (error: RequestError) => error.code === "lost",
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
    await assert.rejects(request, (error: RequestError) => error.code === "aborted");
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
    server.status = 401;
    socket.close();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(log.at(-1), "key wanted");
    storeKey("s?ü>");
    channel.connect();
    assert.deepEqual(FakeSocket.all.at(-1)?.protocols, ["palimpsest.v1", "palimpsest.key.cz_DvD4"]);
  });
});
