// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// A name and its value.
RowLayout {
    id: root

    required property string label
    required property string value

    Layout.fillWidth: true
    Accessible.role: Accessible.StaticText
    Accessible.name: label + ": " + value

    Text {
        text: root.label
        color: Theme.inkSoft
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
    }
    Text {
        Layout.fillWidth: true
        text: root.value
        color: Theme.ink
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
        font.weight: Font.Medium
        horizontalAlignment: Text.AlignRight
        elide: Text.ElideMiddle
    }
}
