// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// A sentence about what went wrong, until it is read.
Rectangle {
    id: root

    /// Said elsewhere: not to be repeated here.
    property string known: ""
    property bool shown: false

    function show(message) {
        label.text = message
        shown = true
    }

    visible: shown && label.text !== known
    implicitHeight: row.implicitHeight + 16
    color: Theme.rustSoft

    RowLayout {
        id: row
        anchors.fill: parent
        anchors.leftMargin: Theme.spaceLarge
        anchors.rightMargin: Theme.spaceSmall
        Text {
            id: label
            Layout.fillWidth: true
            textFormat: Text.PlainText
            wrapMode: Text.WordWrap
            color: Theme.ink
            font.family: Theme.uiFont
            font.pixelSize: Theme.bodySize - 1
            Accessible.role: Accessible.AlertMessage
            Accessible.name: text
        }
        GlyphButton {
            text: "✕"
            name: qsTr("Close this message")
            onClicked: root.shown = false
        }
    }
}
