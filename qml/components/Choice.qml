// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// One of a few choices in a row, of which one holds.
T.RadioButton {
    id: root

    implicitHeight: 30
    implicitWidth: implicitContentWidth + 24
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus
    Accessible.name: text

    contentItem: Text {
        text: root.text
        color: root.checked ? Theme.ink : Theme.inkSoft
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
        font.weight: Font.DemiBold
        horizontalAlignment: Text.AlignHCenter
        verticalAlignment: Text.AlignVCenter
    }
    background: Rectangle {
        radius: Theme.radiusMedium
        color: root.checked ? Theme.accentSoft : (root.hovered ? Theme.sunken : "transparent")
        border.width: root.visualFocus ? 2 : 1
        border.color: root.visualFocus ? Theme.focus : (root.checked ? Theme.accent : Theme.line)
    }
}
