// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Turns what the state says about the page into CodeMirror's decorations.

import { type EditorState, type Extension, type Range, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import type { PageMark } from "../../state/page_marks";
import { CanvasWidget, type CanvasPainters } from "./canvas_widget";
import { type ChangeHandlers, ChangeWidget, GapWidget, LockWidget, OwnProposalWidget } from "./change_widget";
import { type TrayHandlers, TrayWidget } from "./tray_widget";

export const setMarks = StateEffect.define<readonly PageMark[]>();

const lock = Decoration.mark({ class: "lock" });
const lockSign = Decoration.widget({ widget: new LockWidget(), side: 1 });
const span = Decoration.mark({ class: "span" });
const gap = Decoration.widget({ widget: new GapWidget(), side: 1 });
const deleted = Decoration.mark({ class: "change__deleted", tagName: "del" });
const canvasLine = Decoration.line({ class: "line--canvas" });

export interface MarkHandlers extends ChangeHandlers, TrayHandlers {}

function linesOf(doc: Text, start: number, end: number): Range<Decoration>[] {
  const lines: Range<Decoration>[] = [];
  for (let at = start; ;) {
    const line = doc.lineAt(at);
    lines.push(canvasLine.range(line.from));
    if (line.to >= end) return lines;
    at = line.to + 1;
  }
}

function rangesOf(mark: PageMark, doc: Text, painters: CanvasPainters, handlers: MarkHandlers): Range<Decoration>[] {
  switch (mark.kind) {
    case "lock":
      return mark.start < mark.end ? [lockSign.range(mark.start), lock.range(mark.start, mark.end)] : [];
    case "span": {
      const lines = linesOf(doc, mark.start, mark.end);
      const words = mark.start < mark.end ? span.range(mark.start, mark.end) : gap.range(mark.start);
      return [...lines, words];
    }
    case "canvas": {
      const widget = new CanvasWidget(mark.key, painters);
      const place = canvasLine.range(doc.lineAt(mark.start).from);
      if (mark.start < mark.end) return [place, Decoration.replace({ widget }).range(mark.start, mark.end)];
      return [place, Decoration.widget({ widget, side: 1 }).range(mark.start)];
    }
    case "change": {
      const widget = new ChangeWidget(mark, doc.sliceString(mark.start, mark.end), handlers);
      const place = Decoration.widget({ widget, side: 1 }).range(mark.end);
      return mark.start < mark.end ? [deleted.range(mark.start, mark.end), place] : [place];
    }
    case "tray":
      return [
        Decoration.widget({ widget: new TrayWidget(mark.proposal, handlers), side: 1, block: true }).range(
          doc.lineAt(mark.at).to,
        ),
      ];
    case "own":
      return [Decoration.widget({ widget: new OwnProposalWidget(mark.text, handlers), side: 1 }).range(mark.at)];
  }
}

/**
 * Marks are told in the text of the state, which the editor may be a moment behind of: what lies outside is left out.
 */
function fits(mark: PageMark, length: number): boolean {
  const [start, end] = "at" in mark ? [mark.at, mark.at] : [mark.start, mark.end];
  return start >= 0 && start <= end && end <= length;
}

/** The field that holds the decorations. It maps them through edits until the next `setMarks` effect. */
export function markField(painters: CanvasPainters, handlers: MarkHandlers): Extension {
  const build = (marks: readonly PageMark[], state: EditorState): DecorationSet =>
    Decoration.set(
      marks
        .filter((mark) => fits(mark, state.doc.length))
        .flatMap((mark) => rangesOf(mark, state.doc, painters, handlers)),
      true,
    );
  return StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update: (decorations, transaction) => {
      const effect = transaction.effects.find((one) => one.is(setMarks));
      return effect ? build(effect.value, transaction.state) : decorations.map(transaction.changes);
    },
    provide: (field) => [
      EditorView.decorations.from(field),
      // The caret goes past a canvas in one step, as past a letter.
      EditorView.atomicRanges.of((view) =>
        view.state.field(field).update({ filter: (_from, _to, value) => value.spec.widget instanceof CanvasWidget }),
      ),
    ],
  });
}
