// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// A small label with a dot: where something stands. Pressing it shows more.
T.Button {
    id: root

    property color dotColor: Theme.accent
    property string hint: ""

    implicitWidth: implicitContentWidth + leftPadding + rightPadding
    leftPadding: 10
    rightPadding: 10
    implicitHeight: 26
    hoverEnabled: true
    focusPolicy: Qt.TabFocus
    Accessible.name: text
    Accessible.description: hint

    contentItem: Row {
        spacing: 6
        Rectangle {
            width: 7
            height: 7
            radius: 3.5
            color: root.dotColor
            anchors.verticalCenter: parent.verticalCenter
        }
        Text {
            text: root.text
            color: Theme.inkSoft
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
            anchors.verticalCenter: parent.verticalCenter
        }
    }
    background: Rectangle {
        radius: height / 2
        color: root.hovered ? Theme.sunken : Theme.paper
        border.width: root.visualFocus ? 2 : 1
        border.color: root.visualFocus ? Theme.focus : Theme.line
    }

    Hint {
        text: root.hint
        shown: root.hovered || root.visualFocus
    }
}
