// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// What the model did and does: the canvas, the draft's history, the model.
Rectangle {
    id: root

    required property Studio studio
    property int tab: 0

    color: Theme.surface

    ColumnLayout {
        anchors.fill: parent
        anchors.margins: 14
        spacing: 14

        TabRow {
            Layout.fillWidth: true
            labels: [qsTr("Canvas"), qsTr("History"), qsTr("Model")]
            current: root.tab
            onChosen: (index) => root.tab = index
        }
        CanvasTab {
            Layout.fillWidth: true
            Layout.fillHeight: true
            visible: root.tab === 0
            studio: root.studio
        }
        HistoryTab {
            Layout.fillWidth: true
            Layout.fillHeight: true
            visible: root.tab === 1
            studio: root.studio
        }
        ModelTab {
            Layout.fillWidth: true
            Layout.fillHeight: true
            visible: root.tab === 2
            studio: root.studio
        }
    }
}
