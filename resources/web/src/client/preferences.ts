// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Settings of this browser: in its local storage, read leniently, since an older page may have written them.

import { type Preferences, defaultPreferences } from "../state/app_state";

const place = "palimpsest.preferences";

export function loadPreferences(): Preferences {
  const loaded = { ...defaultPreferences };
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(place) ?? "{}");
    for (const [key, value] of Object.entries(stored as object)) {
      if (typeof value === typeof loaded[key as keyof Preferences]) Object.assign(loaded, { [key]: value });
    }
  } catch {
    return { ...defaultPreferences }; // unreadable, or storage is forbidden: the defaults do
  }
  return loaded;
}

export function savePreferences(preferences: Preferences): void {
  try {
    localStorage.setItem(place, JSON.stringify(preferences));
  } catch {
    // storage is full or forbidden: the settings last as long as the page
  }
}
