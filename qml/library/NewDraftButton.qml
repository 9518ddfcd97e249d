// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// The invitation above the list of drafts.
T.Button {
    id: root

    text: qsTr("+ New draft")
    implicitHeight: Theme.touchTarget + 4
    hoverEnabled: true
    focusPolicy: Qt.TabFocus
    Accessible.name: qsTr("New draft")

    contentItem: Text {
        leftPadding: 10
        text: root.text
        color: Theme.accent
        font.family: Theme.uiFont
        font.pixelSize: Theme.bodySize - 1
        font.weight: Font.DemiBold
        verticalAlignment: Text.AlignVCenter
    }
    background: Rectangle {
        radius: Theme.radiusMedium
        color: root.hovered ? Theme.sunken : "transparent"
        border.width: root.visualFocus ? 2 : 1
        border.color: root.visualFocus ? Theme.focus : Theme.line
    }
}
