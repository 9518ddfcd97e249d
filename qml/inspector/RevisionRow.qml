// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// One revision: what made it, when, and a way back to it.
Item {
    id: root

    required property int revision
    required property string heading
    required property string detail
    required property string run
    required property bool byModel
    required property bool newest
    property bool highlighted: false

    signal inspected(string run)
    signal restored(int revision)

    implicitHeight: column.implicitHeight + 14
    Accessible.role: Accessible.ListItem
    Accessible.name: heading + ", " + detail

    Rectangle {
        x: 8
        width: 2
        height: parent.height
        color: Theme.line
    }
    Rectangle {
        x: 3
        y: 4
        width: 12
        height: 12
        radius: 6
        color: root.newest ? Theme.accent : Theme.surface
        border.width: 2
        border.color: root.newest ? Theme.accent : (root.byModel ? Theme.inkFaint : Theme.ink)
    }
    Column {
        id: column
        anchors.left: parent.left
        anchors.right: parent.right
        anchors.leftMargin: 24
        Text {
            width: parent.width
            text: root.heading
            textFormat: Text.PlainText
            color: Theme.ink
            elide: Text.ElideRight
            font.family: Theme.uiFont
            font.pixelSize: Theme.bodySize - 1
            font.weight: Font.DemiBold
        }
        Text {
            width: parent.width
            text: root.detail
            textFormat: Text.PlainText
            wrapMode: Text.WordWrap
            color: Theme.inkSoft
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
        }
        Row {
            spacing: 6
            visible: area.hovered || root.highlighted || restore.activeFocus || look.activeFocus
            PlainButton {
                id: look
                compact: true
                visible: root.run !== ""
                text: qsTr("Steps")
                Accessible.name: qsTr("Look at the steps of: %1").arg(root.heading)
                onClicked: root.inspected(root.run)
            }
            PlainButton {
                id: restore
                compact: true
                visible: !root.newest
                text: qsTr("Restore")
                Accessible.name: qsTr("Restore: %1").arg(root.heading)
                onClicked: root.restored(root.revision)
            }
        }
    }
    HoverHandler {
        id: area
    }
}
