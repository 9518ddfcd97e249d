// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// An action and its keys. Enter or a click waits for other keys; Esc leaves them as they are, Backspace takes them away.
T.Button {
    id: root

    required property KeyMap map
    required property string actionId
    required property string keys
    property bool waiting: false
    signal assigned(string keys)

    function take(event) {
        event.accepted = true
        if (event.key === Qt.Key_Escape) {
            waiting = false
        } else if (event.key === Qt.Key_Backspace && event.modifiers === Qt.NoModifier) {
            waiting = false
            root.assigned("")
        } else {
            const keys = root.map.keyText(event.key, event.modifiers)
            if (keys === "")
                return
            waiting = false
            root.assigned(keys)
        }
    }

    implicitHeight: 30
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus
    Accessible.name: waiting ? qsTr("%1: press the new keys").arg(text) : qsTr("%1: %2").arg(text).arg(keys === "" ? qsTr("no keys") : keys)
    onClicked: {
        waiting = true
        forceActiveFocus()
    }
    onActiveFocusChanged: if (!activeFocus) waiting = false
    Keys.onShortcutOverride: (event) => event.accepted = root.waiting
    Keys.onPressed: (event) => {
        if (root.waiting)
            root.take(event)
    }
    Keys.onReturnPressed: (event) => {
        if (root.waiting)
            root.take(event)
        else
            root.clicked()
    }

    contentItem: Item {
        Text {
            anchors.left: parent.left
            anchors.leftMargin: 8
            anchors.verticalCenter: parent.verticalCenter
            text: root.text
            color: Theme.ink
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
        }
        Text {
            anchors.right: parent.right
            anchors.rightMargin: 8
            anchors.verticalCenter: parent.verticalCenter
            text: root.waiting ? qsTr("Press the new keys…") : root.keys
            color: root.waiting ? Theme.accent : Theme.inkSoft
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
            font.weight: Font.Medium
        }
    }
    background: Rectangle {
        radius: Theme.radiusSmall
        color: root.hovered || root.waiting ? Theme.sunken : "transparent"
        border.width: root.visualFocus ? 2 : 0
        border.color: Theme.focus
    }
}
