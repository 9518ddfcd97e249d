// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import Palimpsest.Studio

// An entry of a menu, with its key at the end.
MenuItem {
    id: root

    property string keys: ""

    implicitHeight: visible ? 32 : 0
    font.family: Theme.uiFont
    font.pixelSize: Theme.bodySize - 1
    Accessible.name: text

    contentItem: Item {
        Text {
            anchors.left: parent.left
            anchors.verticalCenter: parent.verticalCenter
            text: root.text
            font: root.font
            color: root.enabled ? Theme.ink : Theme.inkFaint
        }
        Text {
            anchors.right: parent.right
            anchors.verticalCenter: parent.verticalCenter
            text: root.keys
            font.family: Theme.uiFont
            font.pixelSize: Theme.captionSize
            color: Theme.inkFaint
        }
    }
    background: Rectangle {
        radius: Theme.radiusSmall
        color: root.highlighted ? Theme.sunken : "transparent"
    }
}
