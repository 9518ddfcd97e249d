// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Palimpsest.Studio

// Goes through the steps of a canvas, and makes a revision of one.
ColumnLayout {
    id: root

    required property InspectorView view
    required property KeyMap keys

    spacing: Theme.spaceSmall

    T.Slider {
        id: slider
        objectName: "timeline"
        Layout.fillWidth: true
        implicitHeight: 20
        from: 1
        to: Math.max(1, root.view.steps)
        stepSize: 1
        value: root.view.step
        enabled: root.view.steps > 0
        focusPolicy: Qt.StrongFocus
        Accessible.name: qsTr("Step %1 of %2").arg(root.view.step).arg(root.view.steps)
        onMoved: root.view.goTo(root.view.canvas, Math.round(value))
        background: Rectangle {
            x: 0
            y: 8
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
            y: 3
            width: 14
            height: 14
            radius: 7
            color: Theme.surface
            border.width: slider.visualFocus ? 4 : 2
            border.color: Theme.accent
        }
    }
    RowLayout {
        Layout.fillWidth: true
        spacing: 6
        GlyphButton {
            framed: true
            text: "⏮"
            name: qsTr("Canvas before")
            hint: root.keys.hintOf("canvasBack")
            enabled: root.view.canvases > 0
            onClicked: root.view.canvasBy(-1)
        }
        GlyphButton {
            framed: true
            text: "‹"
            signSize: 20
            name: qsTr("Step back")
            hint: root.keys.hintOf("stepBack")
            enabled: root.view.steps > 0
            onClicked: root.view.stepBy(-1)
        }
        GlyphButton {
            framed: true
            text: root.view.playing ? "⏸" : "▶"
            name: root.view.playing ? qsTr("Pause the replay") : qsTr("Replay the steps")
            enabled: root.view.steps > 0
            onClicked: root.view.playing ? root.view.pausePlaying() : root.view.play()
        }
        GlyphButton {
            framed: true
            text: "›"
            signSize: 20
            name: qsTr("Step forward")
            hint: root.keys.hintOf("stepForward")
            enabled: root.view.steps > 0
            onClicked: root.view.stepBy(1)
        }
        GlyphButton {
            framed: true
            text: "⏭"
            name: qsTr("Canvas after")
            hint: root.keys.hintOf("canvasForward")
            enabled: root.view.canvases > 0
            onClicked: root.view.canvasBy(1)
        }
        Item {
            Layout.fillWidth: true
        }
        PlainButton {
            compact: true
            text: qsTr("Branch here")
            enabled: root.view.step > 0
            onClicked: root.view.branchHere()
        }
    }
}
