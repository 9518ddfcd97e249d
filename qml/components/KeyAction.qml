// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// The keys of one action of the key map.
Shortcut {
    id: root

    required property KeyMap map
    required property string action

    // `entries` changes with the map, and so this is read again.
    sequences: map.entries.length > 0 ? map.keysOf(action) : []
    context: Qt.WindowShortcut
}
