// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Starts the programs under test on free loopback ports, and ends them again.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const START_TIMEOUT_MS = 60_000;

/** The value of an environment variable that the test runner has to set. */
function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run these tests through ctest`);
  return value;
}

/** The programs that run. */
const running = new Set();

function start(program, options, stdio) {
  const child = spawn(program, options, { stdio });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/** Ends what a failed test has left: node would wait for it for ever. */
export function endAll() {
  for (const child of running) child.kill("SIGKILL");
}

/** Resolves with the first line of a stream that matches; rejects when the program ends before. */
async function lineOf(child, stream, pattern) {
  const seen = [];
  const lines = createInterface({ input: stream });
  const found = (async () => {
    for await (const line of lines) {
      seen.push(line);
      const match = pattern.exec(line);
      if (match) return match;
    }
    throw new Error(`the program ended, having said: ${seen.join("\n")}`);
  })();
  const late = new Promise((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`no sign of life: ${seen.join("\n")}`)), START_TIMEOUT_MS);
    timer.unref();
  });
  const match = await Promise.race([found, late]);
  stream.resume(); // what follows must not fill the pipe
  return match;
}

/**
 * Starts `palimpsest serve` with the demo model; ready when this resolves.
 * @param {string[]} options further options of the command
 * @param {{dataDir?: string}} keep the data folder of a server before it
 */
export async function startServer(options = [], keep = {}) {
  const dataDir = keep.dataDir ?? (await mkdtemp(join(tmpdir(), "palimpsest-web-")));
  const port = options.includes("--port") ? [] : ["--port", "0"];
  const child = start(required("PALIMPSEST_PROGRAM"), ["serve", ...port, "--data-dir", dataDir, ...options],
    ["ignore", "pipe", "pipe"]);
  const log = [];
  child.stderr.on("data", (text) => log.push(String(text)));
  const [, address] = await lineOf(child, child.stdout, /(http:\/\/127\.0\.0\.1:\d+)/);
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const health = await (await fetch(`${address}/health`)).json();
    if (health.status === "ready") break;
    if (health.status === "error" || Date.now() > deadline) throw new Error(`not ready: ${JSON.stringify(health)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    address,
    dataDir,
    pid: child.pid,
    log: () => log.join(""),
    /** Kills it as a power cut would; the drafts stay. */
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
      const report = log.join("");
      if (report.includes("Sanitizer: ")) throw new Error(report);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Starts the endpoint over the model that says what it is told to (scripted_endpoint.cpp). */
export async function startScripted() {
  const child = start(required("PALIMPSEST_SCRIPTED_ENDPOINT"), [], ["pipe", "pipe", "inherit"]);
  const [, address] = await lineOf(child, child.stdout, /(http:\/\/127\.0\.0\.1:\d+)/);
  return {
    address,
    async stop() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

/** Waits until `condition` gives something true, and returns that. */
export async function until(condition, what, timeoutMs = 20_000) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
