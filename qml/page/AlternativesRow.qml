// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// The alternatives of a proposal, side by side; words of each can be taken over.
Row {
    id: root

    required property Studio studio
    readonly property DraftView draft: studio.draft

    required property TextEdit editor
    readonly property rect place: {
        editor.length // moves with the text, which a script had better not copy at each key
        editor.width
        return editor.positionToRectangle(Math.max(0, draft.page.alternativesEnd))
    }

    visible: draft.alternatives.length > 0
    y: editor.y + place.y + place.height + Theme.spaceSmall
    spacing: Theme.spaceMedium

    Repeater {
        model: root.draft.alternatives
        AlternativeCard {
            required property var modelData
            required property int index
            width: Math.floor((root.width - (root.draft.alternatives.length - 1) * root.spacing)
                              / Math.max(1, root.draft.alternatives.length))
            alternativeText: modelData.text
            label: modelData.label
            settled: modelData.settled
            chosen: modelData.chosen
            number: index + 1
            onPicked: root.draft.chooseAlternative(index)
            onTaken: root.draft.acceptAll()
            onWordsTaken: (start, end) => root.draft.takeWords(index, start, end)
        }
    }
}
