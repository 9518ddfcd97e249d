// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Questions about the draft, over the same endpoint that other programs use.

import { type ChatDelta, type ChatTurn, EventSplitter, errorMessage, parseChatEvent } from "../wire/chat";
import { authorization } from "./api_key";

export interface ChatRequest {
  model: string;
  turns: ChatTurn[];
  thinking: boolean;
}

async function refusal(response: Response): Promise<string> {
  try {
    return errorMessage(await response.json()) || `The server answered ${response.status}.`;
  } catch {
    return `The server answered ${response.status}.`; // no JSON in it: the status is all that is known
  }
}

/** Streams the answer: calls `onDelta` with each piece. Throws an Error with a sentence for the writer. */
export async function askModel(
  request: ChatRequest,
  onDelta: (delta: ChatDelta) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch("v1/chat/completions", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...authorization() },
    body: JSON.stringify({
      model: request.model,
      messages: request.turns,
      stream: true,
      chat_template_kwargs: { enable_thinking: request.thinking },
    }),
    signal,
  });
  if (!response.ok || !response.body) throw new Error(await refusal(response));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const splitter = new EventSplitter();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const data of splitter.push(value)) {
      const delta = parseChatEvent(data);
      if (delta === null) return;
      if (delta.problem) throw new Error(delta.problem);
      onDelta(delta);
    }
  }
}
