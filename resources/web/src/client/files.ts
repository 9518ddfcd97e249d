// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Drafts in and out as files.

import { cleanedText, isHighSurrogate } from "../state/text_edit";
import { unifiedDiff } from "../state/word_diff";
import { list, number, object, string } from "../wire/fields";
import { newDraft } from "./library";
import type { Session } from "./session";

/** A message may have 256 KiB; what is longer follows as edits. */
const firstPart = 32_768;

/** Larger files are rarely drafts, and a page that holds them would be slow. */
const largestFileBytes = 8 * 1024 * 1024;

function titleOf(file: File): string {
  return file.name.replace(/\.(md|markdown|txt|text)$/i, "") || file.name;
}

export async function importFile(session: Session, file: File): Promise<void> {
  if (file.size > largestFileBytes) {
    session.complain(`${file.name} is larger than 8 MB. Cut it into smaller files first.`);
    return;
  }
  const text = cleanedText((await file.text()).replaceAll("\r\n", "\n").replace(/^\uFEFF/, ""));
  const at = isHighSurrogate(text.charCodeAt(firstPart - 1)) ? firstPart - 1 : firstPart;
  const document = await newDraft(session, titleOf(file), text.slice(0, at));
  if (text.length <= at) return;
  const stop = session.store.subscribe((state) => {
    if (state.draft?.id !== document) return;
    stop();
    session.store.dispatch({ type: "typed", edit: { start: at, end: at, text: text.slice(at), typing: false } });
    session.flush();
  });
}

function fileName(title: string, extension: string): string {
  const plain = title.replace(/[\\/:*?"<>|\u0000-\u001f]+/g, " ").trim() || "draft";
  return `${plain}.${extension}`;
}

function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000); // the browser has begun to read it by then
}

export function exportMarkdown(session: Session): void {
  const { draft } = session.store.state;
  if (draft) download(fileName(draft.title, "md"), "text/markdown", draft.text);
}

/** Markdown's signs are taken away where they begin a line or hold words between them. */
function plainText(markdown: string): string {
  return markdown
    .replace(/^#{1,6}\s+/gm, "")
    .replace(/^>\s?/gm, "")
    .replace(/(\*\*|__)(?=\S)(.+?)(?<=\S)\1/g, "$2")
    .replace(/(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])/g, "$1")
    .replace(/`([^`\n]+)`/g, "$1")
    .replace(/\[([^\]\n]+)\]\(([^)\s]+)\)/g, "$1 ($2)");
}

export function exportText(session: Session): void {
  const { draft } = session.store.state;
  if (draft) download(fileName(draft.title, "txt"), "text/plain", plainText(draft.text));
}

/** What changed since a revision; without one, since the first. */
export async function exportDiff(session: Session, since?: number): Promise<void> {
  await session.idle();
  const { draft } = session.store.state;
  if (!draft) return;
  const document = draft.id;
  let revision = since;
  if (revision === undefined) {
    const reply = await session.request({ type: "revisions", document });
    revision = Math.min(...list(reply, "revisions", (one) => number(object(one, "revision"), "revision")));
  }
  if (!Number.isFinite(revision)) {
    session.tell("There is nothing to compare with yet: this draft has no earlier revision.");
    return;
  }
  const before = string(await session.request({ type: "revision.text", document, revision }), "text");
  const diff = unifiedDiff(before, draft.text, `${draft.title} (revision ${revision})`, draft.title);
  if (diff) download(fileName(draft.title, "diff"), "text/x-diff", diff);
  else session.tell(`Nothing has changed since revision ${revision}.`);
}
