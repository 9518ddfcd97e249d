// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Many clients at once, of which some leave early, on the demo model: nobody gets another's bytes, everybody gets a turn,
// and memory does not grow. PALIMPSEST_LOAD_SECONDS makes it longer than the test suite needs it, PALIMPSEST_LOAD_PATIENCE
// waits for more seconds until those who came in the end are served (with the thread sanitizer it takes five minutes).

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { endAll, startServer, until } from "./palimpsest.mjs";

const CLIENTS = 64;
const SECONDS = Number(process.env.PALIMPSEST_LOAD_SECONDS ?? 20);
const PATIENCE_SECONDS = Number(process.env.PALIMPSEST_LOAD_PATIENCE ?? 240);
const SENTENCES = ["I have payed teh fee.", "She go to school.", "It was to cold.", "We was late agian."];

let server;
before(async () => {
  server = await startServer(["--queue", String(CLIENTS)]);
});
after(async () => {
  await server?.stop();
  endAll();
});

const bodyOf = (which, stream) => ({
  model: "palimpsest-demo",
  messages: [{ role: "user", content: `Correct the spelling and grammar of this text.\n\n${SENTENCES[which]}` }],
  seed: 7,
  max_tokens: 24,
  stream,
});

async function post(body, signal) {
  return fetch(`${server.address}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
}

/** Reads a stream to its end; the text, or null where it was cut. */
async function readStream(response) {
  let text = "";
  let buffered = "";
  let isDone = false;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const bytes of response.body) {
    buffered += decoder.decode(bytes, { stream: true });
    for (let end; (end = buffered.indexOf("\n\n")) >= 0; buffered = buffered.slice(end + 2)) {
      const event = buffered.slice(0, end);
      if (!event.startsWith("data: ")) continue;
      if (event === "data: [DONE]") isDone = true;
      else text += JSON.parse(event.slice(6)).choices?.[0]?.delta?.content ?? "";
    }
  }
  return isDone ? text : null;
}

async function residentKiB() {
  const status = await readFile(`/proc/${server.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)[1]);
}

test(`${CLIENTS} streams at once, some of which are left`, { timeout: (SECONDS + PATIENCE_SECONDS) * 1000 }, async () => {
  const wanted = [];
  for (const which of SENTENCES.keys()) {
    const answer = await (await post(bodyOf(which, false))).json();
    wanted.push(answer.choices[0].message.content);
  }
  let random = 12345; // a generator of our own, so that a failure can be repeated
  const draw = () => (random = (random * 1103515245 + 12345) % 2147483648) / 2147483648;
  const deadline = Date.now() + SECONDS * 1000;
  const served = new Array(CLIENTS).fill(0);
  let left = 0;
  let refused = 0;
  let slowestHealthMs = 0;
  const memory = [];

  const client = async (number) => {
    while (Date.now() < deadline) {
      const which = Math.floor(draw() * SENTENCES.length);
      const leaves = draw() < 0.3;
      const gone = new AbortController();
      const timer = leaves ? setTimeout(() => gone.abort(), draw() * 1500) : null;
      try {
        const response = await post(bodyOf(which, true), gone.signal);
        if (response.status === 429) {
          refused += 1;
          assert.ok(Number(response.headers.get("retry-after")) >= 1);
          await response.body.cancel();
          await new Promise((resolve) => setTimeout(resolve, 200));
          continue;
        }
        assert.equal(response.status, 200);
        const text = await readStream(response);
        assert.equal(text, wanted[which]);
        served[number] += 1;
      } catch (error) {
        if (error.name !== "AbortError") throw error;
        left += 1;
      } finally {
        clearTimeout(timer);
      }
    }
  };
  const watch = async () => {
    while (Date.now() < deadline) {
      const begin = Date.now();
      await (await fetch(`${server.address}/health`)).json();
      slowestHealthMs = Math.max(slowestHealthMs, Date.now() - begin);
      memory.push(await residentKiB());
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  await Promise.all([watch(), ...Array.from({ length: CLIENTS }, (_, number) => client(number))]);

  await until(
    async () => {
      const health = await (await fetch(`${server.address}/health`)).json();
      return health.running === 0 && health.waiting === 0;
    },
    "all places to be free",
    60_000,
  );
  const total = served.reduce((sum, count) => sum + count, 0);
  const warm = memory[Math.floor(memory.length / 2)];
  const last = await residentKiB();
  console.log(
    `${total} answers, ${left} clients left, ${refused} refused, in ${SECONDS} s; fewest and most a client: ` +
      `${Math.min(...served)} and ${Math.max(...served)}; memory half-way ${warm} KiB, at the end ${last} KiB; ` +
      `slowest /health ${slowestHealthMs} ms`,
  );
  assert.ok(total > 0);
  assert.ok(last < warm * 1.05, `memory grew from ${warm} to ${last} KiB`);
  // Fair: those who stayed were served about as often as each other.
  assert.ok(Math.max(...served) - Math.min(...served) <= Math.max(4, (3 * total) / CLIENTS), `${served}`);
});
