// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// A small label with a dot: where something stands.
Rectangle {
    id: root

    required property string text
    property color dotColor: Theme.accent

    implicitWidth: row.implicitWidth + 20
    implicitHeight: 26
    radius: height / 2
    color: Theme.paper
    border.width: 1
    border.color: Theme.line
    Accessible.role: Accessible.StaticText
    Accessible.name: text

    Row {
        id: row
        anchors.centerIn: parent
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
        }
    }
}
