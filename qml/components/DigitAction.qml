// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// Alt and a digit: shows that alternative.
Item {
    id: root

    required property DraftView draft
    required property int index

    Shortcut {
        sequences: ["Alt+" + (root.index + 1)]
        enabled: root.draft.alternatives.length > root.index
        onActivated: root.draft.chooseAlternative(root.index)
    }
}
