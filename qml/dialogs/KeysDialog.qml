// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import Palimpsest.Studio

// The list of keys, each of which can be changed.
StudioDialog {
    id: root

    required property Studio studio

    heading: qsTr("Keys")
    width: 560

    property string lost: ""

    function assign(action, keys) {
        const loser = studio.keys.assign(action, keys)
        lost = loser === "" ? "" : qsTr("“%1” has lost its key.").arg(studio.keys.textOf(loser))
    }
    onClosed: lost = ""

    ListView {
        id: list
        width: parent.width
        height: root.roomFor(440)
        clip: true
        boundsBehavior: Flickable.StopAtBounds
        model: root.studio.keys.actions
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Keys")
        ScrollBar.vertical: ScrollBar {}
        delegate: Column {
            id: entry
            required property var modelData
            required property int index
            readonly property bool opensGroup: index === 0 || root.studio.keys.actions[index - 1].group !== modelData.group
            width: ListView.view.width - 16
            SectionTitle {
                width: parent.width
                height: 34
                visible: entry.opensGroup
                text: entry.modelData.group
            }
            KeyRow {
                width: parent.width
                map: root.studio.keys
                actionId: entry.modelData.id
                text: entry.modelData.text
                keys: root.studio.keys.entries.length > 0 ? root.studio.keys.shownKeysOf(actionId) : "" // read again with the map
                onAssigned: (keys) => root.assign(actionId, keys)
            }
        }
    }
    Note {
        width: parent.width
        text: root.lost !== "" ? root.lost : qsTr("Click an action, then press its new keys. Backspace: no key.")
        color: root.lost !== "" ? Theme.rust : Theme.inkSoft
    }
    Row {
        spacing: Theme.spaceSmall
        PlainButton {
            primary: true
            text: qsTr("Close")
            onClicked: root.close()
        }
        PlainButton {
            text: qsTr("All keys as they were")
            onClicked: root.studio.keys.reset()
        }
    }
}
