// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// Keep or reject, beside the change that keys act on.
Row {
    id: root

    required property Studio studio
    required property TextEdit editor
    readonly property DraftView draft: studio.draft
    readonly property rect place: {
        editor.length
        editor.width
        return editor.positionToRectangle(Math.max(0, draft.changeEnd))
    }

    visible: draft.changeEnd >= 0 && draft.alternatives.length === 0 && !draft.running
    spacing: 4
    x: editor.x + editor.width + Theme.spaceSmall // in the margin, where they hide no letters
    y: editor.y + place.y + Math.round((place.height - height) / 2)

    ChangeButton {
        text: "✓"
        color: Theme.accent
        name: qsTr("Accept this change")
        hint: root.studio.keys.hintOf("accept")
        onClicked: root.draft.acceptCurrent()
    }
    ChangeButton {
        text: "✕"
        color: Theme.rust
        name: qsTr("Reject this change")
        hint: root.studio.keys.hintOf("reject")
        onClicked: root.draft.rejectCurrent()
    }
}
