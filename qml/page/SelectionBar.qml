// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// What can be done with the selection, below its last line; or, asked for by key, at the caret.
Rectangle {
    id: root

    required property Studio studio
    required property TextEdit editor
    property bool asking: false // a line for the instruction is open
    readonly property DraftView draft: studio.draft
    readonly property bool hasSelection: editor.selectionStart !== editor.selectionEnd

    function askRewrite() {
        asking = true
        instruction.forceActiveFocus()
    }
    function submit() {
        const wish = instruction.text.trim()
        asking = false
        editor.forceActiveFocus()
        if (!hasSelection)
            draft.fillHere(wish)
        else if (wish !== "")
            draft.rewrite(wish)
        instruction.clear()
    }

    visible: draft.open && !draft.running && (asking || (hasSelection && editor.activeFocus))
    onVisibleChanged: noise.visible = false
    width: content.implicitWidth + 8
    height: content.implicitHeight + 8
    radius: 10
    color: Theme.ink
    x: Math.max(0, Math.min(editor.x + place.x - 40, parent.width - width - 8))
    y: editor.y + place.y + place.height + 8

    readonly property rect place: {
        editor.length // moves with the text, which a script had better not copy at each key
        editor.width
        return editor.positionToRectangle(editor.selectionEnd)
    }

    Row {
        id: content
        anchors.centerIn: parent
        spacing: 2

        Row {
            visible: root.asking
            spacing: 2
            Field {
                id: instruction
                width: 320
                framed: false
                leftPadding: 10
                color: Theme.paper
                placeholderTextColor: Theme.inkFaint
                placeholderText: root.hasSelection ? qsTr("How should this be rewritten?")
                                                   : qsTr("What belongs here? (may stay empty)")
                onAccepted: root.submit()
                Keys.onShortcutOverride: (event) => event.accepted = event.key === Qt.Key_Escape
                Keys.onEscapePressed: {
                    root.asking = false
                    root.editor.forceActiveFocus()
                }
            }
            BarButton {
                text: root.hasSelection ? qsTr("Rewrite") : qsTr("Fill")
                onClicked: root.submit()
            }
        }
        Row {
            visible: !root.asking
            spacing: 2
            BarButton {
                text: qsTr("Rewrite…")
                hint: root.studio.keys.hintOf("rewrite")
                onClicked: root.askRewrite()
            }
            BarButton {
                text: qsTr("Re-noise")
                onClicked: noise.visible = !noise.visible
                Accessible.description: qsTr("Opens a choice of how much")
            }
            Row {
                id: noise
                visible: false
                BarButton {
                    text: qsTr("light")
                    onClicked: root.draft.renoise("light")
                }
                BarButton {
                    text: qsTr("medium")
                    onClicked: root.draft.renoise("medium")
                }
                BarButton {
                    text: qsTr("full")
                    onClicked: root.draft.renoise("full")
                }
            }
            BarButton {
                text: qsTr("Lock")
                hint: root.studio.keys.hintOf("lock")
                onClicked: root.draft.toggleLock()
            }
            BarButton {
                text: qsTr("Insert")
                hint: qsTr("Fill in something behind the selection")
                onClicked: {
                    root.editor.deselect()
                    root.askRewrite()
                }
            }
            BarButton {
                text: qsTr("3 alternatives")
                hint: root.studio.keys.hintOf("alternatives")
                onClicked: root.draft.askAlternatives(3, "")
            }
        }
    }
}
