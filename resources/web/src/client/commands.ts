// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Every action of the studio with its name, its place in the menu and its key. Menus, keys and the list of keys are
// made of this one table, so that there is no key without a visible command.

import { liveRun } from "../state/reduce_runs";
import { isIdle } from "../state/text_sync";
import { isTray, openProposals } from "../state/page_marks";
import type { AppState, Panel, Theme, Ui } from "../state/app_state";
import { redo, toggleLock, undo, unlockAll } from "./draft";
import { exportDiff, exportMarkdown, exportText } from "./files";
import { branchHere, canvasBy, closeHistory, stepBy, togglePlay } from "./history";
import { binDraft, duplicateDraft, newDraft } from "./library";
import {
  acceptAll,
  acceptCurrent,
  chooseAlternative,
  currentTray,
  goToChange,
  rejectAll,
  rejectCurrent,
  takeOneWord,
} from "./proposals";
import { pauseOrResume, runAgain, runBox, startRun, stepRun, stopRun } from "./runs";
import type { Session } from "./session";
import { closeCard } from "./words";

export const groups = ["Draft", "Edit", "Write", "Run", "Proposal", "History", "View", "Help"] as const;
export type Group = (typeof groups)[number];

export interface Command {
  id: string;
  group: Group;
  label: (state: AppState) => string;
  keys: readonly string[];
  isEnabled: (state: AppState) => boolean;
  isChecked?: (state: AppState) => boolean;
  run: (session: Session) => void;
}

/** What commands need of the page itself: focus and dialogs. */
export interface PageHands {
  focusInstruction(): void;
  focusPage(): void;
  focusNextPane(): void;
  chooseFile(): void;
  focusTitle(): void;
}

const hasDraft = (state: AppState): boolean => state.draft !== null;
const isModelReady = (state: AppState): boolean =>
  state.draft !== null &&
  state.connection.phase === "open" &&
  (state.status?.state === "ready" || state.status?.state === "busy");
const hasRun = (state: AppState): boolean => liveRun(state.draft) !== null;
const hasSelection = (state: AppState): boolean =>
  state.draft !== null && state.draft.selection.start < state.draft.selection.end;
const hasProposal = (state: AppState): boolean =>
  state.draft?.ownProposal != null || openProposals(state.draft).length > 0;
/** Whether what can be undone is about to change: a key that is pressed meanwhile is for what comes. */
const isChanging = ({ draft }: AppState): boolean => draft !== null && (draft.goingBack > 0 || !isIdle(draft.sync));
const hasSteps = (state: AppState): boolean => state.draft?.history != null || (state.draft?.runs.length ?? 0) > 0;

function ui(session: Session, changes: Partial<Ui>): void {
  session.store.dispatch({ type: "ui", changes });
}

function command(
  group: Group,
  id: string,
  label: string | ((state: AppState) => string),
  keys: string | readonly string[],
  isEnabled: (state: AppState) => boolean,
  run: (session: Session) => unknown,
  isChecked?: (state: AppState) => boolean,
): Command {
  return {
    id,
    group,
    label: typeof label === "string" ? () => label : label,
    keys: typeof keys === "string" ? (keys ? [keys] : []) : keys,
    isEnabled,
    ...(isChecked ? { isChecked } : {}),
    run: (session) => {
      const work = run(session);
      if (work instanceof Promise) session.attempt(work);
    },
  };
}

/** Stops; else closes what lies over the page; else rejects; else clears the selection. One at a time, as Esc does. */
export function escape(session: Session): boolean {
  const { state } = session.store;
  const { draft } = state;
  if (state.ui.card) closeCard(session);
  else if (hasRun(state)) stopRun(session, false);
  else if (draft?.history) closeHistory(session);
  else if (hasProposal(state)) session.attempt(rejectCurrent(session));
  else if (draft && hasSelection(state)) {
    const { end } = draft.selection;
    session.store.dispatch({ type: "draft", document: draft.id, changes: { selection: { start: end, end } } });
  } else return false;
  return true;
}

/** Shows a panel, or hides the inspector if it shows that panel already. */
export function showPanel(session: Session, panel: Panel): void {
  const { inspectorOpen, panel: shown } = session.store.state.ui;
  ui(session, { panel, inspectorOpen: !(inspectorOpen && shown === panel) });
}

function alternativesWish(session: Session): Promise<void> {
  const { ui: box } = session.store.state;
  const instruction = box.instruction.trim();
  return instruction
    ? startRun(session, { action: "rewrite", instruction, alternatives: 3 })
    : startRun(session, { action: "renoise", amount: "full", alternatives: 3 });
}

function draftCommands(hands: PageHands): Command[] {
  return [
    command(
      "Draft",
      "new",
      "New draft",
      "",
      (s) => s.connection.phase === "open",
      (s) => newDraft(s).then(() => undefined),
    ),
    command(
      "Draft",
      "import",
      "Import a file…",
      "",
      (s) => s.connection.phase === "open",
      () => hands.chooseFile(),
    ),
    command("Draft", "rename", "Rename", "", hasDraft, () => hands.focusTitle()),
    command("Draft", "duplicate", "Duplicate", "", hasDraft, (s) => duplicateDraft(s, s.store.state.draft?.id ?? "")),
    command("Draft", "export-markdown", "Export as Markdown", "", hasDraft, exportMarkdown),
    command("Draft", "export-text", "Export as plain text", "", hasDraft, exportText),
    command("Draft", "export-diff", "Export the changes as a diff", "", hasDraft, (s) => exportDiff(s)),
    command("Draft", "bin", "Move to the bin", "", hasDraft, (s) => binDraft(s, s.store.state.draft?.id ?? "")),
  ];
}

function editCommands(hands: PageHands): Command[] {
  const rewrite = (session: Session): unknown => {
    if (!hasSelection(session.store.state)) return startRun(session, { action: "fill" });
    ui(session, { preset: "custom", instruction: "" });
    hands.focusInstruction();
    return undefined;
  };
  return [
    command(
      "Edit",
      "undo",
      (s) => (s.draft?.undo ? `Undo: ${s.draft.undo}` : "Undo"),
      "Ctrl+Z",
      (s) => s.draft?.undo != null || isChanging(s),
      undo,
    ),
    command(
      "Edit",
      "redo",
      (s) => (s.draft?.redo ? `Redo: ${s.draft.redo}` : "Redo"),
      ["Ctrl+Shift+Z", "Ctrl+Y"],
      (s) => s.draft?.redo != null || isChanging(s),
      redo,
    ),
    command("Edit", "lock", "Lock or unlock the words", "Ctrl+L", hasDraft, toggleLock),
    command("Edit", "unlock-all", "Unlock all", "Ctrl+Shift+L", (s) => (s.draft?.locks.length ?? 0) > 0, unlockAll),
    command(
      "Write",
      "rewrite",
      (s) => (hasSelection(s) ? "Rewrite the selection…" : "Rewrite the selection, or fill in at the caret"),
      "Ctrl+K",
      isModelReady,
      rewrite,
    ),
    command("Write", "fill", "Insert something at the caret", "", isModelReady, (s) => startRun(s, { action: "fill" })),
    command("Write", "continue", "Continue from the caret", "", isModelReady, (s) =>
      startRun(s, { action: "continue" }),
    ),
    command("Write", "alternatives", "Three alternatives", "", isModelReady, alternativesWish),
    command("Write", "renoise-light", "Re-noise lightly", "", isModelReady, (s) =>
      startRun(s, { action: "renoise", amount: "light" }),
    ),
    command("Write", "renoise-medium", "Re-noise", "", isModelReady, (s) =>
      startRun(s, { action: "renoise", amount: "medium" }),
    ),
    command("Write", "renoise-full", "Re-noise fully", "", isModelReady, (s) =>
      startRun(s, { action: "renoise", amount: "full" }),
    ),
    command("Write", "again", "Again with a new seed", "Ctrl+R", isModelReady, (s) => runAgain(s, false)),
    command("Write", "again-same", "Again with the same seed", "Ctrl+Shift+R", isModelReady, (s) => runAgain(s, true)),
    command(
      "Write",
      "direct",
      "Write straight in, without a proposal",
      "",
      () => true,
      (s) => s.store.dispatch({ type: "preferences", changes: { direct: !s.store.state.preferences.direct } }),
      (s) => s.preferences.direct,
    ),
  ];
}

function runCommands(): Command[] {
  return [
    command("Run", "run", "Run what stands in the box", "", (s) => isModelReady(s) && !hasRun(s), runBox),
    command(
      "Run",
      "pause",
      (s) => (liveRun(s.draft)?.run.state === "paused" ? "Resume" : "Pause"),
      "",
      hasRun,
      pauseOrResume,
    ),
    command("Run", "step", "One step", "", hasRun, stepRun),
    command("Run", "stop", "Stop and restore", "Esc", hasRun, (s) => stopRun(s, false)),
    command("Run", "keep", "Stop and keep what settled", "", hasRun, (s) => stopRun(s, true)),
    command("Proposal", "accept", "Accept", "Ctrl+Enter", hasProposal, acceptCurrent),
    command("Proposal", "reject", "Reject", "Ctrl+Shift+Backspace", hasProposal, rejectCurrent),
    command("Proposal", "accept-all", "Accept all", "", hasProposal, acceptAll),
    command("Proposal", "reject-all", "Reject all", "", hasProposal, rejectAll),
    command("Proposal", "next-change", "Next change", "F7", hasProposal, (s) => goToChange(s, 1)),
    command("Proposal", "previous-change", "Previous change", "Shift+F7", hasProposal, (s) => goToChange(s, -1)),
    command("Proposal", "take-word", "Take one word of it", "Alt+Right", hasProposal, takeOneWord),
    command(
      "Proposal",
      "original",
      "Show the original (or hold F8)",
      "",
      (s) => hasProposal(s) || hasRun(s),
      (s) => ui(s, { originalHeld: !s.store.state.ui.originalHeld }),
      (s) => s.ui.originalHeld,
    ),
  ];
}

function alternativeCommands(): Command[] {
  return [1, 2, 3, 4, 5, 6, 7, 8].map((n) =>
    command(
      "Proposal",
      `alternative-${n}`,
      `Show alternative ${n}`,
      `Alt+${n}`,
      (s) => openProposals(s.draft).some((proposal) => isTray(proposal) && proposal.alternatives.length >= n),
      (s) => {
        const tray = currentTray(s);
        return tray ? chooseAlternative(s, tray.id, n - 1) : undefined;
      },
    ),
  );
}

function historyCommands(): Command[] {
  return [
    command("History", "step-back", "One step back", "Ctrl+Alt+Left", hasSteps, (s) => stepBy(s, -1)),
    command("History", "step-on", "One step on", "Ctrl+Alt+Right", hasSteps, (s) => stepBy(s, 1)),
    command("History", "canvas-back", "Previous canvas", "Ctrl+Alt+Up", hasSteps, (s) => canvasBy(s, -1)),
    command("History", "canvas-on", "Next canvas", "Ctrl+Alt+Down", hasSteps, (s) => canvasBy(s, 1)),
    command(
      "History",
      "play",
      (s) => (s.draft?.history?.playing ? "Stop playing" : "Play the steps"),
      "",
      hasSteps,
      togglePlay,
    ),
    command("History", "branch", "Branch here", "", (s) => s.draft?.history != null, branchHere),
    command("History", "leave-history", "Leave the history", "", (s) => s.draft?.history != null, closeHistory),
  ];
}

function viewCommands(hands: PageHands): Command[] {
  const theme = (value: Theme, label: string): Command =>
    command(
      "View",
      `theme-${value}`,
      label,
      "",
      () => true,
      (s) => s.store.dispatch({ type: "preferences", changes: { theme: value } }),
      (s) => s.preferences.theme === value,
    );
  return [
    command(
      "View",
      "entropy",
      "Tint words that have not settled",
      "",
      () => true,
      (s) =>
        s.store.dispatch({ type: "preferences", changes: { entropyShown: !s.store.state.preferences.entropyShown } }),
      (s) => s.preferences.entropyShown,
    ),
    command(
      "View",
      "library",
      "Drafts",
      "",
      () => true,
      (s) => ui(s, { libraryOpen: !s.store.state.ui.libraryOpen }),
      (s) => s.ui.libraryOpen,
    ),
    command(
      "View",
      "inspector",
      "Inspector",
      "",
      () => true,
      (s) => ui(s, { inspectorOpen: !s.store.state.ui.inspectorOpen }),
      (s) => s.ui.inspectorOpen,
    ),
    command(
      "View",
      "ask",
      "Ask about the draft",
      "",
      () => true,
      (s) => showPanel(s, "ask"),
    ),
    command(
      "View",
      "next-pane",
      "Next pane",
      "F6",
      () => true,
      () => hands.focusNextPane(),
    ),
    theme("light", "Light"),
    theme("dark", "Dark"),
    theme("system", "As the system"),
    command(
      "View",
      "settings",
      "Reading settings…",
      "",
      () => true,
      (s) => ui(s, { dialog: "settings" }),
    ),
    command(
      "Help",
      "keys",
      "Keys",
      ["?", "F1"],
      () => true,
      (s) => ui(s, { dialog: "keys" }),
    ),
  ];
}

export function allCommands(hands: PageHands): Command[] {
  return [
    ...draftCommands(hands),
    ...editCommands(hands),
    ...runCommands(),
    ...alternativeCommands(),
    ...historyCommands(),
    ...viewCommands(hands),
  ];
}

/** The keys of a command: the writer's own if they were changed. */
export function keysOf(one: Command, state: AppState): readonly string[] {
  const own = state.preferences.keys[one.id];
  return own === undefined ? one.keys : own === "" ? [] : [own];
}
