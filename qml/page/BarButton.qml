// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// A button of the dark bar at the selection.
T.Button {
    id: root

    property string hint: ""

    implicitHeight: 30
    implicitWidth: implicitContentWidth + 20
    hoverEnabled: true
    focusPolicy: Qt.TabFocus // a click must not take the focus from the page, whose selection it works on
    Accessible.name: text

    contentItem: Text {
        text: root.text
        color: Theme.paper
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
        font.weight: Font.Medium
        horizontalAlignment: Text.AlignHCenter
        verticalAlignment: Text.AlignVCenter
    }
    background: Rectangle {
        radius: 7
        color: root.hovered || root.visualFocus ? Qt.rgba(Theme.paper.r, Theme.paper.g, Theme.paper.b, 0.16)
                                                : "transparent"
        border.width: root.visualFocus ? 1 : 0
        border.color: Theme.paper
    }

    Hint {
        text: root.hint
        shown: root.hovered
    }
}
