// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import Palimpsest.Studio

// A tooltip in the studio's look.
ToolTip {
    id: root

    property bool shown: false

    visible: shown && text !== ""
    delay: 600
    font.family: Theme.uiFont
    font.pixelSize: Theme.labelSize

    contentItem: Text {
        text: root.text
        font: root.font
        color: Theme.paper
    }
    background: Rectangle {
        color: Theme.ink
        radius: Theme.radiusSmall
    }
}
