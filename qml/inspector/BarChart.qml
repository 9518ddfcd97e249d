// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// A bar for each step of a canvas.
Item {
    id: root

    required property var values
    required property int slots
    required property string name
    property int current: 0
    readonly property real peak: Math.max(1, ...values)

    Accessible.role: Accessible.Graphic
    Accessible.name: values.length > 0 ? qsTr("%1: last %2").arg(name).arg(values[values.length - 1]) : name

    Rectangle {
        anchors.bottom: parent.bottom
        width: parent.width
        height: 1
        color: Theme.line
    }
    Repeater {
        model: root.values
        Rectangle {
            required property int index
            required property int modelData
            readonly property real slot: root.width / root.slots
            x: Math.round(index * slot)
            width: Math.max(2, Math.floor(slot) - 2)
            height: Math.max(1, Math.round((root.height - 2) * modelData / root.peak))
            y: root.height - 1 - height
            radius: 1
            color: Theme.accent
            opacity: index + 1 === root.current ? 1 : 0.55
        }
    }
}
