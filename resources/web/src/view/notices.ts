// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Sentences that come and go at the edge: what went wrong and what was done. And the line that says that the connection
// is lost, with its way out.

import type { Session } from "../client/session";
import type { AppState, Notice } from "../state/app_state";
import { button, h, iconButton, keyed, setText } from "./dom";

/** Long enough to read twice; problems stay until they are closed. */
const newsMs = 7000;

const lost = "The connection to the server is lost. What you type is kept, and saved when it is back.";
const neverReached = "The server does not answer. It is asked again every few seconds.";

export class Notices {
  readonly element = h("div", { class: "notices", role: "status", "aria-label": "Messages" });
  readonly banner: HTMLElement;
  readonly #banner = h("span", {});
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
    this.banner = h(
      "div",
      { class: "banner", role: "alert", hidden: true },
      this.#banner,
      button("Try now", { class: "text-button", onclick: () => session.connect() }),
    );
  }

  render(state: AppState): void {
    const { phase, wasLost } = state.connection;
    this.banner.hidden = !(wasLost && (phase === "lost" || phase === "connecting"));
    setText(this.#banner, state.status === null ? neverReached : lost);
    keyed(
      this.element,
      state.notices,
      (notice) => `${notice.id} ${notice.text}`,
      (notice) => this.#notice(notice),
      () => undefined,
    );
  }

  #notice(notice: Notice): HTMLElement {
    const dismiss = (): void => this.#session.store.dispatch({ type: "dismiss", notice: notice.id });
    const element = h(
      "div",
      { class: `notice notice--${notice.kind}` },
      h("span", {}, notice.text),
      iconButton("close", "Close", { onclick: dismiss }),
    );
    if (notice.kind === "news") setTimeout(() => element.isConnected && dismiss(), newsMs);
    return element;
  }
}
