// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// The model of this process, and the endpoint that shares it.
ColumnLayout {
    id: root

    required property Studio studio
    readonly property ModelView view: studio.model

    spacing: Theme.spaceSmall

    SectionTitle {
        text: qsTr("Model")
        figure: root.view.phase === ModelView.Loading ? qsTr("%1 %").arg(Math.round(root.view.progress * 100)) : ""
    }
    Rectangle {
        Layout.fillWidth: true
        visible: root.view.phase === ModelView.Loading
        implicitHeight: 3
        color: Theme.sunken
        Rectangle {
            width: parent.width * root.view.progress
            height: 3
            color: Theme.accent
        }
    }
    Text {
        Layout.fillWidth: true
        visible: root.view.phase === ModelView.Failed
        text: root.view.problemText
        textFormat: Text.PlainText
        wrapMode: Text.WordWrap
        color: Theme.rust
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }
    Repeater {
        model: root.view.facts
        FactRow {
            required property var modelData
            label: modelData.label
            value: modelData.value
        }
    }
    Text {
        Layout.fillWidth: true
        visible: root.view.demo
        text: qsTr("This small model came with Palimpsest. It proofreads short English texts well enough to try everything; it is no writer. Choose a larger one for real work.")
        wrapMode: Text.WordWrap
        color: Theme.inkSoft
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
    }
    PlainButton {
        compact: true
        visible: root.view.phase === ModelView.Failed
        text: qsTr("Try again")
        onClicked: root.view.reload()
    }
    Item {
        Layout.fillHeight: true
    }
}
