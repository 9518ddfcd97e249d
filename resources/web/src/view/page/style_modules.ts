// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Stands in for `style-mod` when the page is bundled (build.mjs). CodeMirror mounts its rules through that package,
// which writes a <style> element into a document; the page's Content-Security-Policy forbids those. Here the same rules
// go into a constructed style sheet, which needs no permission.

import { StyleModule as Rules } from "../../../node_modules/style-mod/src/style-mod.js";

const mounted = new Set<Rules>();
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [sheet, ...document.adoptedStyleSheets];

export class StyleModule extends Rules {
  /** Later modules of a list take precedence, as the package has it. */
  static override mount(_root: Document | ShadowRoot | DocumentOrShadowRoot, modules: Rules | readonly Rules[]): void {
    for (const rules of [modules].flat() as Rules[]) mounted.add(rules);
    sheet.replaceSync([...mounted].map((rules) => rules.getRules()).join("\n"));
  }
}
