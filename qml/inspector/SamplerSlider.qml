// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Palimpsest.Studio

// One setting of the sampler, with its value and what it means.
ColumnLayout {
    id: root

    required property string label
    required property string help
    required property real value
    property alias from: slider.from
    property alias to: slider.to
    property alias stepSize: slider.stepSize
    property int decimals: 2
    signal moved(real value)

    spacing: 0

    FactRow {
        label: root.label
        value: root.value.toFixed(root.decimals)
        Accessible.ignored: true
    }
    T.Slider {
        id: slider
        Layout.fillWidth: true
        implicitHeight: 18
        value: root.value
        focusPolicy: Qt.StrongFocus
        hoverEnabled: true
        Accessible.name: root.label
        Accessible.description: root.help
        onMoved: root.moved(value)
        background: Rectangle {
            y: 7
            width: slider.width
            height: 4
            radius: 2
            color: Theme.sunken
            Rectangle {
                width: slider.visualPosition * parent.width
                height: 4
                radius: 2
                color: Theme.accent
            }
        }
        handle: Rectangle {
            x: slider.visualPosition * (slider.width - width)
            y: 2
            width: 14
            height: 14
            radius: 7
            color: Theme.surface
            border.width: slider.visualFocus ? 4 : 2
            border.color: Theme.accent
        }

        Hint {
            text: root.help
            shown: slider.hovered || slider.visualFocus
        }
    }
}
