// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// All that the page shows, as one value. Reducers make the next one out of it; views read it and change nothing.

import type { DraftSettings, LibraryEntry, Revision, Span } from "../wire/drafts";
import type { Proposal } from "../wire/proposals";
import type { Alternative, CanvasHistory, Frame, Run, StopReason } from "../wire/runs";
import type { Preset, ServerStatus } from "../wire/status";
import { customPreset } from "./presets";
import type { TextSync } from "./text_sync";

export type Phase = "connecting" | "open" | "lost" | "locked";

export interface Connection {
  phase: Phase;
  /** When the next attempt is due, in ms since the epoch; 0: none planned. */
  retryAtMs: number;
  /** An attempt has failed since the last greeting. */
  wasLost: boolean;
  version: string;
}

/** One lane of a run, with what its canvases brought so far. */
export interface LaneView {
  settled: { text: string; steps: number; stop: StopReason }[];
  frame: Frame | null;
  /** Of the canvas under way: a figure for each step, null where the frame was skipped. */
  meanEntropy: (number | null)[];
  accepted: (number | null)[];
  /** For each position of the canvas under way, the last step that was seen in which it had not settled. */
  unsettledUntil: number[];
}

export function emptyLane(): LaneView {
  return { settled: [], frame: null, meanEntropy: [], accepted: [], unsettledUntil: [] };
}

export interface RunView {
  run: Run;
  lanes: LaneView[];
}

/** The step of an earlier canvas that is looked at. */
export interface HistoryView {
  run: string;
  lanes: CanvasHistory[][] | null;
  lane: number;
  canvas: number;
  /** From 1. */
  step: number;
  frame: Frame | null;
  playing: boolean;
  problem: string;
}

/** Words that may stand at a canvas position, and where they are shown. */
export interface WordCard {
  run: string;
  lane: number;
  canvas: number;
  position: number;
  /** null: of the newest step of a canvas under way. */
  step: number | null;
  word: string;
  /** Asked for from the map of the canvas, beside which the card then stands. */
  fromMap: boolean;
  held: boolean;
  entropyNats: number | null;
  alternatives: Alternative[] | null;
  problem: string;
}

/** Text that the page itself proposes at a place: an answer of the "Ask" panel. */
export interface OwnProposal {
  at: number;
  text: string;
}

export interface DraftView {
  id: string;
  title: string;
  sync: TextSync;
  /** What the page shows: the confirmed text with this window's own edits on top. */
  text: string;
  locks: Span[];
  /** Newest last. Those that ended are kept as long as they can be looked at. */
  runs: RunView[];
  proposals: Proposal[];
  ownProposal: OwnProposal | null;
  undo: string | null;
  redo: string | null;
  /** How many undos and redos are on their way to the server. */
  goingBack: number;
  settings: DraftSettings;
  revision: number;
  saved: boolean;
  saveProblem: string;
  revisions: Revision[] | null;
  /** The run whose canvas the inspector shows, and the lane; null: the newest. */
  inspected: { run: string; lane: number } | null;
  history: HistoryView | null;
  selection: Span;
  /** The change that F7 went to: a proposal's id and the index of the change. */
  currentChange: { proposal: string; change: number } | null;
}

export interface ChatView {
  turns: { role: "user" | "assistant"; content: string; thought: string; problem: string }[];
  thinking: boolean;
  busy: boolean;
}

export type Panel = "canvas" | "history" | "model" | "ask";
export type Theme = "system" | "light" | "dark";
export type PageFont = "serif" | "sans" | "readable";

/** Settings of this browser, kept in its local storage. */
export interface Preferences {
  theme: Theme;
  fontSize: number;
  lineHeight: number;
  pageFont: PageFont;
  reducedMotion: boolean;
  /** Whether unsettled words are tinted while a canvas runs. */
  entropyShown: boolean;
  /** Write results straight in instead of proposing them. */
  direct: boolean;
  keys: Record<string, string>;
}

export interface Ui {
  panel: Panel;
  libraryOpen: boolean;
  inspectorOpen: boolean;
  /** Id of the preset whose instruction stands in the box. */
  preset: string;
  instruction: string;
  /** Whether a key is held that shows the entropy view, or the original. */
  entropyHeld: boolean;
  originalHeld: boolean;
  /** The draft that was just made, which the writer will want to write in. */
  freshDraft: string | null;
  card: WordCard | null;
  dialog: "" | "keys" | "delete" | "settings";
  /** The draft that a dialog is about. */
  dialogDocument: string;
}

export interface Notice {
  id: number;
  text: string;
  kind: "problem" | "news";
}

export interface AppState {
  connection: Connection;
  status: ServerStatus | null;
  presets: Preset[];
  library: { query: string; binned: boolean; documents: LibraryEntry[] | null };
  /** The draft that is open, or being opened. */
  documentId: string | null;
  draft: DraftView | null;
  chat: ChatView;
  preferences: Preferences;
  ui: Ui;
  notices: Notice[];
}

export const defaultPreferences: Preferences = {
  theme: "system",
  fontSize: 18,
  lineHeight: 1.65,
  pageFont: "serif",
  reducedMotion: false,
  entropyShown: true,
  direct: false,
  keys: {},
};

export function initialState(preferences: Preferences): AppState {
  return {
    connection: { phase: "connecting", retryAtMs: 0, wasLost: false, version: "" },
    status: null,
    presets: [customPreset],
    library: { query: "", binned: false, documents: null },
    documentId: null,
    draft: null,
    chat: { turns: [], thinking: false, busy: false },
    preferences,
    ui: {
      panel: "canvas",
      libraryOpen: false,
      inspectorOpen: false,
      preset: "proofread",
      instruction: "",
      entropyHeld: false,
      originalHeld: false,
      freshDraft: null,
      card: null,
      dialog: "",
      dialogDocument: "",
    },
    notices: [],
  };
}
