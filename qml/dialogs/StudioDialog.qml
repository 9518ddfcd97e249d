// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import Palimpsest.Studio

// A dialog in the studio's look, in the middle of the window; Esc closes it.
Popup {
    id: root

    property string heading: ""
    default property alias items: column.data

    /// The height of a list that would be so high in a large window.
    function roomFor(height) {
        return parent ? Math.max(120, Math.min(height, parent.height - 240)) : height
    }

    anchors.centerIn: parent
    modal: true
    focus: true
    padding: Theme.spaceHuge
    width: 440

    background: Rectangle {
        radius: Theme.radiusLarge
        color: Theme.surface
        border.width: 1
        border.color: Theme.line
    }
    Column {
        id: column
        width: parent.width
        spacing: Theme.spaceMedium
        Accessible.role: Accessible.Dialog
        Accessible.name: root.heading
        Text {
            text: root.heading
            color: Theme.ink
            font.family: Theme.uiFont
            font.pixelSize: Theme.titleSize - 2
            font.weight: Font.DemiBold
            Accessible.role: Accessible.Heading
            Accessible.name: text
        }
    }
}
