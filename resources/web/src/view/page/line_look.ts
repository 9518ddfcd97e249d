// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Each paragraph runs in the direction of its first letter that has one. CodeMirror has to know, so the attribute goes
// on the lines that are on the screen. Blank lines between paragraphs are lower than lines of text.

import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

const automatic = Decoration.line({ attributes: { dir: "auto" } });
const blank = Decoration.line({ class: "line--blank" });

function lineLooks(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to;) {
      const line = view.state.doc.lineAt(at);
      builder.add(line.from, line.from, line.length > 0 || view.state.doc.lines === 1 ? automatic : blank);
      at = line.to + 1;
    }
  }
  return builder.finish();
}

export const lineLook = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = lineLooks(view);
    }

    update(update: ViewUpdate): void {
      if (update.docChanged || update.viewportChanged) this.decorations = lineLooks(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);
