// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// A sentence and a switch at its end.
T.Switch {
    id: root

    implicitHeight: Theme.touchTarget
    implicitWidth: implicitContentWidth
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus
    opacity: enabled ? 1 : 0.5
    Accessible.name: text

    contentItem: Text {
        rightPadding: 52
        text: root.text
        color: Theme.ink
        elide: Text.ElideRight
        font.family: Theme.uiFont
        font.pixelSize: Theme.bodySize - 1
        verticalAlignment: Text.AlignVCenter
    }
    indicator: Rectangle {
        x: root.width - width - 2
        anchors.verticalCenter: parent.verticalCenter
        width: 38
        height: 22
        radius: 11
        color: root.checked ? Theme.accent : Theme.sunken
        border.width: root.visualFocus ? 2 : 1
        border.color: root.visualFocus ? Theme.focus : (root.checked ? Theme.accent : Theme.inkFaint)
        Rectangle {
            x: root.checked ? parent.width - width - 3 : 3
            anchors.verticalCenter: parent.verticalCenter
            width: 16
            height: 16
            radius: 8
            color: root.checked ? Theme.surface : Theme.inkSoft
            Behavior on x {
                NumberAnimation { duration: Theme.panelMs }
            }
        }
    }
}
