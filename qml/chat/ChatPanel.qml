// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Palimpsest.Studio

// Questions about the draft. Nothing of it changes the text, unless an answer is put in as a proposal.
ColumnLayout {
    id: root

    required property Studio studio
    readonly property ChatView chat: studio.chat

    function focusLine() {
        line.forceActiveFocus()
    }
    function send() {
        if (root.chat.busy) {
            root.chat.stop()
            return
        }
        root.chat.ask(line.text)
        if (root.chat.busy)
            line.clear()
    }

    spacing: Theme.spaceSmall

    RowLayout {
        SectionTitle {
            text: qsTr("Ask about the draft")
            figure: root.chat.statusText
        }
        PlainButton {
            compact: true
            visible: root.chat.count > 0
            text: qsTr("Clear")
            onClicked: root.chat.clear()
        }
    }
    ListView {
        id: list
        Layout.fillWidth: true
        Layout.fillHeight: true
        clip: true
        spacing: Theme.spaceMedium
        activeFocusOnTab: count > 0
        boundsBehavior: Flickable.StopAtBounds
        model: root.chat
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Questions and answers")
        ScrollBar.vertical: ScrollBar {}
        onContentHeightChanged: positionViewAtEnd()
        delegate: ChatTurn {
            width: ListView.view.width - 10
            onInsertWanted: (row) => root.chat.insert(row)
            onCopyWanted: (row) => root.chat.copy(row)
        }
        Note {
            anchors.left: parent.left
            anchors.right: parent.right
            visible: root.chat.count === 0
            text: root.studio.model.demo
                  ? qsTr("Ask something about the draft, or about the words you have selected. The small model that comes with Palimpsest proofreads; it answers questions poorly. A larger model does better.")
                  : qsTr("Ask something about the draft, or about the words you have selected. The answer does not touch your text; you can put it in at the caret as a proposal.")
        }
    }
    ToggleRow {
        Layout.fillWidth: true
        visible: root.chat.canThink
        text: qsTr("Think first")
        checked: root.chat.thinking
        onToggled: root.chat.thinking = checked
    }
    Rectangle {
        Layout.fillWidth: true
        implicitHeight: Math.min(140, Math.max(64, line.implicitHeight + 8))
        radius: Theme.radiusMedium
        color: "transparent"
        border.width: line.activeFocus ? 2 : 1
        border.color: line.activeFocus ? Theme.focus : Theme.line
        ScrollView {
            anchors.fill: parent
            anchors.margins: 4
            TextArea {
                id: line
                placeholderText: qsTr("Ask about the draft or the selection")
                placeholderTextColor: Theme.inkFaint
                textFormat: TextEdit.PlainText
                wrapMode: TextEdit.Wrap
                color: Theme.ink
                selectionColor: Theme.accentSoft
                selectedTextColor: Theme.ink
                font.family: Theme.uiFont
                font.pixelSize: Theme.bodySize - 1
                background: null
                KeyNavigation.priority: KeyNavigation.BeforeItem
                KeyNavigation.tab: ask
                Accessible.name: qsTr("Your question")
                Keys.onPressed: (event) => {
                    const sends = (event.key === Qt.Key_Return || event.key === Qt.Key_Enter) && !(event.modifiers & Qt.ShiftModifier)
                    if (!sends || line.inputMethodComposing)
                        return
                    event.accepted = true
                    root.send()
                }
            }
        }
    }
    RowLayout {
        Note {
            Layout.fillWidth: true
            text: qsTr("Enter asks · Shift+Enter: new line")
        }
        PlainButton {
            id: ask
            compact: true
            primary: true
            enabled: root.chat.busy || line.text.trim() !== ""
            text: root.chat.busy ? qsTr("Stop") : qsTr("Ask")
            onClicked: root.send()
        }
    }
    Announcer {
        message: root.chat.announcement
    }
}
