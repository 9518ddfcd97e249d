// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { commonElements, ownPieces, unifiedDiff, words } from "../../../resources/web/src/state/word_diff";
import { seeded } from "./samples";

test("words and spaces make up the text", () => {
  for (const text of ["", "a", " a  b\n", "don’t — stop!", "naïve Straße 😀", "1 998,50"])
    assert.equal(words(text).join(""), text);
});

test("common elements are equal on both sides, in order", () => {
  const below = seeded(3);
  for (let round = 0; round < 500; round++) {
    const list = (): string[] => Array.from({ length: below(12) }, () => "abc"[below(3)] as string);
    const [a, b] = [list(), list()];
    const { inA, inB } = commonElements(a, b);
    assert.deepEqual(
      a.filter((_, i) => inA[i]),
      b.filter((_, i) => inB[i]),
    );
  }
});

test("what only one of the alternatives has is marked", () => {
  const pieces = ownPieces("confirm by letter that it is mine", ["confirm in writing that it is mine"]);
  assert.equal(pieces.map((piece) => piece.text).join(""), "confirm by letter that it is mine");
  assert.deepEqual(
    pieces.filter((piece) => !piece.common).map((piece) => piece.text.trim()),
    ["by letter"],
  );
  assert.ok(ownPieces("alone", []).every((piece) => piece.common));
});

describe("unified diff", () => {
  test("nothing for equal texts", () => assert.equal(unifiedDiff("a\nb", "a\nb", "x", "y"), ""));

  test("one changed line with three lines around it", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9";
    const diff = unifiedDiff(before, before.replace("5", "five"), "old", "new");
    assert.equal(diff, "--- old\n+++ new\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  });

  test("an added line at the end, and changes far apart", () => {
    const before = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`).join("\n");
    const after = `${before.replace("line 2\n", "")}\nlast`;
    const hunks = unifiedDiff(before, after, "a", "b").match(/^@@.*@@$/gm);
    assert.deepEqual(hunks, ["@@ -1,5 +1,4 @@", "@@ -28,3 +27,4 @@"]);
  });
});
