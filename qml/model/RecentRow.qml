// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// A model folder that was used before.
RowLayout {
    id: root

    required property string folder
    signal chosen()
    signal dropped()

    spacing: Theme.spaceTiny

    PlainButton {
        Layout.fillWidth: true
        compact: true
        text: root.folder
        Accessible.name: qsTr("Check %1").arg(root.folder)
        onClicked: root.chosen()
    }
    GlyphButton {
        text: "✕"
        name: qsTr("Drop %1 from the list").arg(root.folder)
        onClicked: root.dropped()
    }
}
