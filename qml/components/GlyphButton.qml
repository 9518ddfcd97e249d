// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// A square button with one sign on it; its name is for tooltips and screen readers.
T.Button {
    id: root

    required property string name
    property string hint: name
    property bool framed: false
    property int signSize: 15

    implicitWidth: Theme.touchTarget
    implicitHeight: Theme.touchTarget
    hoverEnabled: true
    focusPolicy: Qt.TabFocus
    opacity: enabled ? 1 : 0.4
    Accessible.name: name

    contentItem: Text {
        text: root.text
        color: root.checked ? Theme.ink : Theme.inkSoft
        font.family: Theme.uiFont
        font.pixelSize: root.signSize
        horizontalAlignment: Text.AlignHCenter
        verticalAlignment: Text.AlignVCenter
    }
    background: Rectangle {
        radius: Theme.radiusMedium
        color: root.checked || root.hovered ? Theme.sunken : "transparent"
        border.width: root.visualFocus ? 2 : root.framed ? 1 : 0
        border.color: root.visualFocus ? Theme.focus : Theme.line
    }

    Hint {
        text: root.hint
        shown: root.hovered || root.visualFocus
    }
}
