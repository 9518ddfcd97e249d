// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// What the model holds possible at one place.
Rectangle {
    id: root

    required property var word
    readonly property bool hovered: hover.hovered
    signal chosen(int id)

    width: 196
    height: column.implicitHeight + 20
    radius: 10
    color: Theme.surface
    border.width: 1
    border.color: Theme.line
    Accessible.role: Accessible.PopupMenu
    Accessible.name: qsTr("Alternatives")

    HoverHandler {
        id: hover
    }
    Column {
        id: column
        anchors.left: parent.left
        anchors.right: parent.right
        anchors.top: parent.top
        anchors.margins: 10
        spacing: 2
        Row {
            width: parent.width
            Text {
                width: parent.width - nats.width
                text: root.word.text !== undefined ? root.word.text.trim() : ""
                textFormat: Text.PlainText
                color: Theme.ink
                elide: Text.ElideRight
                font.family: Theme.uiFont
                font.pixelSize: Theme.labelSize
                font.weight: Font.DemiBold
            }
            Text {
                id: nats
                text: root.word.entropy !== undefined ? qsTr("%1 nats").arg(root.word.entropy.toFixed(2)) : ""
                color: Theme.inkSoft
                font.family: Theme.uiFont
                font.pixelSize: Theme.labelSize
            }
        }
        Repeater {
            model: root.word.choices !== undefined ? root.word.choices : []
            Item {
                id: choice
                required property var modelData
                width: column.width
                height: 24
                Accessible.role: Accessible.MenuItem
                Accessible.name: qsTr("%1, %2 percent").arg(modelData.text.trim()).arg(modelData.percent)
                Accessible.onPressAction: root.chosen(modelData.id)
                Rectangle {
                    anchors.fill: parent
                    radius: Theme.radiusSmall
                    color: area.containsMouse ? Theme.sunken : "transparent"
                }
                Text {
                    anchors.left: parent.left
                    text: choice.modelData.text.trim() === "" ? "␣" : choice.modelData.text.trim()
                    textFormat: Text.PlainText
                    color: Theme.ink
                    font.family: Theme.uiFont
                    font.pixelSize: Theme.labelSize
                }
                Text {
                    anchors.right: parent.right
                    text: qsTr("%1 %").arg(choice.modelData.percent)
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
                        width: parent.width * choice.modelData.percent / 100
                        height: 4
                        radius: 2
                        color: Theme.accent
                    }
                }
                MouseArea {
                    id: area
                    anchors.fill: parent
                    hoverEnabled: true
                    onClicked: root.chosen(choice.modelData.id)
                }
            }
        }
        Text {
            width: parent.width
            wrapMode: Text.WordWrap
            text: qsTr("A choice is put in and locked; a click on the page locks the word")
            color: Theme.inkSoft
            font.family: Theme.uiFont
            font.pixelSize: Theme.captionSize
        }
    }
}
