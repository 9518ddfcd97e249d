// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// How far something is, as a thin line.
Rectangle {
    id: root

    required property double value
    required property string name

    implicitHeight: 4
    radius: 2
    color: Theme.sunken
    Accessible.role: Accessible.ProgressBar
    Accessible.name: root.name

    Rectangle {
        width: parent.width * Math.max(0, Math.min(1, root.value))
        height: parent.height
        radius: 2
        color: Theme.accent
    }
}
