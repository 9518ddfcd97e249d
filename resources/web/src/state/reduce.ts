// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The one reducer of the page.

import type { ServerMessage } from "../wire/messages";
import type { AppState, ChatView, Connection, DraftView, Notice, Preferences, Ui } from "./app_state";
import { documentOf, openedDraft, withDraftMessage, withTyping } from "./reduce_draft";
import type { PendingEdit, TextSync } from "./text_sync";

export type Action =
  | { type: "connection"; changes: Partial<Connection> }
  | { type: "server"; message: ServerMessage }
  | { type: "watching"; query: string; binned: boolean }
  | { type: "opening"; document: string | null }
  | { type: "typed"; edit: PendingEdit }
  | { type: "sync"; document: string; sync: TextSync }
  | { type: "draft"; document: string; changes: Partial<DraftView> }
  | { type: "chat"; changes: Partial<ChatView> }
  | { type: "preferences"; changes: Partial<Preferences> }
  | { type: "ui"; changes: Partial<Ui> }
  | { type: "notice"; text: string; kind: Notice["kind"] }
  | { type: "dismiss"; notice: number };

/** A version that no message fits on: the draft is fetched anew, and what was typed is put on top. */
const unknownVersion = -2;

function withMessage(state: AppState, message: ServerMessage): AppState {
  switch (message.type) {
    case "hello":
      return {
        ...state,
        connection: { phase: "open", retryAtMs: 0, wasLost: false, version: message.version },
        status: message.status,
        presets: message.presets.length > 0 ? message.presets : state.presets,
      };
    case "status":
      return { ...state, status: message.status };
    case "library":
      return { ...state, library: { ...state.library, documents: message.documents } };
    case "document":
      if (message.draft.id !== state.documentId) return state;
      return { ...state, draft: openedDraft(message.draft, state.draft) };
    case "document.gone":
      if (message.document !== state.documentId) return state;
      return { ...state, documentId: null, draft: null };
    default: {
      const { draft } = state;
      const about = documentOf(message);
      if (!draft || (about !== null && about !== draft.id)) return state;
      const next = withDraftMessage(draft, message);
      return { ...state, draft: next ?? { ...draft, sync: { ...draft.sync, version: unknownVersion } } };
    }
  }
}

/** Whether the draft has come apart from the server's and has to be fetched anew. */
export function needsFetching(draft: DraftView | null): boolean {
  return draft?.sync.version === unknownVersion;
}

/** The sync of a draft that has come apart. */
export function apart(sync: TextSync): TextSync {
  return { ...sync, version: unknownVersion };
}

export function reduce(state: AppState, action: Action): AppState {
  switch (action.type) {
    case "connection":
      return { ...state, connection: { ...state.connection, ...action.changes } };
    case "server":
      return withMessage(state, action.message);
    case "watching":
      return { ...state, library: { ...state.library, query: action.query, binned: action.binned } };
    case "opening": {
      const same = action.document === state.documentId;
      return { ...state, documentId: action.document, draft: same ? state.draft : null };
    }
    case "typed":
      return state.draft ? { ...state, draft: withTyping(state.draft, action.edit) } : state;
    case "sync":
      if (state.draft?.id !== action.document) return state;
      return { ...state, draft: { ...state.draft, sync: action.sync } };
    case "draft":
      if (state.draft?.id !== action.document) return state;
      return { ...state, draft: { ...state.draft, ...action.changes } };
    case "chat":
      return { ...state, chat: { ...state.chat, ...action.changes } };
    case "preferences":
      return { ...state, preferences: { ...state.preferences, ...action.changes } };
    case "ui":
      return { ...state, ui: { ...state.ui, ...action.changes } };
    case "notice":
      return withNotice(state, action.text, action.kind);
    case "dismiss":
      return { ...state, notices: state.notices.filter((notice) => notice.id !== action.notice) };
  }
}

/** The newest three are enough to read; the same sentence twice is one. */
function withNotice(state: AppState, text: string, kind: Notice["kind"]): AppState {
  const others = state.notices.filter((notice) => notice.text !== text).slice(-2);
  const id = 1 + Math.max(0, ...state.notices.map((notice) => notice.id));
  return { ...state, notices: [...others, { id, text, kind }] };
}
