// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// A push button: filled for the main action, outlined for the others.
T.Button {
    id: root

    property bool primary: false
    property bool compact: false

    implicitHeight: compact ? 28 : Theme.touchTarget + 4
    implicitWidth: implicitContentWidth + (compact ? 20 : 32)
    hoverEnabled: true
    focusPolicy: Qt.TabFocus // a click leaves the keys where they were: a space typed next is a space
    opacity: enabled ? 1 : 0.5
    Accessible.name: text
    Keys.onReturnPressed: root.clicked()
    Keys.onEnterPressed: root.clicked()

    contentItem: Text {
        text: root.text
        color: root.primary ? Theme.surface : Theme.inkSoft
        font.family: Theme.uiFont
        font.pixelSize: root.compact ? Theme.labelSize : Theme.bodySize
        font.weight: Font.DemiBold
        horizontalAlignment: Text.AlignHCenter
        verticalAlignment: Text.AlignVCenter
        elide: Text.ElideRight
    }
    background: Rectangle {
        radius: Theme.radiusMedium + 1
        color: root.primary ? Theme.accent : (root.hovered ? Theme.sunken : "transparent")
        border.width: root.visualFocus ? 2 : (root.primary ? 0 : 1)
        border.color: root.visualFocus ? Theme.focus : Theme.line
        Rectangle {
            anchors.fill: parent
            anchors.margins: 2
            radius: parent.radius - 2
            color: "transparent"
            border.width: root.primary && root.visualFocus ? 2 : 0
            border.color: Theme.surface
        }
    }
}
