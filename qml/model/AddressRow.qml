// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// An address of this machine, to copy or to open.
ColumnLayout {
    id: root

    required property string label
    required property string address
    required property ServerView server
    property bool canOpen: false

    Layout.fillWidth: true
    spacing: 2

    Text {
        text: root.label
        color: Theme.inkSoft
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
    }
    RowLayout {
        spacing: Theme.spaceTiny
        TextEdit {
            Layout.fillWidth: true
            text: root.address
            readOnly: true
            selectByMouse: true
            activeFocusOnTab: true
            color: Theme.ink
            selectionColor: Theme.accentSoft
            selectedTextColor: Theme.ink
            wrapMode: TextEdit.WrapAnywhere
            font.family: Theme.monoFont
            font.pixelSize: Theme.labelSize
            Accessible.name: root.label
        }
        PlainButton {
            compact: true
            text: qsTr("Copy")
            Accessible.name: qsTr("Copy the address: %1").arg(root.label)
            onClicked: root.server.copy(root.address)
        }
        PlainButton {
            compact: true
            visible: root.canOpen
            text: qsTr("Open")
            Accessible.name: qsTr("Open in the browser")
            onClicked: Qt.openUrlExternally(root.address)
        }
    }
}
