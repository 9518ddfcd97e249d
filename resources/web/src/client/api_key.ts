// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The API key, where the server wants one. It is kept for this tab only: the session storage is gone with it.

const place = "palimpsest.key";

export function storedKey(): string {
  return sessionStorage.getItem(place) ?? "";
}

export function storeKey(key: string): void {
  if (key) sessionStorage.setItem(place, key);
  else sessionStorage.removeItem(place);
}

export function authorization(): Record<string, string> {
  const key = storedKey();
  return key ? { Authorization: `Bearer ${key}` } : {};
}

/** A page can set no header on a WebSocket, so the key goes as a subprotocol, in base64url without padding. */
export function keySubprotocols(): string[] {
  const key = storedKey();
  if (!key) return [];
  const bytes = String.fromCharCode(...new TextEncoder().encode(key));
  return [`palimpsest.key.${btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`];
}

/** Whether the server turns down the key that is stored, or that none is. Throws if there is no answer at all. */
export async function isKeyRefused(signal: AbortSignal): Promise<boolean> {
  const response = await fetch("v1/models", { headers: authorization(), signal });
  return response.status === 401;
}
