// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Starts the studio.

import { loadPreferences } from "./client/preferences";
import { Session } from "./client/session";
import { Store } from "./client/store";
import { initialState } from "./state/app_state";
import { isIdle } from "./state/text_sync";
import { Studio } from "./view/studio";

const store = new Store(initialState(loadPreferences()));
const scheme = location.protocol === "https:" ? "wss:" : "ws:";
const session = new Session(store, new URL("ws", `${scheme}//${location.host}${location.pathname}`).href);

new Studio(session);
session.connect();
addEventListener("beforeunload", (event) => {
  const { draft, connection } = store.state;
  // Only what cannot be saved any more is worth asking about.
  if (draft && connection.phase !== "open" && !isIdle(draft.sync)) event.preventDefault();
});
// What was typed in the last moment goes out before the page is left.
addEventListener("pagehide", () => session.setComposing(false));
