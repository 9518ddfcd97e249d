// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The drafts: search, new, and what may be done with each.

import { importFile } from "../client/files";
import {
  binDraft,
  duplicateDraft,
  newDraft,
  openDraft,
  renameDraft,
  restoreDraft,
  watchLibrary,
} from "../client/library";
import type { Session } from "../client/session";
import type { AppState } from "../state/app_state";
import { plural, whenInWords } from "../state/format";
import type { LibraryEntry } from "../wire/drafts";
import { button, h, iconButton, keyed, setAttribute, setText } from "./dom";
import { type MenuItem, toggleMenu } from "./menu";

/** A snippet with its found words marked: U+0002 and U+0003 stand around them. */
function snippetParts(snippet: string): (string | HTMLElement)[] {
  return snippet.split("\u0002").flatMap((part, i) => {
    if (i === 0) return [part];
    const [found = "", rest = ""] = part.split("\u0003");
    return [h("mark", {}, found), rest];
  });
}

export class Library {
  readonly element: HTMLElement;
  readonly #session: Session;
  readonly #list = h("ul", { class: "library__list" });
  readonly #empty = h("p", { class: "library__empty", hidden: true });
  readonly #search: HTMLInputElement;
  readonly #file: HTMLInputElement;
  readonly #bin: HTMLButtonElement;
  readonly #heading = h("h2", { class: "library__heading", hidden: true }, "Bin");

  constructor(session: Session) {
    this.#session = session;
    this.#search = h("input", {
      type: "search",
      class: "library__search",
      placeholder: "Search drafts",
      "aria-label": "Search drafts",
    });
    this.#search.addEventListener("input", () =>
      watchLibrary(session, this.#search.value, session.store.state.library.binned),
    );
    this.#file = h("input", {
      type: "file",
      accept: ".md,.markdown,.txt,text/plain,text/markdown",
      hidden: true,
      "aria-label": "File to import",
    });
    this.#file.addEventListener("change", () => {
      for (const file of this.#file.files ?? []) session.attempt(importFile(session, file));
      this.#file.value = "";
    });
    this.#bin = button("Bin", { class: "text-button", onclick: () => this.#toggleBin() });
    this.element = h(
      "nav",
      { class: "library", "aria-label": "Drafts" },
      this.#search,
      button("+ New draft", { class: "library__new", onclick: () => session.attempt(newDraft(session)) }),
      this.#heading,
      this.#list,
      this.#empty,
      h(
        "div",
        { class: "library__foot" },
        button("Import…", { class: "text-button", onclick: () => this.chooseFile() }),
        this.#bin,
        this.#file,
      ),
    );
    this.#acceptDrops();
  }

  chooseFile(): void {
    this.#file.click();
  }

  render(state: AppState): void {
    const { documents, binned, query } = state.library;
    if (document.activeElement !== this.#search && this.#search.value !== query) this.#search.value = query;
    const now = Date.now();
    keyed(
      this.#list,
      documents ?? [],
      (entry) => `${entry.id} ${entry.binned}`,
      (entry) => this.#row(entry),
      (row, entry) => this.#update(row, entry, entry.id === state.documentId, now),
    );
    this.#heading.hidden = !binned;
    setText(this.#bin, binned ? "Back to the drafts" : "Bin");
    this.#empty.hidden = documents === null || documents.length > 0;
    const nothing = binned ? "The bin is empty." : "There are no drafts yet. Begin a new one, or import a file.";
    setText(this.#empty, query ? "No draft has these words." : nothing);
  }

  #toggleBin(): void {
    const { query, binned } = this.#session.store.state.library;
    watchLibrary(this.#session, query, !binned);
  }

  #row(entry: LibraryEntry): HTMLElement {
    const { id } = entry;
    const open = h(
      "button",
      { type: "button", class: "entry__open", onclick: () => this.#open(id) },
      h("b", { class: "entry__title" }),
      h("span", { class: "entry__excerpt" }),
      h("span", { class: "entry__when" }),
    );
    const more = iconButton("more", "", {
      class: "icon-button entry__more",
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      onclick: () =>
        toggleMenu(more, more.getAttribute("aria-label") ?? "", [{ title: "", items: this.#items(id, row) }]),
    });
    const row = h("li", { class: "entry" }, open, more);
    open.addEventListener("dblclick", () => this.#rename(id, row));
    return row;
  }

  #update(row: HTMLElement, entry: LibraryEntry, isOpen: boolean, now: number): void {
    const part = (name: string): HTMLElement | null => row.querySelector<HTMLElement>(name);
    const title = entry.title || "Untitled draft";
    const [open, more] = [part(".entry__open"), part(".entry__more")];
    if (!open || !more) return;
    row.classList.toggle("entry--open", isOpen);
    setAttribute(open, "aria-current", isOpen ? "true" : null);
    setAttribute(more, "aria-label", `Actions for ${title}`);
    setAttribute(more, "title", `Actions for ${title}`);
    const set = (name: string, text: string): void => {
      const element = part(name);
      if (element) setText(element, text);
    };
    set(".entry__title", title);
    const when = whenInWords(entry.modifiedMs, now);
    set(".entry__when", entry.revisions > 1 ? `${when} · ${plural(entry.revisions, "revision", "revisions")}` : when);
    const excerpt = part(".entry__excerpt");
    if (!excerpt || excerpt.dataset["shown"] === entry.snippet + entry.excerpt) return;
    excerpt.dataset["shown"] = entry.snippet + entry.excerpt;
    excerpt.replaceChildren(...(entry.snippet ? snippetParts(entry.snippet) : [entry.excerpt]));
  }

  #open(id: string): void {
    if (this.#session.store.state.library.binned)
      this.#session.tell("This draft is in the bin. Restore it to go on with it.");
    openDraft(this.#session, id);
  }

  #items(id: string, row: HTMLElement): MenuItem[] {
    const session = this.#session;
    if (session.store.state.library.binned) {
      return [
        { label: "Restore", run: () => session.attempt(restoreDraft(session, id)) },
        {
          label: "Delete for good…",
          run: () => session.store.dispatch({ type: "ui", changes: { dialog: "delete", dialogDocument: id } }),
        },
      ];
    }
    return [
      { label: "Rename", run: () => this.#rename(id, row) },
      { label: "Duplicate", run: () => session.attempt(duplicateDraft(session, id)) },
      { label: "Move to the bin", run: () => session.attempt(binDraft(session, id)) },
    ];
  }

  #rename(id: string, row: HTMLElement): void {
    const title = row.querySelector(".entry__title")?.textContent ?? "";
    const field = h("input", { class: "entry__rename", "aria-label": "New title", maxlength: 200 });
    field.value = title;
    const finish = (keep: boolean): void => {
      if (!field.isConnected) return;
      field.remove();
      row.classList.remove("entry--renaming");
      if (keep && field.value.trim() !== title) renameDraft(this.#session, id, field.value);
    };
    field.addEventListener("blur", () => finish(true));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") finish(true);
      if (event.key === "Escape") finish(false);
      event.stopPropagation();
    });
    row.classList.add("entry--renaming");
    row.append(field);
    field.select();
    field.focus();
  }

  #acceptDrops(): void {
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => {
      event.preventDefault();
      for (const file of event.dataTransfer?.files ?? []) this.#session.attempt(importFile(this.#session, file));
    });
  }
}
