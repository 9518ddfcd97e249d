// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// Keep or reject, at the change that keys act on.
Row {
    id: root

    required property Studio studio
    required property TextEdit editor
    readonly property DraftView draft: studio.draft
    readonly property rect place: {
        editor.text
        editor.width
        return editor.positionToRectangle(Math.max(0, draft.changeEnd))
    }

    visible: draft.proposal !== "" && draft.alternatives.length === 0 && !draft.running
    spacing: 4
    x: Math.min(editor.x + place.x + 4, parent.width - width - 8)
    y: editor.y + place.y + place.height

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
