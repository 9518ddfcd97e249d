// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// One of the words that the model holds possible, with a bar for how likely it is.
Item {
    id: root

    required property string choiceText
    required property int percent
    required property string name
    property bool highlighted: false
    signal picked()

    implicitHeight: 26
    Accessible.role: Accessible.MenuItem
    Accessible.name: name
    Accessible.selected: highlighted
    Accessible.onPressAction: root.picked()

    Rectangle {
        anchors.fill: parent
        anchors.leftMargin: -4
        anchors.rightMargin: -4
        radius: Theme.radiusSmall
        color: area.containsMouse || root.highlighted ? Theme.accentSoft : "transparent"
    }
    Text {
        anchors.left: parent.left
        anchors.right: share.left
        text: root.choiceText === "" ? "␣" : root.choiceText
        textFormat: Text.PlainText
        elide: Text.ElideRight
        color: Theme.ink
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
        font.weight: root.highlighted ? Font.DemiBold : Font.Normal
    }
    Text {
        id: share
        anchors.right: parent.right
        text: qsTr("%1 %").arg(root.percent)
        color: Theme.inkSoft
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
    }
    Rectangle {
        y: 18
        width: parent.width
        height: 4
        radius: 2
        color: Theme.sunken
        Rectangle {
            width: parent.width * root.percent / 100
            height: 4
            radius: 2
            color: Theme.accent
        }
    }
    MouseArea {
        id: area
        anchors.fill: parent
        hoverEnabled: true
        onClicked: root.picked()
    }
}
