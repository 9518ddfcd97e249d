// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// Lies over the page while a canvas runs: a word under the pointer shows what else the model holds possible; a click
// holds the word.
MouseArea {
    id: root

    required property Studio studio
    required property TextEdit editor
    readonly property DraftView draft: studio.draft
    property var word: ({})
    readonly property bool showsWord: word.choices !== undefined

    function refresh() {
        word = draft.running && containsMouse
             ? draft.wordAt(editor.positionAt(mouseX, mouseY)) : ({})
    }

    enabled: draft.running
    visible: draft.running
    hoverEnabled: true
    cursorShape: showsWord ? Qt.PointingHandCursor : Qt.IBeamCursor
    propagateComposedEvents: true
    onPositionChanged: refresh()
    onExited: leave.restart()
    onPressed: (event) => {
        refresh()
        event.accepted = showsWord // text elsewhere stays editable
    }
    onClicked: draft.holdWord(word)

    Timer {
        id: leave
        interval: 250
        onTriggered: {
            if (!root.containsMouse && !card.hovered)
                root.word = ({})
        }
    }
    Connections {
        target: root.draft
        function onProgressChanged() {
            if (root.containsMouse && !card.hovered)
                root.refresh()
        }
        function onRunChanged() {
            if (!root.draft.running)
                root.word = ({})
        }
    }
    WordCard {
        id: card
        visible: root.showsWord
        word: root.word
        readonly property rect place: root.showsWord ? root.editor.positionToRectangle(root.word.start)
                                                     : Qt.rect(0, 0, 0, 0)
        x: Math.max(0, Math.min(place.x, root.width - width))
        y: place.y + place.height + 6
        onChosen: (id) => {
            root.draft.chooseWord(root.word, id)
            root.word = ({})
        }
    }
}
