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
    readonly property int askTab: 2
    readonly property int modelTab: 3
    signal chooseModelWanted()

    function showAsk() {
        tab = askTab
        chat.focusLine()
    }

    color: Theme.surface

    ColumnLayout {
        anchors.fill: parent
        anchors.margins: 14
        spacing: 14

        TabRow {
            Layout.fillWidth: true
            labels: [qsTr("Canvas"), qsTr("History"), qsTr("Ask"), qsTr("Model")]
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
        ChatPanel {
            id: chat
            Layout.fillWidth: true
            Layout.fillHeight: true
            visible: root.tab === root.askTab
            studio: root.studio
        }
        ModelPanel {
            Layout.fillWidth: true
            Layout.fillHeight: true
            visible: root.tab === root.modelTab
            studio: root.studio
            onChooseWanted: root.chooseModelWanted()
        }
    }
}
