// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// A word about what was done; it goes by itself.
Rectangle {
    id: root

    property string actionText: ""
    signal acted()

    /// `label`: of the button that takes back what the message tells of; "" = there is nothing to take back.
    function show(message, label) {
        note.text = message
        actionText = label
        visible = true
        timer.restart()
    }

    visible: false
    implicitWidth: row.implicitWidth + 32
    implicitHeight: 40
    radius: Theme.radiusMedium
    color: Theme.ink

    RowLayout {
        id: row
        anchors.centerIn: parent
        spacing: Theme.spaceMedium
        Text {
            id: note
            Layout.maximumWidth: 520
            textFormat: Text.PlainText
            elide: Text.ElideMiddle
            color: Theme.paper
            font.family: Theme.uiFont
            font.pixelSize: Theme.bodySize - 1
            Accessible.role: Accessible.AlertMessage
            Accessible.name: text
        }
        BarButton {
            visible: root.actionText !== ""
            text: root.actionText
            onClicked: {
                root.visible = false
                root.acted()
            }
        }
    }
    Timer {
        id: timer
        interval: 8000
        onTriggered: root.visible = false
    }
}
