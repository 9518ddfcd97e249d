// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Holds the state of the page. The only place where a state is replaced.

import type { AppState } from "../state/app_state";
import { type Action, reduce } from "../state/reduce";

type Listener = (state: AppState, before: AppState) => void;

export class Store {
  #state: AppState;
  #listeners: Listener[] = [];

  constructor(initial: AppState) {
    this.#state = initial;
  }

  get state(): AppState {
    return this.#state;
  }

  dispatch(action: Action): void {
    const before = this.#state;
    this.#state = reduce(before, action);
    if (this.#state === before) return;
    for (const listener of this.#listeners) listener(this.#state, before);
  }

  /** Calls `listener` after every change, at once, until the function that is given back is called. */
  subscribe(listener: Listener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((one) => one !== listener);
    };
  }
}
