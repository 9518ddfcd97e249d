// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// Something is going on, and nobody knows how long it takes.
Column {
    id: root

    required property string text
    property bool running: false

    spacing: 4

    Text {
        text: root.text
        color: Theme.inkSoft
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }
    Rectangle {
        width: root.width
        height: 4
        radius: 2
        clip: true
        color: Theme.sunken
        Rectangle {
            id: bar
            width: root.width / 4
            height: parent.height
            radius: 2
            color: Theme.accent
            x: Theme.reducedMotion ? (root.width - width) / 2 : 0
            NumberAnimation on x {
                running: root.running && root.visible && !Theme.reducedMotion
                from: 0
                to: root.width - bar.width
                duration: 1200
                easing.type: Easing.InOutQuad
                loops: Animation.Infinite
            }
        }
    }
}
