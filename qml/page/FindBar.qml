// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// Find and replace.
Rectangle {
    id: root

    required property Studio studio
    required property TextEdit editor
    readonly property PageText page: studio.draft.page

    function show() {
        visible = true
        pattern.forceActiveFocus()
        pattern.selectAll()
    }
    function hide() {
        visible = false
        page.searchPattern = ""
        editor.forceActiveFocus()
    }

    visible: false
    implicitHeight: row.implicitHeight + 16
    color: Theme.surface
    Keys.onShortcutOverride: (event) => event.accepted = event.key === Qt.Key_Escape
    Keys.onEscapePressed: hide()

    RowLayout {
        id: row
        anchors.fill: parent
        anchors.leftMargin: Theme.spaceLarge
        anchors.rightMargin: Theme.spaceLarge
        spacing: Theme.spaceSmall
        Field {
            id: pattern
            Layout.fillWidth: true
            placeholderText: qsTr("Find")
            onTextEdited: root.page.searchPattern = text
            onAccepted: root.page.findNext(1)
        }
        Text {
            Layout.preferredWidth: 90
            text: pattern.text === "" ? "" : qsTr("%n match(es)", "", root.page.matchCount)
            color: Theme.inkSoft
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
        }
        GlyphButton {
            text: "▲"
            name: qsTr("Previous match")
            onClicked: root.page.findNext(-1)
        }
        GlyphButton {
            text: "▼"
            name: qsTr("Next match")
            onClicked: root.page.findNext(1)
        }
        Field {
            id: replacement
            Layout.fillWidth: true
            placeholderText: qsTr("Replace by")
            onAccepted: root.page.replaceMatch(text)
        }
        PlainButton {
            compact: true
            text: qsTr("Replace")
            onClicked: root.page.replaceMatch(replacement.text)
        }
        PlainButton {
            compact: true
            text: qsTr("All")
            Accessible.name: qsTr("Replace all")
            onClicked: root.page.replaceAll(replacement.text)
        }
        GlyphButton {
            text: "✕"
            name: qsTr("Close")
            onClicked: root.hide()
        }
    }
}
