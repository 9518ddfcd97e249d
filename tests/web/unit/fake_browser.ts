// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What of a browser the client needs, with the test at the other end. Import it before the client.

/** A socket whose other end is the test. */
export class FakeSocket {
  static readonly OPEN = 1;
  static all: FakeSocket[] = [];
  readyState = 0;
  sent: { type: string; ref?: number }[] = [];
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly protocols: string[];

  constructor(_url: string, protocols: string[]) {
    this.protocols = protocols;
    FakeSocket.all.push(this);
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  open(): void {
    this.readyState = 1;
  }
  receive(message: object | string): void {
    this.onmessage?.({ data: typeof message === "string" ? message : JSON.stringify(message) });
  }
  close(): void {
    this.readyState = 3;
    this.onclose?.();
  }
}

export const stored = new Map<string, string>();
/** What the server answers to a plain request: 401 where it wants a key. */
export const server = { status: 200 };
Object.assign(globalThis, {
  WebSocket: FakeSocket,
  window: globalThis,
  addEventListener: () => undefined,
  sessionStorage: {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  },
  fetch: () => Promise.resolve({ status: server.status }),
});
