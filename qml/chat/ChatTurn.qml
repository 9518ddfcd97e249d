// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// A question, or an answer with what led to it.
Column {
    id: root

    required property int index
    required property bool question
    required property string content
    required property string draft
    required property string thoughts
    required property string problem
    required property bool insertable
    property bool thoughtsShown: false
    signal insertWanted(int index)
    signal copyWanted(int index)

    spacing: 6

    Rectangle {
        visible: root.question
        width: Math.min(parent.width, said.implicitWidth + 20)
        height: said.implicitHeight + 14
        x: parent.width - width
        radius: Theme.radiusMedium
        color: Theme.accentSoft
        Text {
            id: said
            anchors.centerIn: parent
            width: Math.min(implicitWidth, root.width - 20)
            text: root.question ? root.content : ""
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            color: Theme.ink
            font.family: Theme.uiFont
            font.pixelSize: Theme.bodySize - 1
            Accessible.role: Accessible.StaticText
            Accessible.name: qsTr("You asked: %1").arg(text)
        }
    }
    PlainButton {
        visible: root.thoughts !== ""
        compact: true
        text: root.thoughtsShown ? qsTr("Hide what it thought") : qsTr("Show what it thought")
        onClicked: root.thoughtsShown = !root.thoughtsShown
    }
    Text {
        width: parent.width
        visible: root.thoughtsShown && root.thoughts !== ""
        text: root.thoughts
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        color: Theme.inkSoft
        leftPadding: 10
        font.family: Theme.uiFont
        font.pixelSize: Theme.labelSize
        font.italic: true
        Accessible.role: Accessible.StaticText
        Accessible.name: qsTr("It thought: %1").arg(text)
    }
    TextEdit {
        width: parent.width
        visible: !root.question && root.content !== ""
        text: root.question ? "" : root.content
        textFormat: TextEdit.PlainText
        readOnly: true
        selectByMouse: true
        activeFocusOnTab: true
        wrapMode: TextEdit.Wrap
        color: Theme.ink
        selectionColor: Theme.accentSoft
        selectedTextColor: Theme.ink
        font.family: Theme.uiFont
        font.pixelSize: Theme.bodySize - 1
        Accessible.name: qsTr("Answer: %1").arg(root.content)
    }
    Text {
        width: parent.width
        visible: root.draft !== ""
        text: root.draft
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        color: Theme.inkFaint
        font.family: Theme.uiFont
        font.pixelSize: Theme.bodySize - 1
        font.italic: true
        Accessible.ignored: true
    }
    Note {
        width: parent.width
        visible: root.problem !== ""
        text: root.problem
        color: Theme.rust
    }
    Row {
        visible: root.insertable
        spacing: Theme.spaceSmall
        PlainButton {
            compact: true
            text: qsTr("Insert at the caret")
            onClicked: root.insertWanted(root.index)
        }
        PlainButton {
            compact: true
            text: qsTr("Copy")
            onClicked: root.copyWanted(root.index)
        }
    }
}
