// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A writer at the browser studio: Chromium, the real server, the demo model. PALIMPSEST_SCREENSHOTS names a folder that
// pictures of the page are put into.

import assert from "node:assert/strict";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { endAll, startServer, until } from "./palimpsest.mjs";

const RUN_TIMEOUT_MS = 120_000;

/** A server, a browser and the page that is open in it. All functions are bound, so that they can be taken out. */
export class Studio {
  server;
  browser;
  page;
  /** What went wrong in the page: exceptions, messages of its console, requests that leave the server. */
  faults = [];

  start = async () => {
    this.server = await startServer();
    this.browser = await chromium.launch({
      executablePath: process.env.PALIMPSEST_CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
    });
  };

  end = async () => {
    await this.browser?.close();
    try {
      await this.server?.stop();
    } finally {
      endAll();
    }
  };

  /** Opens the studio in a window of its own, instead of the one that was open. */
  open = async (options = {}) => {
    await this.page?.context().close();
    this.page = await this.openBeside(this.server.address, options);
    return this.page;
  };

  /** Opens another window, whose server may be another one. */
  openBeside = async (address, options = {}) => {
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: address });
    const opened = await context.newPage();
    opened.setDefaultTimeout(20_000);
    this.faults.length = 0;
    opened.on("pageerror", (error) => this.faults.push(String(error)));
    opened.on("console", (message) => {
      if (message.type() === "error") this.faults.push(message.text());
    });
    opened.on("request", (request) => {
      if (![address, "blob:", "data:"].some((own) => request.url().startsWith(own)))
        this.faults.push(`asks for ${request.url()}`);
    });
    await opened.goto(address);
    await opened.getByText("palimpsest-demo").first().waitFor({ state: "attached" }); // it is connected
    // It shows the newest draft, or says that there is none.
    await opened.locator(".page__empty:not([hidden]), .cm-content").filter({ visible: true }).first().waitFor();
    return opened;
  };

  button = (name, exact = true) => this.page.getByRole("button", { name, exact });
  editor = () => this.page.getByRole("textbox", { name: "Text of the draft" });
  key = (keys) => this.page.keyboard.press(keys);
  type = (text) => this.page.keyboard.insertText(text);

  /** The page's lines, without what is said where there are no words yet. */
  shownText = (page = this.page) =>
    page.evaluate(() =>
      [...document.querySelectorAll(".cm-line")]
        .map((line) => (line.querySelector(".cm-placeholder") ? "" : line.textContent))
        .join("\n"),
    );

  newDraft = async (text, page = this.page) => {
    const editor = page.getByRole("textbox", { name: "Text of the draft" });
    const before = page.url(); // it names the draft
    await page.getByRole("button", { name: "+ New draft", exact: true }).click();
    await until(() => page.url() !== before, "the new draft to be opened");
    await editor.waitFor();
    await until(async () => (await this.shownText(page)) === "", "the empty page");
    await until(() => editor.evaluate((element) => element === document.activeElement), "the caret on the new page");
    if (!text) return;
    await page.keyboard.insertText(text);
    await until(async () => (await this.shownText(page)) === text, "the text to be on the page");
  };

  /** Selects words by the keyboard. */
  select = async (words) => {
    await this.editor().click();
    await this.key("Control+Home");
    const text = await this.shownText();
    const at = text.indexOf(words);
    assert.ok(at >= 0, `${words} in ${text}`);
    for (let i = 0; i < at; i += 1) await this.key("ArrowRight");
    for (let i = 0; i < words.length; i += 1) await this.key("Shift+ArrowRight");
  };

  /** Waits until a run can be seen. */
  started = () => this.page.locator(".progress:not([hidden])").waitFor({ timeout: RUN_TIMEOUT_MS });

  /** Waits until nothing runs. */
  settled = () =>
    this.page.waitForFunction(
      () => !document.querySelector(".compose[data-running]") && !document.querySelector(".progress:not([hidden])"),
      null,
      { timeout: RUN_TIMEOUT_MS },
    );

  /** Has words rewritten by the keyboard, and waits for it. */
  rewrite = async (words, instruction) => {
    await this.select(words);
    await this.key("Control+k");
    await this.type(instruction);
    await this.key("Enter");
    await this.started();
    await this.settled();
  };

  /** Waits until everything that was typed is in the store. The page says what it knows with its next frame. */
  saved = async (page = this.page) => {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await until(async () => /Saved/.test(await page.locator("header").innerText()), "the draft to be saved");
  };

  picture = async (name) => {
    const folder = process.env.PALIMPSEST_SCREENSHOTS;
    if (folder) await this.page.screenshot({ path: join(folder, `${name}.png`) });
  };

  noFaults = () => assert.deepEqual(this.faults, []);
}
