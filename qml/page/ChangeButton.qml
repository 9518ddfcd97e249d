// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// A small button at a proposed change.
T.Button {
    id: root

    required property string name
    property string hint: name
    property color color: Theme.accent

    implicitWidth: 28
    implicitHeight: 22
    hoverEnabled: true
    focusPolicy: Qt.TabFocus
    Accessible.name: name

    contentItem: Text {
        text: root.text
        color: root.color
        font.pixelSize: Theme.labelSize
        font.bold: true
        horizontalAlignment: Text.AlignHCenter
        verticalAlignment: Text.AlignVCenter
    }
    background: Rectangle {
        radius: 7
        color: root.hovered ? Theme.sunken : Theme.surface
        border.width: root.visualFocus ? 2 : 1
        border.color: root.visualFocus ? Theme.focus : Theme.line
    }

    Hint {
        text: root.hint
        shown: root.hovered || root.visualFocus
    }
}
