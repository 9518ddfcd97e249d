// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The browser studio as a writer uses it: the library, files, presets, the inspector, questions, keys and settings.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { startServer, until } from "./palimpsest.mjs";
import { Studio } from "./studio_page.mjs";

const LETTER = "I have payed teh fee each quarter. I am writing becuase the reciepts are enclosed.";
const SHORT = "We can't wait.";

const studio = new Studio();
const { button, editor, key, type, shownText, newDraft, select, rewrite, started, settled, saved, picture, noFaults } = studio;

before(studio.start);
after(studio.end);
beforeEach(() => studio.open());

/** The row of a draft in the library. */
const entry = (title) => studio.page.locator(".entry").filter({ hasText: title });

async function fromMenu(anchor, label) {
  await anchor.click();
  await studio.page.getByRole("menu").waitFor();
  await studio.page.getByRole("menuitem", { name: label }).click();
}

async function chooseTheme(label) {
  await button("All actions").click();
  await studio.page.getByRole("menuitemcheckbox", { name: label, exact: true }).click();
}

async function giveTitle(title) {
  const field = studio.page.getByRole("textbox", { name: "Title of the draft" });
  await field.fill(title);
  await field.press("Enter");
  await entry(title).waitFor();
}

async function downloaded(label) {
  const [download] = await Promise.all([
    studio.page.waitForEvent("download"),
    fromMenu(button("All actions"), label),
  ]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}

/** Moves a slider as the arrow keys do. */
async function setSlider(name, value) {
  await studio.page.getByRole("slider", { name, exact: true }).first().evaluate((slider, to) => {
    slider.value = String(to);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    slider.dispatchEvent(new Event("change", { bubbles: true }));
  }, value);
}

test("drafts are found by their words, renamed, doubled, binned, brought back and deleted for good", async () => {
  await newDraft("The heron waits in the shallows.");
  await saved();
  await giveTitle("Of herons");
  const search = studio.page.getByRole("searchbox", { name: "Search drafts" });
  await search.fill("shallows");
  await studio.page.locator(".entry mark", { hasText: "shallows" }).waitFor();
  await search.fill("nowhere-at-all");
  await studio.page.getByText("No draft has these words.").waitFor();
  await search.fill("");
  const row = entry("Of herons");
  await row.waitFor();
  await fromMenu(row.getByRole("button", { name: /^Actions for/ }), "Duplicate");
  await until(async () => (await entry("Of herons").count()) === 2, "the second draft");
  await fromMenu(entry("Of herons").first().getByRole("button", { name: /^Actions for/ }), "Move to the bin");
  await until(async () => (await entry("Of herons").count()) === 1, "the draft to be gone");
  await button("Bin").click();
  await studio.page.getByRole("heading", { name: "Bin" }).waitFor();
  await fromMenu(entry("Of herons").getByRole("button", { name: /^Actions for/ }), "Restore");
  await until(async () => (await entry("Of herons").count()) === 0, "the bin to be empty");
  await button("Back to the drafts").click();
  await until(async () => (await entry("Of herons").count()) === 2, "the draft to be back");
  await fromMenu(entry("Of herons").first().getByRole("button", { name: /^Actions for/ }), "Move to the bin");
  await until(async () => (await entry("Of herons").count()) === 1, "the draft to be gone again");
  await button("Bin").click();
  await studio.page.getByRole("heading", { name: "Bin" }).waitFor();
  await fromMenu(entry("Of herons").getByRole("button", { name: /^Actions for/ }), "Delete for good…");
  await studio.page.getByRole("dialog").getByRole("button", { name: "Delete for good" }).click();
  await until(async () => (await entry("Of herons").count()) === 0, "the draft to be deleted");
  noFaults();
});

test("files come in, and go out as Markdown, text and a diff", async () => {
  const file = join(studio.server.dataDir, "visiting.md");
  await writeFile(file, "# Visiting\n\nWe *came* by boat.\n");
  await studio.page.getByLabel("File to import").setInputFiles(file);
  await until(async () => (await shownText()).startsWith("# Visiting\n\nWe *came* by boat."), "the file's text");
  await saved();
  await editor().click();
  await key("Control+End");
  await type("And left.");
  await saved();
  const text = await shownText();
  const markdown = await downloaded("Export as Markdown");
  assert.match(markdown.name, /\.md$/);
  assert.equal(markdown.text, text);
  const plain = await downloaded("Export as plain text");
  assert.match(plain.name, /\.txt$/);
  assert.ok(plain.text.startsWith("Visiting\n\nWe came by boat."), plain.text);
  const diff = await downloaded("Export the changes as a diff");
  assert.match(diff.name, /\.diff$/);
  assert.match(diff.text, /^\+.*And left\./m);
  noFaults();
});

test("what was typed is undone and redone by key", async () => {
  await newDraft("another");
  await key("Control+Home"); // a step of its own begins where the caret is set anew
  await type("One and ");
  await saved();
  await key("Control+z");
  await until(async () => (await shownText()) === "another", "the undo");
  await key("Control+Shift+z");
  await until(async () => (await shownText()) === "One and another", "the redo");
  await key("Control+z");
  await until(async () => (await shownText()) === "another", "the second undo");
  await key("Control+y");
  await until(async () => (await shownText()) === "One and another", "the second redo");
  noFaults();
});

for (const preset of ["Shorten", "More formal", "As a list", "Continue", "Custom…"]) {
  test(`the preset “${preset}” runs, and changes nothing outside its words`, async () => {
    await newDraft(`${SHORT} The boat is late.`);
    if (preset === "Continue") {
      await editor().click();
      await key("Control+End");
    } else await select(SHORT);
    await button(preset).click();
    await until(async () => (await button(preset).getAttribute("aria-pressed")) === "true", "the preset");
    if (preset === "Custom…") {
      await studio.page.getByRole("textbox", { name: "What to do with the words" }).click();
      await type("Make this more formal by expanding contractions");
    }
    await button("Run").click();
    await started();
    await settled();
    const text = await shownText();
    if (preset === "Continue") assert.ok(text.startsWith(`${SHORT} The boat is late.`), text);
    else assert.ok(text.endsWith(" The boat is late."), text);
    noFaults();
  });
}

test("the inspector follows a run; settings and the seed are the writer's", async () => {
  await newDraft(LETTER);
  await setSlider("Most steps", 4);
  const seed = studio.page.getByRole("textbox", { name: "Seed" });
  await seed.fill("41");
  await seed.press("Enter");
  await rewrite("I have payed teh fee each quarter.", "Make this more formal by expanding contractions");
  const inspector = studio.page.getByRole("complementary", { name: "Inspector" });
  await inspector.getByText("Seed of the last run").waitFor();
  assert.match(await inspector.locator(".sampler").innerText(), /Seed of the last run\s+41/);
  const step = inspector.getByRole("slider", { name: "Step", exact: true }).first();
  const steps = Number(/of (\d+)/.exec(await step.getAttribute("aria-valuetext"))?.[1]);
  assert.ok(steps >= 1 && steps <= 4, `${steps} steps`);
  assert.ok((await inspector.locator(".curve__bar").count()) >= steps);
  assert.match((await inspector.locator(".curve__line").getAttribute("d")) ?? "", /\d/);
  assert.equal(Number(await inspector.getByRole("slider", { name: "Words of the canvas" }).getAttribute("aria-valuemax")) > 200, true);
  await inspector.getByRole("button", { name: "First step" }).click();
  await until(async () => /Step 1 of/.test((await step.getAttribute("aria-valuetext")) ?? ""), "the first step");
  await inspector.getByRole("button", { name: "Play the steps" }).first().click();
  await until(
    async () => (await step.getAttribute("aria-valuetext")) === `Step ${steps} of ${steps}`,
    "the steps to have been played",
  );
  await inspector.getByRole("button", { name: "Newest" }).first().click();
  await inspector.getByRole("button", { name: "What do these do?" }).click();
  await picture("inspector");
  await inspector.getByRole("button", { name: "Reset" }).click();
  await until(async () => await inspector.getByRole("button", { name: "Reset" }).isDisabled(), "the reset");
  noFaults();
});

test("the same seed again offers the same words, a new one need not", async () => {
  await newDraft(LETTER);
  await select("I have payed teh fee each quarter.");
  const offered = async () => {
    await started();
    await settled();
    return await studio.page.locator(".cm-content").innerText();
  };
  await button("Re-noise").click();
  await button("Fully").click();
  const first = await offered();
  await key("Control+Shift+r");
  assert.equal(await offered(), first);
  noFaults();
});

test("a question is sent as it was typed, is answered beside the text, and outlives the server (F025, F100)", async () => {
  await newDraft(LETTER);
  const own = await startServer();
  const page = await studio.openBeside(own.address);
  const port = new URL(own.address).port;
  await newDraft(LETTER, page);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator(".canvas").first().waitFor({ timeout: 120_000 });
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("button", { name: "Ask about the draft", exact: true }).click();
  assert.ok((await page.locator(".canvas").count()) > 0, "the canvas stays while another panel is opened");
  const field = page.getByRole("textbox", { name: "Question about the draft" });
  const lines = ["Fix the spelling:", "```", "  teh cat", "```"];
  const asked = page.waitForRequest((request) => request.url().endsWith("/v1/chat/completions"));
  await field.click();
  for (const [i, line] of lines.entries()) {
    if (i > 0) await page.keyboard.press("Shift+Enter");
    await page.keyboard.insertText(line);
  }
  await page.keyboard.press("Enter");
  const body = JSON.parse((await asked).postData());
  assert.equal(body.messages.at(-1).content, lines.join("\n"));
  const answers = page.getByRole("article", { name: "Answer" });
  await until(async () => (await answers.first().getByRole("button", { name: "Insert at the caret" }).count()) > 0,
    "the answer", 120_000);
  assert.equal(await page.getByRole("article", { name: "Question" }).first().locator(".turn__text").evaluate(
    (shown) => shown.textContent), lines.join("\n"));
  assert.ok((await page.locator(".canvas").count()) > 0, "and while the model answers");
  await own.kill();
  await page.getByText("No connection").first().waitFor();
  const again = await startServer(["--port", port], { dataDir: own.dataDir });
  await until(async () => /palimpsest-demo/.test(await page.locator("header").innerText()), "the connection", 60_000);
  assert.equal(await page.getByRole("article").count(), 2, "the conversation is there");
  await field.click();
  await page.keyboard.insertText("Fix the spelling: a dgo");
  await page.keyboard.press("Enter");
  await until(async () => (await answers.nth(1).getByRole("button", { name: "Insert at the caret" }).count()) > 0,
    "the second answer", 120_000);
  await answers.nth(1).getByRole("button", { name: "Insert at the caret" }).click();
  await page.locator(".change__inserted, .change").first().waitFor(); // a proposal, not yet the text
  await page.context().close();
  await again.stop();
});

test("without words to work on, fill writes at the caret (Ctrl+K)", async () => {
  await newDraft("The boat was late. It left at noon.");
  await editor().click();
  await key("Control+Home");
  for (let i = 0; i < "The boat was late. ".length; i += 1) await key("ArrowRight");
  await key("Control+k");
  await started();
  await settled();
  const text = await shownText();
  assert.ok(text.startsWith("The boat was late.") && text.endsWith("It left at noon."), text);
  noFaults();
});

test("every action has a place in the menu, and the keys are listed", async () => {
  await newDraft("One");
  await button("All actions").click();
  const menu = studio.page.getByRole("menu");
  await menu.waitFor();
  for (const label of ["New draft", "Undo", "Rewrite", "Three alternatives", "Accept all", "Play the steps", "Dark"])
    assert.ok((await menu.getByText(label).count()) > 0, label);
  await key("Escape");
  await editor().click();
  await fromMenu(button("All actions"), /^Keys/);
  const keys = studio.page.getByRole("dialog");
  await keys.waitFor();
  for (const combination of ["Ctrl+K", "Ctrl+L", "Ctrl+Enter", "F7"])
    assert.ok((await keys.getByText(combination, { exact: true }).count()) > 0, combination);
  await picture("keys");
  await key("Escape");
  await until(async () => !(await keys.isVisible()), "the dialog to close");
  noFaults();
});

test("light and dark are the writer's choice, and are kept", async () => {
  const paper = () => studio.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await chooseTheme("Light");
  const light = await paper();
  await chooseTheme("Dark");
  await until(async () => (await paper()) !== light, "the dark page");
  const dark = await paper();
  await studio.page.reload();
  assert.equal(await paper(), dark);
  noFaults();
});

test("a server that wants a key gets it in the page, and a wrong one is told", async () => {
  const own = await startServer(["--api-key", "correct-horse"]);
  const context = await studio.browser.newContext();
  const page = await context.newPage();
  await page.goto(own.address);
  const dialog = page.getByRole("dialog", { name: "API key" });
  await dialog.waitFor();
  await dialog.getByLabel("API key").fill("wrong");
  await dialog.getByRole("button", { name: "Go on" }).click();
  await page.getByText("The server did not accept this key.").waitFor();
  await dialog.getByLabel("API key").fill("correct-horse");
  await dialog.getByRole("button", { name: "Go on" }).click();
  await page.getByText("palimpsest-demo").first().waitFor({ state: "attached" });
  assert.ok(!own.log().includes("correct-horse"), "the key is not logged");
  await context.close();
  await own.stop();
});
