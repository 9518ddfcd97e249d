// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Where two texts differ, word by word and line by line. Pure.

export interface Piece {
  text: string;
  /** Whether the piece is in the other text too, in the same order. */
  common: boolean;
}

/** Words with the space behind them apart, so that "word" and "word " are one word. */
export function words(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}\p{M}'’]+|[^\s\p{L}\p{N}\p{M}]/gu) ?? [];
}

/** Beyond this many cells the table would take seconds: what lies between the equal ends then counts as different. */
const mostCells = 4_000_000;

/** For each element of `a` and `b`, whether it belongs to a longest common subsequence. */
export function commonElements(a: readonly string[], b: readonly string[]): { inA: boolean[]; inB: boolean[] } {
  const inA = new Array<boolean>(a.length).fill(false);
  const inB = new Array<boolean>(b.length).fill(false);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) {
    inA[head] = inB[head] = true;
    head++;
  }
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) {
    inA[a.length - 1 - tail] = inB[b.length - 1 - tail] = true;
    tail++;
  }
  const rows = a.length - head - tail;
  const columns = b.length - head - tail;
  if (rows === 0 || columns === 0 || rows * columns > mostCells) return { inA, inB };

  // lengths[i][j]: the longest common subsequence of a from i and b from j on.
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      const same = a[head + i] === b[head + j];
      lengths[i * width + j] = same ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < rows && j < columns;) {
    if (a[head + i] === b[head + j]) inA[head + i++] = inB[head + j++] = true;
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return { inA, inB };
}

/** The text in pieces; those that none of the others has are not common. */
export function ownPieces(text: string, others: readonly string[]): Piece[] {
  const own = words(text);
  const shared = new Array<boolean>(own.length).fill(others.length === 0);
  for (const other of others) {
    commonElements(own, words(other)).inA.forEach((common, i) => (shared[i] ||= common));
  }
  return own.reduce<Piece[]>((pieces, word, i) => {
    const last = pieces.at(-1);
    // A space between two words of one kind belongs to them, so that marks run through.
    const before = own[i - 1];
    const space = /^\s+$/.test(word) && before !== undefined;
    const common = space ? (shared[i - 1] ?? true) || (shared[i + 1] ?? true) : (shared[i] ?? true);
    if (last && last.common === common) last.text += word;
    else pieces.push({ text: word, common });
    return pieces;
  }, []);
}

interface DiffLine {
  sign: " " | "-" | "+";
  text: string;
}

function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const { inA, inB } = commonElements(before, after);
  const lines: DiffLine[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length;) {
    if (i < before.length && !inA[i]) lines.push({ sign: "-", text: before[i++] ?? "" });
    else if (j < after.length && !inB[j]) lines.push({ sign: "+", text: after[j++] ?? "" });
    else {
      lines.push({ sign: " ", text: before[i] ?? "" });
      i++;
      j++;
    }
  }
  return lines;
}

function hunk(lines: readonly DiffLine[], from: number, to: number): string {
  const linesBefore = (sign: "-" | "+"): number => lines.slice(0, from).filter((line) => line.sign !== sign).length;
  const part = lines.slice(from, to);
  const range = (skip: "-" | "+"): string => {
    const length = part.filter((line) => line.sign !== skip).length;
    return `${linesBefore(skip) + (length > 0 ? 1 : 0)},${length}`;
  };
  return [`@@ -${range("+")} +${range("-")} @@`, ...part.map((line) => line.sign + line.text)].join("\n");
}

/** A unified diff with three lines around each change; "" if the texts are equal. */
export function unifiedDiff(before: string, after: string, nameBefore: string, nameAfter: string): string {
  if (before === after) return "";
  const lines = diffLines(before.split("\n"), after.split("\n"));
  const context = 3;
  const hunks: [number, number][] = [];
  lines.forEach((line, i) => {
    if (line.sign === " ") return;
    const last = hunks.at(-1);
    if (last && i - context <= last[1]) last[1] = Math.min(lines.length, i + context + 1);
    else hunks.push([Math.max(0, i - context), Math.min(lines.length, i + context + 1)]);
  });
  return [`--- ${nameBefore}`, `+++ ${nameAfter}`, ...hunks.map(([from, to]) => hunk(lines, from, to)), ""].join("\n");
}
