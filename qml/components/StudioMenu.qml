// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import Palimpsest.Studio

// A menu in the studio's look.
Menu {
    id: root

    width: 320
    padding: 4
    font.family: Theme.uiFont
    font.pixelSize: Theme.bodySize - 1

    background: Rectangle {
        implicitWidth: 320
        radius: Theme.radiusMedium
        color: Theme.surface
        border.width: 1
        border.color: Theme.line
    }
}
