// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// Something is going on, and nobody knows how long it takes; where `progress` says how far it is, that is shown.
Column {
    id: root

    required property string text
    property bool running: false
    property double progress: -1 // 0..1

    spacing: 4

    RowLayout {
        width: root.width
        Text {
            Layout.fillWidth: true
            text: root.text
            color: Theme.inkSoft
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
            Accessible.role: Accessible.AlertMessage
            Accessible.name: text
        }
        Text {
            visible: root.progress >= 0
            text: qsTr("%1 %").arg(Math.floor(root.progress * 100))
            color: Theme.inkSoft
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
        }
    }
    ProgressLine {
        width: root.width
        visible: root.progress >= 0
        value: root.progress
        name: root.text
    }
    Rectangle {
        visible: root.progress < 0
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
                running: root.running && root.visible && root.progress < 0 && !Theme.reducedMotion
                from: 0
                to: root.width - bar.width
                duration: 1200
                easing.type: Easing.InOutQuad
                loops: Animation.Infinite
            }
        }
    }
}
