// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// The heading of a part of the inspector, with a figure at its end.
RowLayout {
    id: root

    required property string text
    property string figure: ""

    Layout.fillWidth: true
    Text {
        text: root.text.toUpperCase()
        color: Theme.inkFaint
        font.family: Theme.uiFont
        font.pixelSize: Theme.captionSize
        font.weight: Font.DemiBold
        font.letterSpacing: 0.8
        Accessible.role: Accessible.Heading
        Accessible.name: root.text
    }
    Item {
        Layout.fillWidth: true
    }
    Text {
        text: root.figure
        color: Theme.inkSoft
        font.family: Theme.uiFont
        font.pixelSize: Theme.captionSize
        font.weight: Font.DemiBold
    }
}
