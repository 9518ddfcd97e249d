// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import Palimpsest.Studio

// What the program noted since it was started.
StudioDialog {
    id: root

    required property Studio studio

    heading: qsTr("Log")
    width: Math.min(820, parent ? parent.width - 40 : 820)
    onOpened: list.positionViewAtEnd()

    ListView {
        id: list
        width: parent.width
        height: root.roomFor(420)
        clip: true
        spacing: 4
        activeFocusOnTab: true
        boundsBehavior: Flickable.StopAtBounds
        model: root.studio.log
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Log")
        ScrollBar.vertical: ScrollBar {}
        delegate: Text {
            required property string time
            required property string level
            required property string message
            required property bool serious
            width: ListView.view.width - 16
            text: time + "  " + level + ": " + message
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            color: serious ? Theme.rust : Theme.inkSoft
            font.family: Theme.monoFont
            font.pixelSize: Theme.labelSize
            Accessible.role: Accessible.ListItem
            Accessible.name: text
        }
        Note {
            visible: list.count === 0
            text: qsTr("Nothing was noted yet.")
        }
    }
    Row {
        spacing: Theme.spaceSmall
        PlainButton {
            primary: true
            text: qsTr("Close")
            onClicked: root.close()
        }
        PlainButton {
            text: qsTr("Copy all")
            enabled: list.count > 0
            onClicked: root.studio.log.copyAll()
        }
    }
}
