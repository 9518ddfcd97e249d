// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import Palimpsest.Studio

// The list of keys.
StudioDialog {
    id: root

    required property Studio studio

    heading: qsTr("Keys")
    width: 560

    ListView {
        width: parent.width
        height: 480
        clip: true
        activeFocusOnTab: true
        boundsBehavior: Flickable.StopAtBounds
        model: root.studio.keys.entries
        section.property: "modelData.group"
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Keys")
        ScrollBar.vertical: ScrollBar {}
        delegate: FactRow {
            required property var modelData
            width: ListView.view.width - 16
            height: 28
            label: modelData.text
            value: modelData.keys
        }
    }
    PlainButton {
        text: qsTr("Close")
        onClicked: root.close()
    }
}
