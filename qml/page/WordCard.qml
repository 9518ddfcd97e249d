// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// What the model holds possible at one place. By mouse: a click chooses. By keys, once it has the focus: up and down,
// Enter puts in, space locks the word as it is, left and right go to its neighbours, Esc leaves.
Rectangle {
    id: root

    required property var word
    readonly property var choices: word.choices !== undefined ? word.choices : []
    readonly property bool hovered: hover.hovered
    property int current: 0
    signal chosen(int id)
    signal heldToggled()
    signal neighbourWanted(int direction)
    signal closed()

    function nameOf(choice) {
        return qsTr("%1, %2 percent").arg(choice.text.trim()).arg(choice.percent)
    }

    width: 216
    height: column.implicitHeight + 20
    radius: 10
    color: Theme.surface
    border.width: activeFocus ? 2 : 1
    border.color: activeFocus ? Theme.focus : Theme.line
    Accessible.role: Accessible.PopupMenu
    Accessible.focusable: true
    Accessible.name: current < choices.length
                     ? qsTr("Instead of “%1”: %2").arg(word.text.trim()).arg(nameOf(choices[current]))
                     : qsTr("Alternatives of a word")
    Keys.onShortcutOverride: (event) => event.accepted = event.key === Qt.Key_Escape
    Keys.onUpPressed: current = Math.max(0, current - 1)
    Keys.onDownPressed: current = Math.min(choices.length - 1, current + 1)
    Keys.onLeftPressed: neighbourWanted(-1)
    Keys.onRightPressed: neighbourWanted(1)
    Keys.onSpacePressed: heldToggled()
    Keys.onEscapePressed: closed()
    Keys.onReturnPressed: choose()
    Keys.onEnterPressed: choose()

    function choose() {
        if (current < choices.length)
            chosen(choices[current].id)
    }

    HoverHandler {
        id: hover
    }
    Column {
        id: column
        anchors.left: parent.left
        anchors.right: parent.right
        anchors.top: parent.top
        anchors.margins: 10
        spacing: 2
        Row {
            width: parent.width
            Text {
                width: parent.width - nats.width
                text: root.word.text !== undefined ? root.word.text.trim() : ""
                textFormat: Text.PlainText
                color: Theme.ink
                elide: Text.ElideRight
                font.family: Theme.uiFont
                font.pixelSize: Theme.labelSize
                font.weight: Font.DemiBold
            }
            Text {
                id: nats
                text: root.word.entropy === undefined ? ""
                    : root.word.held ? qsTr("locked") : qsTr("%1 nats").arg(root.word.entropy.toFixed(2))
                color: Theme.inkSoft
                font.family: Theme.uiFont
                font.pixelSize: Theme.labelSize
            }
        }
        Repeater {
            model: root.choices
            WordChoice {
                required property var modelData
                required property int index
                width: column.width
                choiceText: modelData.text.trim()
                percent: modelData.percent
                highlighted: root.activeFocus && index === root.current
                name: root.nameOf(modelData)
                onPicked: root.chosen(modelData.id)
            }
        }
        Text {
            width: parent.width
            wrapMode: Text.WordWrap
            text: root.activeFocus ? qsTr("Enter puts it in and locks it, space locks the word")
                                   : qsTr("A choice is put in and locked; a click on the page locks the word")
            color: Theme.inkSoft
            font.family: Theme.uiFont
            font.pixelSize: Theme.captionSize
        }
    }
}
