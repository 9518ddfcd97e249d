// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The part of the OpenAI-compatible endpoint that the "Ask" panel uses.

import { object } from "./fields";

export interface ChatTurn {
  role: "system" | "user" | "assistant";
  content: string;
}

/** What one line of the stream brings. */
export interface ChatDelta {
  content: string;
  thought: string;
  finish: string;
  problem: string;
}

const nothing: ChatDelta = { content: "", thought: "", finish: "", problem: "" };

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The sentence in an error body `{error: {message}}`, or "" if it is none. */
export function errorMessage(value: unknown): string {
  if (typeof value !== "object" || value === null || !("error" in value)) return "";
  const error: unknown = value.error;
  return typeof error === "object" && error !== null && "message" in error ? textOf(error.message) : "";
}

/** Reads the data of one server-sent event; null at the end of the stream. Throws on what is not JSON. */
export function parseChatEvent(data: string): ChatDelta | null {
  if (data === "[DONE]") return null;
  const event = object(JSON.parse(data), "chunk");
  const problem = errorMessage(event);
  if (problem) return { ...nothing, problem };
  const choices: unknown = event["choices"];
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (first === undefined) return nothing;
  const choice = object(first, "choice");
  const delta = choice["delta"] === undefined || choice["delta"] === null ? {} : object(choice["delta"], "delta");
  return {
    content: textOf(delta["content"]),
    thought: textOf(delta["reasoning_content"]) || textOf(delta["reasoning"]),
    finish: textOf(choice["finish_reason"]),
    problem: "",
  };
}

/** Cuts a stream of server-sent events into the data of its `message` events; other event types are left out. */
export class EventSplitter {
  #rest = "";

  push(chunk: string): string[] {
    this.#rest += chunk.replaceAll("\r\n", "\n");
    const events = this.#rest.split("\n\n");
    this.#rest = events.pop() ?? "";
    return events.flatMap((event) => {
      const lines = event.split("\n");
      const named = lines.find((line) => line.startsWith("event:"));
      if (named !== undefined && named.slice(6).trim() !== "message") return [];
      const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).replace(/^ /, ""));
      return data.length > 0 ? [data.join("\n")] : [];
    });
  }
}
