// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// The top of the window: what is open, undo and redo, where the model and the endpoint stand.
Rectangle {
    id: root

    required property Studio studio
    required property var window
    readonly property DraftView draft: studio.draft
    signal menuWanted(Item anchor)
    signal modelWanted()

    implicitHeight: 52
    color: Theme.surface

    Rectangle {
        anchors.bottom: parent.bottom
        width: parent.width
        height: 1
        color: Theme.line
    }
    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.spaceLarge
        anchors.rightMargin: Theme.spaceLarge
        spacing: Theme.spaceMedium

        Text {
            Layout.preferredWidth: Theme.libraryWidth - 28
            text: "Palimpsest"
            color: Theme.ink
            font.family: Theme.pageFont
            font.pixelSize: 18
            font.weight: Font.DemiBold
        }
        TextInput {
            id: title
            Layout.maximumWidth: 420
            text: root.draft.title
            enabled: root.draft.open
            clip: true
            selectByMouse: true
            activeFocusOnTab: true
            color: Theme.ink
            selectionColor: Theme.accentSoft
            selectedTextColor: Theme.ink
            font.family: Theme.uiFont
            font.pixelSize: Theme.bodySize
            font.weight: Font.DemiBold
            Accessible.name: qsTr("Title of the draft")
            onEditingFinished: root.draft.title = text
        }
        Text {
            text: root.draft.saveText
            color: root.draft.saveFailed ? Theme.rust : Theme.inkFaint
            elide: Text.ElideRight
            Layout.maximumWidth: 320
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
        }
        Item {
            Layout.fillWidth: true
        }
        GlyphButton {
            text: "↶"
            name: qsTr("Undo")
            hint: root.draft.undoLabel !== "" ? qsTr("Undo: %1").arg(root.draft.undoLabel) : root.studio.keys.hintOf("undo")
            enabled: root.draft.undoLabel !== ""
            onClicked: root.draft.undo()
        }
        GlyphButton {
            text: "↷"
            name: qsTr("Redo")
            hint: root.draft.redoLabel !== "" ? qsTr("Redo: %1").arg(root.draft.redoLabel) : root.studio.keys.hintOf("redo")
            enabled: root.draft.redoLabel !== ""
            onClicked: root.draft.redo()
        }
        GlyphButton {
            text: "◐"
            name: qsTr("Show how sure the model is")
            hint: root.studio.keys.hintOf("entropy")
            checkable: true
            checked: root.draft.page.entropyShown
            onToggled: root.draft.page.entropyShown = checked
        }
        Chip {
            visible: root.width > 900
            text: root.studio.model.chipText
            hint: root.studio.model.device
            onClicked: root.modelWanted()
            dotColor: root.studio.model.phase === ModelView.Ready ? Theme.accent
                    : root.studio.model.phase === ModelView.Loading ? Theme.amber : Theme.rust
        }
        Chip {
            visible: root.width > 1000
            text: root.studio.server.chipText
            hint: root.studio.server.clientsText
            onClicked: root.modelWanted()
            dotColor: root.studio.server.running ? Theme.accent : Theme.inkFaint
        }
        GlyphButton {
            id: more
            text: "⋯"
            name: qsTr("Menu")
            onClicked: root.menuWanted(more)
        }
    }
}
