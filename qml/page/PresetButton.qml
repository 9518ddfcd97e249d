// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// One preset of the row above the instruction.
T.Button {
    id: root

    property bool chosen: false

    implicitHeight: 28
    implicitWidth: implicitContentWidth + 26
    hoverEnabled: true
    focusPolicy: Qt.TabFocus
    checkable: false
    Accessible.name: text
    Accessible.checkable: true
    Accessible.checked: chosen

    contentItem: Text {
        text: root.text
        color: root.chosen ? Theme.surface : Theme.inkSoft
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
        horizontalAlignment: Text.AlignHCenter
        verticalAlignment: Text.AlignVCenter
    }
    background: Rectangle {
        radius: height / 2
        color: root.chosen ? Theme.accent : (root.hovered ? Theme.sunken : "transparent")
        border.width: root.visualFocus ? 2 : (root.chosen ? 0 : 1)
        border.color: root.visualFocus ? Theme.focus : Theme.line
    }
}
