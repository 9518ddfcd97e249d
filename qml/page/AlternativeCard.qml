// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// One of several texts for the same place.
Rectangle {
    id: root

    required property string alternativeText
    required property string label
    required property string settled
    required property bool chosen
    required property int number

    signal picked()
    signal taken()
    signal wordsTaken(int start, int end)

    implicitHeight: column.implicitHeight + 24
    radius: Theme.radiusLarge - 3
    color: Theme.surface
    border.width: chosen || activeFocus ? 2 : 1
    border.color: chosen ? Theme.accent : (activeFocus ? Theme.focus : Theme.line)
    activeFocusOnTab: true
    Accessible.role: Accessible.RadioButton
    Accessible.name: qsTr("Alternative %1, %2: %3").arg(number).arg(settled).arg(alternativeText)
    Accessible.checked: chosen
    Accessible.onPressAction: root.picked()
    Keys.onSpacePressed: picked()
    Keys.onReturnPressed: {
        picked()
        taken()
    }

    MouseArea {
        anchors.fill: parent
        onClicked: root.picked()
        onDoubleClicked: root.taken()
    }
    ColumnLayout {
        id: column
        anchors.left: parent.left
        anchors.right: parent.right
        anchors.top: parent.top
        anchors.margins: Theme.spaceMedium
        spacing: Theme.spaceTiny
        RowLayout {
            Layout.fillWidth: true
            Text {
                text: root.label
                color: Theme.inkFaint
                font.family: Theme.uiFont
                font.pixelSize: Theme.captionSize
            }
            Item {
                Layout.fillWidth: true
            }
            Text {
                text: root.settled
                color: Theme.inkFaint
                font.family: Theme.uiFont
                font.pixelSize: Theme.captionSize
            }
        }
        TextEdit {
            id: words
            Layout.fillWidth: true
            readOnly: true
            text: root.alternativeText
            textFormat: TextEdit.PlainText
            wrapMode: TextEdit.Wrap
            selectByMouse: true
            color: Theme.ink
            selectionColor: Theme.amberSoft
            selectedTextColor: Theme.ink
            font.family: Theme.pageFont
            font.pixelSize: Theme.pageSize - 3
            Accessible.ignored: true
            onActiveFocusChanged: {
                if (activeFocus)
                    root.picked()
            }
        }
        PlainButton {
            compact: true
            visible: words.selectedText !== ""
            text: qsTr("Take these words")
            onClicked: root.wordsTaken(words.selectionStart, words.selectionEnd)
        }
    }
}
