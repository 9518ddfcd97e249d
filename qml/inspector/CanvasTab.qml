// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// The canvas, step by step.
ColumnLayout {
    id: root

    required property Studio studio
    readonly property InspectorView view: studio.inspector

    spacing: Theme.spaceSmall

    SectionTitle {
        text: qsTr("%n token(s)", "", root.view.positions > 0 ? root.view.positions : root.studio.model.canvasLength)
        figure: root.view.countsText
    }
    CellMapItem {
        id: map
        Layout.fillWidth: true
        implicitHeight: Math.round(width / 1.55)
        inspector: root.view
        Accessible.role: Accessible.Graphic
        Accessible.name: qsTr("Canvas: %1").arg(root.view.countsText)
        HoverHandler {
            id: hover
        }
        Hint {
            readonly property int position: hover.hovered ? map.positionAt(hover.point.position.x, hover.point.position.y) : -1
            text: position >= 0 ? map.describe(position) : ""
            shown: position >= 0
            delay: 100
        }
    }
    SectionTitle {
        Layout.topMargin: Theme.spaceTiny
        text: qsTr("Mean entropy")
        figure: root.view.entropyText
    }
    StepChart {
        Layout.fillWidth: true
        implicitHeight: 56
        shape: StepChartItem.Curve
        values: root.view.entropyCurve
        slots: root.view.maxSteps
        current: root.view.step
        name: qsTr("Mean entropy by step")
        decimals: 2
    }
    SectionTitle {
        text: qsTr("Accepted each step")
        figure: root.view.acceptedText
    }
    StepChart {
        Layout.fillWidth: true
        implicitHeight: 40
        shape: StepChartItem.Bars
        values: root.view.acceptedCurve
        slots: root.view.maxSteps
        current: root.view.step
        name: qsTr("Accepted positions by step")
    }
    SectionTitle {
        text: root.view.canvases > 1 ? qsTr("Timeline, canvas %1 of %2").arg(root.view.canvas + 1).arg(root.view.canvases)
                                     : qsTr("Timeline")
        figure: root.view.step > 0 ? qsTr("step %1").arg(root.view.step) : "–"
    }
    Timeline {
        Layout.fillWidth: true
        view: root.view
        keys: root.studio.keys
    }
    RowLayout {
        Layout.fillWidth: true
        Text {
            Layout.fillWidth: true
            text: root.view.stopText
            color: Theme.inkSoft
            wrapMode: Text.WordWrap
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
        }
        PlainButton {
            compact: true
            visible: !root.view.following
            text: qsTr("Newest step")
            onClicked: root.view.follow()
        }
    }
    SamplerPanel {
        Layout.fillWidth: true
        Layout.topMargin: Theme.spaceTiny
        studio: root.studio
    }
    Item {
        Layout.fillHeight: true
    }
}
