// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The WebSocket to the server: opened again when it is lost, requests matched with their answers.

import type { Json } from "../wire/fields";
import { type ClientMessage, type ServerMessage, parseServerMessage, subprotocol } from "../wire/messages";
import { isKeyRefused, keySubprotocols } from "./api_key";

/** The server said no, or there is no server. The message is a sentence for the writer. */
export class RequestError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface ChannelEvents {
  message(message: ServerMessage): void;
  connecting(): void;
  /** `retryAtMs`: when the next attempt is made. */
  lost(retryAtMs: number): void;
  /** The server wants an API key, or another one. No further attempt is made until connect() is called. */
  keyWanted(): void;
  /** The server sent what this page cannot read. */
  malformed(error: unknown): void;
}

interface Waiting {
  resolve(reply: Json): void;
  reject(error: RequestError): void;
}

const firstDelayMs = 500;
const longestDelayMs = 10_000;
/** A server that is asked twice as many things as this has stopped answering. */
const mostWaiting = 512;

export class LiveChannel {
  readonly #url: string;
  readonly #events: ChannelEvents;
  #socket: WebSocket | null = null;
  #waiting = new Map<number, Waiting>();
  #nextRef = 1;
  #delayMs = firstDelayMs;
  #timer = 0;

  constructor(url: string, events: ChannelEvents) {
    this.#url = url;
    this.#events = events;
    // A laptop that wakes up need not wait for the next attempt.
    addEventListener("online", () => this.connect());
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Connects now, unless it is connected or about to be. */
  connect(): void {
    if (this.#socket && this.#socket.readyState <= WebSocket.OPEN) return;
    clearTimeout(this.#timer);
    this.#events.connecting();
    const socket = new WebSocket(this.#url, [subprotocol, ...keySubprotocols()]);
    this.#socket = socket;
    socket.onmessage = (event) => this.#receive(event.data);
    socket.onclose = () => this.#closed(socket);
  }

  /** Sends without waiting for an answer. False if there is no connection. */
  send(message: ClientMessage): boolean {
    if (!this.isOpen) return false;
    this.#socket?.send(JSON.stringify(message));
    return true;
  }

  /** Sends, and gives the fields of the answer. Rejects with RequestError, also when the signal is raised. */
  request(message: ClientMessage, signal: AbortSignal): Promise<Json> {
    return new Promise<Json>((resolve, reject) => {
      if (signal.aborted) return reject(new RequestError("aborted", "The request was given up."));
      if (!this.isOpen || this.#waiting.size >= mostWaiting) {
        return reject(new RequestError("lost", "There is no connection to the server just now. It is tried again."));
      }
      const ref = this.#nextRef++;
      this.#waiting.set(ref, { resolve, reject });
      signal.addEventListener("abort", () => {
        if (this.#waiting.delete(ref)) reject(new RequestError("aborted", "The request was given up."));
      });
      this.#socket?.send(JSON.stringify({ ...message, ref }));
    });
  }

  #receive(data: unknown): void {
    let message: ServerMessage | null;
    try {
      message = parseServerMessage(typeof data === "string" ? data : "");
    } catch (error) {
      this.#events.malformed(error);
      return;
    }
    if (message === null) return;
    if (message.type === "hello") this.#delayMs = firstDelayMs;
    if (message.type === "reply") {
      const waiting = this.#waiting.get(message.ref);
      this.#waiting.delete(message.ref);
      waiting?.resolve(message.fields);
    } else if (message.type === "error" && message.ref !== null) {
      const waiting = this.#waiting.get(message.ref);
      this.#waiting.delete(message.ref);
      waiting?.reject(new RequestError(message.code, message.message));
    } else {
      this.#events.message(message);
    }
  }

  #closed(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const one of waiting) one.reject(new RequestError("lost", "The connection to the server was lost."));

    const retryAtMs = Date.now() + this.#delayMs;
    this.#timer = window.setTimeout(() => this.connect(), this.#delayMs);
    this.#delayMs = Math.min(longestDelayMs, this.#delayMs * 2);
    this.#events.lost(retryAtMs);
    // A refused upgrade tells a page nothing; a plain request tells whether the key was the reason.
    isKeyRefused(AbortSignal.timeout(5000)).then(
      (refused) => {
        if (!refused || this.isOpen) return;
        clearTimeout(this.#timer);
        this.#socket = null;
        this.#events.keyWanted();
      },
      () => undefined, // no answer at all: the timer tries again
    );
  }
}
