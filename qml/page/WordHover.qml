// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// Lies over the page while a canvas runs: the word under the pointer, or the one that the caret was moved to, shows what
// else the model holds possible. A click holds the word.
MouseArea {
    id: root

    required property Studio studio
    required property TextEdit editor
    readonly property DraftView draft: studio.draft
    property var word: ({})
    property bool atCaret: false // the card follows the caret, not the pointer
    readonly property bool showsWord: word.choices !== undefined

    function refresh() {
        if (card.activeFocus || card.hovered)
            return // not under the reader's hand
        if (atCaret)
            word = draft.wordAt(editor.cursorPosition)
        else
            word = containsMouse ? draft.wordAt(editor.positionAt(mouseX, mouseY)) : ({})
    }
    function showAtCaret() {
        atCaret = true
        refresh()
    }
    function focusCard() {
        showAtCaret()
        if (!showsWord)
            return
        card.current = 0
        card.forceActiveFocus()
    }
    function close() {
        const hadFocus = card.activeFocus
        word = ({})
        atCaret = false
        if (hadFocus)
            editor.forceActiveFocus()
    }

    enabled: draft.running
    visible: draft.running
    hoverEnabled: true
    cursorShape: showsWord ? Qt.PointingHandCursor : Qt.IBeamCursor
    propagateComposedEvents: true
    onPositionChanged: {
        atCaret = false
        refresh()
    }
    onExited: leave.restart()
    onPressed: (event) => {
        atCaret = false
        refresh()
        event.accepted = showsWord // text elsewhere stays editable
    }
    onClicked: draft.holdWord(word)

    Timer {
        id: leave
        interval: 250
        onTriggered: {
            if (!root.containsMouse && !card.hovered && !root.atCaret)
                root.word = ({})
        }
    }
    Connections {
        target: root.draft
        function onProgressChanged() {
            if (root.containsMouse || root.atCaret)
                root.refresh()
        }
        function onRunChanged() {
            if (!root.draft.running)
                root.close()
        }
    }
    WordCard {
        id: card
        readonly property rect place: root.showsWord ? root.editor.positionToRectangle(root.word.start)
                                                     : Qt.rect(0, 0, 0, 0)
        visible: root.showsWord
        word: root.word
        x: Math.max(0, Math.min(place.x, root.width - width))
        y: place.y + place.height + 6
        onChosen: (id) => {
            root.draft.chooseWord(root.word, id)
            root.close()
        }
        onHeldToggled: {
            root.draft.holdWord(root.word)
            root.close()
        }
        onNeighbourWanted: (direction) => {
            root.word = root.draft.wordBeside(root.word, direction)
            current = 0
        }
        onClosed: root.close()
    }
}
