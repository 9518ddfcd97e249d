// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// A curve over the steps of a canvas, as dots joined by thin steps: rectangles only, so that every renderer draws it.
Item {
    id: root

    required property var values
    required property int slots
    required property string name
    property int current: 0
    readonly property real peak: Math.max(1, ...values)

    Accessible.role: Accessible.Graphic
    Accessible.name: values.length > 0 ? qsTr("%1: from %2 to %3").arg(name).arg(values[0].toFixed(2))
                                             .arg(values[values.length - 1].toFixed(2)) : name

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
            required property real modelData
            readonly property real slot: root.width / root.slots
            readonly property bool isCurrent: index + 1 === root.current
            width: isCurrent ? 8 : Math.max(2, Math.ceil(slot))
            height: isCurrent ? 8 : 2
            radius: isCurrent ? 4 : 1
            x: Math.round(index * slot + (isCurrent ? slot / 2 - 4 : 0))
            y: Math.round((root.height - 8) * (1 - modelData / root.peak)) + (isCurrent ? 0 : 3)
            color: Theme.accent
        }
    }
}
