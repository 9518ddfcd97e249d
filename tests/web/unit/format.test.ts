// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  asSentence,
  dash,
  entropyLevel,
  figure,
  grouped,
  megabytes,
  percent,
  seconds,
  settledInWords,
  stopInWords,
  whenInWords,
  wordCount,
  wordStandInWords,
} from "../../../resources/web/src/state/format";
import { revisionDetails, revisionTitle } from "../../../resources/web/src/state/revision_words";
import { parseRevision } from "../../../resources/web/src/wire/drafts";

const noon = new Date(2026, 10, 26, 12, 0, 0).getTime(); // a Thursday

describe("times", () => {
  const minute = 60_000;
  const day = 24 * 60 * minute;
  const cases: [number, string][] = [
    [0, "now"],
    [9 * minute, "9 min ago"],
    [3 * 60 * minute, "3 h ago"],
    [13 * 60 * minute, "yesterday"],
    [2 * day, "Tuesday"],
    [14 * day, "12 Nov"],
    [400 * day, "22 Oct 2025"],
  ];
  for (const [ago, words] of cases) test(words, () => assert.equal(whenInWords(noon - ago, noon), words));
});

describe("figures", () => {
  test("what is not known is a dash", () => {
    for (const text of [figure(null), seconds(null), megabytes(null)]) assert.equal(text, dash);
  });
  test("have the digits that they are known to", () => {
    assert.equal(grouped(20260611), "20\u2009260\u2009611");
    assert.deepEqual([figure(9.44), figure(38.2), figure(1234.5)], ["9.4", "38", "1\u2009235"]);
    assert.deepEqual([seconds(90), seconds(12_340)], ["0.09 s", "12.3 s"]);
    assert.deepEqual([percent(0.461), percent(0.002), percent(0), percent(1)], ["46 %", "< 1 %", "0 %", "100 %"]);
    assert.deepEqual([megabytes(66e6), megabytes(17.3e9)], ["66 MB", "17.3 GB"]);
  });
});

describe("why it stopped", () => {
  test("in words", () => {
    assert.equal(stopInWords("converged", 17, 48), "settled after 17 of 48");
    assert.equal(stopInWords("converged", 1, null), "settled after 1 step");
    assert.equal(stopInWords("cap", 48, 48), "stopped at the cap (48)");
    assert.equal(stopInWords("cancelled", 5, 48), "stopped by you after 5 of 48");
    assert.equal(stopInWords("", null, null), dash);
  });
  test("early, late, not at all", () => {
    assert.equal(settledInWords(9, 48, ["converged"]), "settled early");
    assert.equal(settledInWords(14, 48, ["converged"]), "settled");
    assert.equal(settledInWords(31, 48, ["converged"]), "settled late");
    assert.equal(settledInWords(48, 48, ["cap"]), "not settled");
    assert.equal(settledInWords(null, 48, ["converged"]), "settled");
    assert.equal(settledInWords(null, 48, []), "your own");
  });
});

test("entropy has six levels and plain words", () => {
  assert.deepEqual([0, 9, 10, 60, 150, 250, 340, 65535].map(entropyLevel), [0, 0, 1, 2, 3, 4, 5, 5]);
  assert.equal(wordStandInWords(0, "="), "settled");
  assert.equal(wordStandInWords(60, "."), "not settled yet");
  assert.equal(wordStandInWords(300, "."), "far from settled");
  assert.equal(wordStandInWords(300, "#"), "locked");
});

test("messages are shown as sentences, names of fields and files left alone", () => {
  assert.equal(asSentence("the new text did not end inside its canvas"), "The new text did not end inside its canvas.");
  assert.equal(asSentence("tMin: must not be above 2"), "tMin: must not be above 2.");
  assert.equal(asSentence("model.safetensors is cut short"), "model.safetensors is cut short.");
  assert.equal(asSentence("Nothing to do."), "Nothing to do.");
  assert.equal(asSentence("Are you sure?"), "Are you sure?");
});

test("words are counted in any script", () => {
  assert.equal(wordCount("Don’t panic, said 42 of them. Всё хорошо."), 8);
  assert.equal(wordCount(" \n— "), 0);
});

describe("revisions", () => {
  const revision = (origin: object, more: object = {}) =>
    parseRevision({ revision: 3, parent: 2, created: noon, label: "", origin, words: 41, ...more });
  test("of the writer", () => {
    assert.equal(revisionTitle(revision({ kind: "human" })), "You typed 41 words");
    assert.equal(revisionDetails(revision({ kind: "human" }), noon), "now");
  });
  test("of the model", () => {
    const made = revision({
      kind: "model",
      action: "proofread",
      seed: 20260611,
      steps: 17,
      canvases: 1,
      stop: "converged",
      sampler: { maxSteps: 48 },
    });
    assert.equal(revisionTitle(made), "Proofread");
    assert.equal(revisionDetails(made, noon), "now · model, seed 20260611 · settled after 17 of 48");
  });
  test("a name given stands", () =>
    assert.equal(revisionTitle(revision({ kind: "human" }, { label: "Sent to the board" })), "Sent to the board"));
});
