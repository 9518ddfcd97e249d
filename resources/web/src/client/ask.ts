// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The "Ask" panel: questions about the draft. Nothing of it changes the text.

import type { AppState, ChatView } from "../state/app_state";
import type { ChatTurn } from "../wire/chat";
import { askModel } from "./chat";
import type { Session } from "./session";

const role = "You answer questions about a writer's draft. Be brief and plain.";
/** A token is rarely shorter than this many characters, so that a draft cut to it leaves room for the answer. */
const charactersPerToken = 2;

let running: AbortController | null = null;

/** The selection if there is one, else as much of the draft as half the model's context holds. */
function draftFor(state: AppState): string {
  const { draft } = state;
  if (!draft) return "";
  const { start, end } = draft.selection;
  const text = start < end ? draft.text.slice(start, end) : draft.text;
  const room = ((state.status?.model?.contextLength ?? 4096) * charactersPerToken) / 2;
  return text.slice(0, room);
}

function turnsFor(state: AppState, question: string): ChatTurn[] {
  const said = state.chat.turns.filter((turn) => turn.problem === "" && turn.content !== "");
  const text = draftFor(state);
  return [
    { role: "system", content: text ? `${role}\n\nThe draft:\n${text}` : role },
    ...said.map(({ role, content }) => ({ role, content })),
    { role: "user", content: question },
  ];
}

function changeLast(session: Session, changes: Partial<ChatView["turns"][number]>): void {
  const { turns } = session.store.state.chat;
  const last = turns.at(-1);
  if (last)
    session.store.dispatch({ type: "chat", changes: { turns: [...turns.slice(0, -1), { ...last, ...changes }] } });
}

export async function ask(session: Session, question: string): Promise<void> {
  const { state } = session.store;
  const model = state.status?.model;
  if (state.chat.busy || question.trim() === "") return;
  if (!model) return session.complain("The model is not ready yet. Try again when it is loaded.");
  const turns = turnsFor(state, question);
  session.store.dispatch({
    type: "chat",
    changes: {
      busy: true,
      turns: [
        ...state.chat.turns,
        { role: "user", content: question, thought: "", problem: "" },
        { role: "assistant", content: "", thought: "", problem: "" },
      ],
    },
  });
  running = new AbortController();
  try {
    await askModel(
      { model: model.id, turns, thinking: state.chat.thinking && model.thinking },
      (delta) => {
        const last = session.store.state.chat.turns.at(-1);
        changeLast(session, {
          content: (last?.content ?? "") + delta.content,
          thought: (last?.thought ?? "") + delta.thought,
        });
      },
      running.signal,
    );
    if (session.store.state.chat.turns.at(-1)?.content === "")
      changeLast(session, { problem: "The model had nothing to say." });
  } catch (error) {
    const stopped = running.signal.aborted;
    const lost = error instanceof TypeError ? "The server could not be reached." : "";
    changeLast(session, {
      problem: stopped ? "Stopped." : lost || (error instanceof Error ? error.message : "No answer came."),
    });
  } finally {
    running = null;
    session.store.dispatch({ type: "chat", changes: { busy: false } });
  }
}

export function stopAsking(): void {
  running?.abort();
}
