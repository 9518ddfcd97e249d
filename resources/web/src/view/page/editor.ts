// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The writing surface: CodeMirror shows the text of the state and tells it what the writer typed. It holds no history
// of its own; undo and redo are the server's.

import { standardKeymap } from "@codemirror/commands";
import { Annotation, EditorSelection, EditorState, Transaction } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import type { Session } from "../../client/session";
import type { AppState, DraftView } from "../../state/app_state";
import { type CanvasContent, type PageMark, pageMarks } from "../../state/page_marks";
import { cleanedText, editBetween } from "../../state/text_edit";
import type { Span } from "../../wire/drafts";
import { type CanvasHandlers, CanvasPainters } from "./canvas_widget";
import { lineLook } from "./line_look";
import { type MarkHandlers, markField, setMarks } from "./marks";

/** Marks a change that came from the state, which must not go back to it. */
const fromState = Annotation.define<boolean>();

export interface PageHandlers extends MarkHandlers, CanvasHandlers {
  /** The selection or the layout changed: what floats over the page has to be placed anew. */
  moved(): void;
}

function sameSpan(a: Span, b: Span): boolean {
  return a.start === b.start && a.end === b.end;
}

/** All of a mark that its decoration is made of; canvases are painted apart. */
function fingerprint(mark: PageMark): string {
  switch (mark.kind) {
    case "canvas":
      return `canvas ${mark.key} ${mark.start} ${mark.end}`;
    case "tray":
      return `tray ${mark.at} ${mark.proposal.id} ${mark.proposal.chosen} ${mark.proposal.alternatives.map((one) => one.text).join("\n")}`;
    default:
      return Object.values(mark).join(" ");
  }
}

export class PageEditor {
  readonly view: EditorView;
  readonly painters: CanvasPainters;
  readonly #session: Session;
  #document: string | null = null;
  #text = "";
  #marks = "";
  #feeding = false;

  constructor(parent: HTMLElement, session: Session, handlers: PageHandlers) {
    this.#session = session;
    this.painters = new CanvasPainters(handlers);
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          EditorState.lineSeparator.of("\n"), // a carriage return is a letter here: positions must not shift
          EditorView.lineWrapping,
          EditorView.perLineTextDirection.of(true),
          lineLook,
          placeholder("Write here, or paste a text and press Enter in the box below to have it proofread."),
          keymap.of(standardKeymap),
          markField(this.painters, handlers),
          EditorView.contentAttributes.of({
            "aria-label": "Text of the draft",
            tabindex: "0",
            spellcheck: "false",
            autocapitalize: "sentences",
          }),
          EditorView.updateListener.of((update) => {
            for (const transaction of update.transactions) this.#typed(transaction);
            if (update.selectionSet || update.docChanged) this.#selected();
            if (update.selectionSet || update.docChanged || update.geometryChanged || update.focusChanged)
              handlers.moved();
          }),
          EditorView.domEventHandlers({
            compositionstart: () => session.setComposing(true),
            compositionend: () => session.setComposing(false),
            blur: () => session.setComposing(false),
          }),
        ],
      }),
    });
    this.view.scrollDOM.addEventListener("scroll", () => handlers.moved(), { passive: true });
    // The text follows the state at once, so that what is typed next is typed into the newest one.
    session.store.subscribe((state, before) => {
      if (state.draft !== before.draft && !this.#feeding) this.#follow(state.draft);
    });
  }

  /** Draws what lies over the text. */
  render(state: AppState): void {
    const marks = pageMarks(state);
    const contents = new Map<string, CanvasContent>();
    for (const mark of marks) if (mark.kind === "canvas") contents.set(mark.key, mark.content);
    const { entropyShown } = state.preferences;
    const painted = this.painters.paint(contents, entropyShown !== state.ui.entropyHeld);
    const fingerprints = `${state.documentId}\n${marks.map(fingerprint).join("\n")}`;
    if (fingerprints !== this.#marks) {
      this.#marks = fingerprints;
      this.view.dispatch({ effects: setMarks.of(marks), annotations: fromState.of(true) });
    } else if (painted) {
      this.view.requestMeasure();
    }
    if (state.draft && !sameSpan(state.draft.selection, this.#selection())) this.#select(state.draft.selection);
  }

  focus(): void {
    this.view.focus();
  }

  #selection(): Span {
    const { from, to } = this.view.state.selection.main;
    return { start: from, end: to };
  }

  #select(span: Span): void {
    const { length } = this.view.state.doc;
    const selection = EditorSelection.single(Math.min(span.start, length), Math.min(span.end, length));
    this.view.dispatch({ selection, scrollIntoView: true, annotations: fromState.of(true) });
  }

  #follow(draft: DraftView | null): void {
    const text = draft?.text ?? "";
    const document = draft?.id ?? null;
    const isOther = document !== this.#document;
    if (text === this.#text && !isOther) return;
    const edit = isOther ? { start: 0, end: this.#text.length, text } : editBetween(this.#text, text);
    this.#text = text;
    this.#document = document;
    this.view.dispatch({
      changes: { from: edit.start, to: edit.end, insert: edit.text },
      ...(isOther ? { selection: EditorSelection.cursor(Math.min(draft?.selection.end ?? 0, text.length)) } : {}),
      annotations: [fromState.of(true), Transaction.addToHistory.of(false)],
    });
  }

  #typed(transaction: Transaction): void {
    if (!transaction.docChanged || transaction.annotation(fromState)) return;
    this.#text = transaction.newDoc.toString();
    const typing = transaction.isUserEvent("input.type") || transaction.isUserEvent("delete");
    let shift = 0;
    this.#feeding = true;
    transaction.changes.iterChanges((fromA, toA, _fromB, _toB, inserted) => {
      const text = cleanedText(inserted.toString());
      const edit = { start: fromA + shift, end: toA + shift, text, typing };
      shift += text.length - (toA - fromA);
      this.#session.store.dispatch({ type: "typed", edit });
    });
    this.#feeding = false;
    this.#follow(this.#session.store.state.draft); // what cannot be kept, such as half a character, goes at once
    this.#session.flush();
  }

  #selected(): void {
    const { draft } = this.#session.store.state;
    const selection = this.#selection();
    if (!draft || sameSpan(draft.selection, selection)) return;
    this.#session.store.dispatch({ type: "draft", document: draft.id, changes: { selection } });
  }
}
