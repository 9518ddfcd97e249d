// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The page's conversation with the server: what came in goes to the store, what was typed goes out.

import { apart, needsFetching } from "../state/reduce";
import { asSentence } from "../state/format";
import { hasEnded } from "../state/reduce_runs";
import { acknowledged, isIdle, takeNext } from "../state/text_sync";
import { parseLibrary } from "../wire/drafts";
import { type Json, number } from "../wire/fields";
import type { ClientMessage, ServerMessage } from "../wire/messages";
import type { Proposal } from "../wire/proposals";
import type { Frame, Run } from "../wire/runs";
import { LiveChannel, RequestError } from "./live_channel";
import type { Store } from "./store";

/** How long the page waits before it tries an edit again that the server could not take. */
const retryEditMs = 2000;

export class Session {
  readonly store: Store;
  readonly #channel: LiveChannel;
  readonly #page = new AbortController();
  /** The newest frame of each lane that was not confirmed yet. */
  #unseen = new Map<string, Frame>();
  #composing = false;
  #idleWaiters: { resolve: () => void; reject: (error: RequestError) => void }[] = [];

  constructor(store: Store, url: string) {
    this.store = store;
    this.#channel = new LiveChannel(url, {
      message: (message) => this.#receive(message),
      connecting: () => store.dispatch({ type: "connection", changes: { phase: "connecting", retryAtMs: 0 } }),
      lost: (retryAtMs) => {
        store.dispatch({ type: "connection", changes: { phase: "lost", retryAtMs, wasLost: true } });
        this.#rejectWaiters(new RequestError("lost", "There is no connection to the server just now."));
      },
      keyWanted: () => store.dispatch({ type: "connection", changes: { phase: "locked", retryAtMs: 0 } }),
      malformed: (error) => {
        console.error(error);
        this.complain("The server sent something that this page does not understand. Reloading the page may help.");
      },
    });
    store.subscribe(() => this.#settleWaiters());
  }

  /** Raised never while the page lives; requests need one. */
  get signal(): AbortSignal {
    return this.#page.signal;
  }

  connect(): void {
    this.#channel.connect();
  }

  request(message: ClientMessage): Promise<Json> {
    return this.#channel.request(message, this.signal);
  }

  /** A request whose answer says nothing new. A failure becomes a notice. */
  order(message: ClientMessage): void {
    this.attempt(this.request(message));
  }

  /** Shows the failure of some work as a sentence. */
  attempt(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (error instanceof RequestError && error.code === "aborted") return;
      // The text or the run has moved on: nothing is wrong, there is only nothing to do any more.
      if (error instanceof RequestError && error.code === "stale") return this.tell(error.message);
      if (!(error instanceof RequestError)) console.error(error);
      this.complain(error instanceof Error ? error.message : "Something went wrong.");
    });
  }

  complain(text: string): void {
    this.store.dispatch({ type: "notice", kind: "problem", text: asSentence(text) });
  }

  tell(text: string): void {
    this.store.dispatch({ type: "notice", kind: "news", text: asSentence(text) });
  }

  /** While an input method composes, the text is not the writer's yet: it is sent when it is. */
  setComposing(composing: boolean): void {
    this.#composing = composing;
    if (!composing) this.flush();
  }

  /** Sends the next edit, if one waits and none is under way. */
  flush(): void {
    const { draft } = this.store.state;
    if (!draft || this.#composing || !this.#channel.isOpen || needsFetching(draft)) return;
    const { sync, send } = takeNext(draft.sync);
    if (!send) return;
    const document = draft.id;
    this.store.dispatch({ type: "sync", document, sync });
    const { start, end, text, typing } = send;
    this.request({ type: "edit", document, version: sync.version, start, end, text, typing }).then(
      (reply) => this.#acknowledge(document, reply),
      (error: unknown) => this.#editFailed(document, error),
    );
  }

  /** Resolves when the server has everything that was typed: then both mean the same by a position. */
  idle(): Promise<void> {
    this.setComposing(false);
    return new Promise((resolve, reject) => {
      this.#idleWaiters.push({ resolve, reject });
      if (!this.#channel.isOpen)
        this.#rejectWaiters(new RequestError("lost", "There is no connection to the server just now."));
      this.#settleWaiters();
    });
  }

  /** Confirms the frames that were painted. */
  confirmFrames(): void {
    for (const { run, lane, canvas, step } of this.#unseen.values()) {
      this.#channel.send({ type: "seen", run, lane, canvas, step });
    }
    this.#unseen.clear();
  }

  #receive(message: ServerMessage): void {
    if (message.type === "frame") this.#unseen.set(`${message.frame.run}/${message.frame.lane}`, message.frame);
    if (message.type === "run") this.#tellProblem(message.run);
    if (message.type === "proposal") this.#tellNote(message.proposal);
    this.store.dispatch({ type: "server", message });
    if (message.type === "hello") this.#greeted();
    if (message.type === "error") this.complain(message.message);
    if (message.type === "document") this.flush();
    if (message.type === "document.gone") this.tell("This draft was deleted.");
    if (needsFetching(this.store.state.draft)) this.fetchDraft();
  }

  /** Why a run of the open draft ended without a proposal, once. */
  #tellProblem(run: Run): void {
    const known = this.store.state.draft?.runs.find((view) => view.run.id === run.id)?.run;
    if (!known || hasEnded(known) || !hasEnded(run) || !run.problem) return;
    if (run.state === "failed") this.complain(run.problem);
    else this.tell(run.problem);
  }

  /** What was held back of a proposal, or why it was dropped, once. */
  #tellNote(proposal: Proposal): void {
    const known = this.store.state.draft?.proposals.find((one) => one.id === proposal.id);
    if (proposal.note && proposal.note !== known?.note) this.tell(proposal.note);
    const run = this.store.state.draft?.runs.find((view) => view.run.id === proposal.run)?.run;
    const isFewer = proposal.alternatives.length === 1 && (run?.lanes.length ?? 0) > 1;
    if (!known && isFewer && proposal.action !== "proofread") this.tell("The same words came out each time.");
  }

  /** Asks for the drafts with these words; changes of the list come by themselves from then on. */
  async watchLibrary(query: string, binned: boolean): Promise<void> {
    const reply = await this.request({ type: "library.watch", query, binned });
    const { library } = this.store.state;
    if (library.query !== query || library.binned !== binned) return; // the writer has typed on
    this.store.dispatch({ type: "server", message: { type: "library", documents: parseLibrary(reply) } });
  }

  #greeted(): void {
    const { library, documentId } = this.store.state;
    this.attempt(this.watchLibrary(library.query, library.binned));
    if (documentId !== null) this.fetchDraft();
  }

  /** Opens the current draft, again if need be. */
  fetchDraft(): void {
    const document = this.store.state.documentId;
    if (document === null || !this.#channel.isOpen) return;
    this.request({ type: "open", document }).catch((error: unknown) => {
      if (!(error instanceof RequestError) || error.code === "lost") return; // opened again with the connection
      this.store.dispatch({ type: "opening", document: null });
      if (error.code !== "not_found") this.complain(error.message);
    });
  }

  #acknowledge(document: string, reply: Json): void {
    const { draft } = this.store.state;
    if (draft?.id !== document || needsFetching(draft)) return;
    const sync = acknowledged(draft.sync, number(reply, "version"), number(reply, "start"), number(reply, "end"));
    this.store.dispatch({ type: "sync", document, sync: sync ?? apart(draft.sync) });
    if (sync) this.flush();
    else this.fetchDraft();
  }

  #editFailed(document: string, error: unknown): void {
    const { draft } = this.store.state;
    if (draft?.id !== document || !(error instanceof RequestError) || error.code === "lost") return;
    this.complain(`Your last words are not saved yet: ${error.message}`);
    this.store.dispatch({ type: "sync", document, sync: apart(draft.sync) });
    setTimeout(() => this.fetchDraft(), retryEditMs);
  }

  #settleWaiters(): void {
    const { draft } = this.store.state;
    if (this.#idleWaiters.length === 0 || (draft && (!isIdle(draft.sync) || needsFetching(draft)))) return;
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const waiter of waiters) waiter.resolve();
  }

  #rejectWaiters(error: RequestError): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const waiter of waiters) waiter.reject(error);
  }
}
