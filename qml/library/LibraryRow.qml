// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// One draft of the list.
Rectangle {
    id: root

    required property string documentId
    required property string title
    required property string excerpt
    required property string detail
    required property bool binned
    property bool current: false
    property bool highlighted: false

    signal opened()
    signal deleted()
    signal menuWanted(Item anchor)

    implicitHeight: column.implicitHeight + 18
    radius: Theme.radiusMedium
    color: current ? Theme.accentSoft : (mouse.containsMouse ? Theme.sunken : "transparent")
    border.width: highlighted ? 2 : 0
    border.color: Theme.focus
    Accessible.role: Accessible.ListItem
    Accessible.name: title + ", " + detail
    Accessible.onPressAction: root.opened()

    Column {
        id: column
        anchors.left: parent.left
        anchors.right: parent.right
        anchors.verticalCenter: parent.verticalCenter
        anchors.margins: 10
        Text {
            width: parent.width
            text: root.title
            color: Theme.ink
            elide: Text.ElideRight
            font.family: Theme.uiFont
            font.pixelSize: Theme.bodySize - 1
            font.weight: Font.DemiBold
        }
        Text {
            width: parent.width
            text: root.excerpt
            textFormat: Text.PlainText
            visible: text !== ""
            color: Theme.inkSoft
            elide: Text.ElideRight
            maximumLineCount: 1
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
        }
        Text {
            width: parent.width
            text: root.detail
            color: Theme.inkFaint
            elide: Text.ElideRight
            font.family: Theme.uiFont
            font.pixelSize: Theme.captionSize
        }
    }
    MouseArea {
        id: mouse
        anchors.fill: parent
        hoverEnabled: true
        acceptedButtons: Qt.LeftButton | Qt.RightButton
        onClicked: (event) => {
            if (event.button === Qt.RightButton)
                root.menuWanted(root)
            else
                root.opened()
        }
    }
}
