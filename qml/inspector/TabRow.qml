// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// Tabs in a sunken row.
Rectangle {
    id: root

    required property var labels
    property int current: 0
    signal chosen(int index)

    implicitHeight: 36
    radius: 9
    color: Theme.sunken
    Accessible.role: Accessible.PageTabList
    Accessible.name: qsTr("Inspector")

    Row {
        anchors.fill: parent
        anchors.margins: 3
        spacing: 4
        Repeater {
            model: root.labels
            T.Button {
                id: tab
                required property string modelData
                required property int index
                width: (root.width - 6 - 4 * (root.labels.length - 1)) / root.labels.length
                height: 30
                text: modelData
                hoverEnabled: true
                focusPolicy: Qt.StrongFocus
                Accessible.role: Accessible.PageTab
                Accessible.name: modelData
                Accessible.selected: root.current === index
                onClicked: root.chosen(index)
                contentItem: Text {
                    text: tab.text
                    color: root.current === tab.index ? Theme.ink : Theme.inkSoft
                    font.family: Theme.uiFont
                    font.pixelSize: Theme.labelSize
                    font.weight: Font.DemiBold
                    horizontalAlignment: Text.AlignHCenter
                    verticalAlignment: Text.AlignVCenter
                }
                background: Rectangle {
                    radius: 7
                    color: root.current === tab.index ? Theme.surface : "transparent"
                    border.width: tab.visualFocus ? 2 : 0
                    border.color: Theme.focus
                }
            }
        }
    }
}
