// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Fields out of parsed JSON. Each reader says which field is wrong, so that a server's mistake is found at once.

export type Json = Record<string, unknown>;

/** The value as an object. Throws TypeError naming `what` otherwise. */
export function object(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(`${what}: expected an object`);
  }
  return value as Json;
}

export function number(from: Json, key: string): number {
  const value = from[key];
  if (typeof value !== "number" || !Number.isFinite(value)) throw new TypeError(`${key}: expected a number`);
  return value;
}

export function string(from: Json, key: string): string {
  const value = from[key];
  if (typeof value !== "string") throw new TypeError(`${key}: expected a string`);
  return value;
}

export function boolean(from: Json, key: string): boolean {
  const value = from[key];
  if (typeof value !== "boolean") throw new TypeError(`${key}: expected true or false`);
  return value;
}

/** A number, or null where the field is absent or null: a figure that nobody knows. */
export function numberOrNull(from: Json, key: string): number | null {
  return from[key] === undefined || from[key] === null ? null : number(from, key);
}

export function stringOr(from: Json, key: string, otherwise: string): string {
  return from[key] === undefined || from[key] === null ? otherwise : string(from, key);
}

export function numberOr(from: Json, key: string, otherwise: number): number {
  return numberOrNull(from, key) ?? otherwise;
}

export function booleanOr(from: Json, key: string, otherwise: boolean): boolean {
  return from[key] === undefined || from[key] === null ? otherwise : boolean(from, key);
}

/** Reads every element of a list. An absent list is an error: an empty one is written `[]`. */
export function list<T>(from: Json, key: string, read: (value: unknown) => T): T[] {
  const value = from[key];
  if (!Array.isArray(value)) throw new TypeError(`${key}: expected a list`);
  return value.map(read);
}

export function listOr<T>(from: Json, key: string, read: (value: unknown) => T): T[] {
  return from[key] === undefined || from[key] === null ? [] : list(from, key, read);
}

/** One of the given words. Unknown ones become `otherwise`: a newer server may know more states than this page. */
export function oneOf<T extends string>(from: Json, key: string, known: readonly T[], otherwise: T): T {
  const value = from[key];
  return known.find((word) => word === value) ?? otherwise;
}

export function asNumber(value: unknown): number {
  if (typeof value !== "number") throw new TypeError("list: expected numbers");
  return value;
}

export function asString(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("list: expected strings");
  return value;
}
