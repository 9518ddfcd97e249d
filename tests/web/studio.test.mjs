// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The browser studio as a writer uses it: runs, proposals, history, and what is left after a crash.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, beforeEach, test } from "node:test";
import { startServer, until } from "./palimpsest.mjs";
import { Studio } from "./studio_page.mjs";

const LETTER = "I have payed teh fee each quarter. I am writing becuase the reciepts are enclosed.";
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const studio = new Studio();
const { button, editor, key, type, shownText, newDraft, select, rewrite, started, settled, picture, noFaults } = studio;

before(studio.start);
after(studio.end);
beforeEach(() => studio.open());

test("a pasted text is proofread live, change by change, and undone (F093, F094)", async () => {
  await newDraft(LETTER);
  await button("Run").click();
  await started();
  await studio.page.locator(".canvas").first().waitFor({ timeout: 120_000 }); // the canvas is seen on the page
  await picture("proofread-running");
  await settled();
  await studio.page.locator(".change__inserted").first().waitFor();
  await picture("proofread-changes");
  const inserted = studio.page.locator(".change__inserted");
  const changes = await inserted.count();
  await studio.page.getByRole("button", { name: /^Accept: / }).first().click();
  await until(async () => (await inserted.count()) === changes - 1, "the change to be taken");
  await editor().click();
  await key("Control+z");
  await until(async () => (await inserted.count()) === changes, "the change to be offered again");
  await studio.page.getByRole("button", { name: /^Reject: / }).first().click();
  await until(async () => (await inserted.count()) === changes - 1, "the change to be turned down");
  if (changes > 1) await button("Accept all").click();
  await until(async () => (await inserted.count()) === 0, "all to be decided");
  if (changes > 1) assert.notEqual(await shownText(), LETTER);
  noFaults();
});

test("stop restores, keep proposes what settled (F099)", async () => {
  await newDraft(LETTER);
  await button("Run").click();
  await started();
  await button("Stop").click();
  await settled();
  assert.equal(await shownText(), LETTER);
  assert.equal(await studio.page.locator(".change__inserted").count(), 0);
  noFaults();
});

test("pause, step, a word's alternatives and a lock, while it runs (F017, reach in)", async () => {
  await newDraft(LETTER);
  await button("Run").click();
  await started();
  await button("Pause").click();
  await button("Resume").waitFor();
  await studio.page.locator(".canvas .word, .canvas span").first().waitFor({ timeout: 120_000 });
  await button("Step").click();
  const word = studio.page.locator(".canvas").first();
  await word.click({ position: { x: 12, y: 12 } });
  const card = studio.page.locator(".word-card");
  await card.waitFor();
  await picture("word-card");
  await studio.page.getByRole("button", { name: "Lock the word" }).click();
  await button("Step").click();
  await studio.page.getByText(/locked/).first().waitFor();
  await button("Resume").click();
  await settled();
  noFaults();
});

test("rewrite with an instruction, by key (Ctrl+K)", async () => {
  await newDraft(LETTER);
  await rewrite("I have payed teh fee each quarter.", "Correct the spelling.");
  await studio.page.locator(".change__inserted").first().waitFor(); // something is offered
  assert.ok((await shownText()).includes("reciepts are enclosed."), "nothing outside the selection changes (F101)");
  noFaults();
});

test("words are re-noised, and nothing but them", async () => {
  await newDraft(LETTER);
  await select("each quarter");
  await button("Re-noise").click();
  await button("Fully").click();
  await started();
  await settled();
  await picture("renoise");
  assert.ok((await shownText()).endsWith("I am writing becuase the reciepts are enclosed."));
  noFaults();
});

test("locked words stay, whatever runs (F017)", async () => {
  await newDraft(LETTER);
  await select("payed");
  await button("Lock").click();
  await studio.page.locator(".lock-sign").first().waitFor({ state: "attached" });
  await key("ArrowRight");
  await button("Run").click();
  await started();
  await settled();
  if (await button("Accept all").count()) await button("Accept all").click();
  await until(async () => (await shownText()).includes("payed"), "the locked word to be there");
  noFaults();
});

test("three alternatives side by side, one is taken (F098)", async () => {
  await newDraft(LETTER);
  await select("I have payed teh fee each quarter.");
  await button("3 alternatives").click();
  await started();
  await settled();
  const cards = studio.page.locator(".alternative");
  await cards.first().waitFor();
  await picture("alternatives");
  assert.equal(await cards.count(), 3);
  await key("Alt+2");
  await studio.page.locator(".alternative--chosen[aria-label='Alternative 2']").waitFor();
  await studio.page.getByRole("button", { name: /^Take / }).first().click();
  await until(async () => (await cards.count()) === 0, "the tray to close");
  assert.ok((await shownText()).endsWith("I am writing becuase the reciepts are enclosed."));
  noFaults();
});

test("the text is continued from the caret", async () => {
  await newDraft("I have paid the fee. ");
  await key("Control+End");
  await button("Continue").click();
  await button("Run").click();
  await started();
  await settled();
  assert.ok((await shownText()).startsWith("I have paid the fee."));
  noFaults();
});

test("steps are gone through afterwards, and one becomes the draft (scrub, branch)", async () => {
  await newDraft(LETTER);
  await rewrite("I have payed teh fee each quarter.", "Correct the spelling.");
  await editor().click();
  await key("Control+Alt+ArrowLeft");
  await picture("scrub");
  await button("Branch here").click();
  await until(async () => !(await shownText()).startsWith("I have payed teh fee each quarter."), "the step's text");
  noFaults();
});

test("drafts survive a reload and a crash of the server (F102)", async () => {
  await newDraft("These words must not be lost. 漢字 👩‍👩‍👧");
  await studio.saved();
  await studio.page.reload();
  await until(async () => (await shownText()).includes("must not be lost. 漢字 👩‍👩‍👧"), "the text after a reload");
  const own = await startServer();
  const other = await studio.openBeside(own.address);
  await newDraft("Kept through a crash.", other);
  await studio.saved(other);
  await own.kill();
  await other.context().close();
  const again = await startServer([], { dataDir: own.dataDir });
  const reopened = await studio.openBeside(again.address);
  await reopened.getByText("Kept through a crash.").first().waitFor();
  await reopened.context().close();
  await again.stop();
});

test("two windows stay in step", async () => {
  await newDraft("One");
  await studio.saved();
  const second = await studio.page.context().newPage();
  await second.goto(studio.page.url());
  await until(async () => (await second.locator(".cm-line").allInnerTexts()).join("") === "One", "the second window");
  await second.getByRole("textbox", { name: "Text of the draft" }).click();
  await second.keyboard.press("Control+End");
  await second.keyboard.insertText(" two");
  await until(async () => (await shownText()) === "One two", "the first window to follow");
  await second.close();
});

test("copying gives plain text, exactly (F097)", async () => {
  await newDraft("a\tb  c\n\nd");
  await key("Control+a");
  await key("Control+c");
  assert.equal(await studio.page.evaluate(() => navigator.clipboard.readText()), "a\tb  c\n\nd");
});

for (const colorScheme of ["light", "dark"]) {
  test(`no accessibility fault that axe knows, ${colorScheme} (F090)`, async () => {
    await studio.open({ colorScheme, bypassCSP: true }); // for axe, which is put into the page
    await newDraft(LETTER);
    await button("Run").click();
    await started();
    await settled();
    await studio.page.evaluate(axe);
    const found = await studio.page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(
      found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(" ")}`),
      [],
    );
    await picture(`studio-${colorScheme}`);
  });
}

test("on a phone nothing is cut off", async () => {
  await studio.open({ viewport: { width: 390, height: 844 }, reducedMotion: "reduce" });
  assert.ok(await studio.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await picture("phone");
  noFaults();
});
