// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import Palimpsest.Studio

// The sheet: the draft's text with everything that the model does in it.
Item {
    id: root

    required property Studio studio
    readonly property alias editor: edit
    readonly property real sheetWidth: Math.min(Theme.pageWidth - 60, width - 148) // room for a bar at the left, and buttons at the right

    function askRewrite() {
        selectionBar.askRewrite()
    }

    function openWordCard() {
        words.focusCard()
    }

    function ensureVisible(rect) {
        if (flick.contentY > rect.y - 40)
            flick.contentY = Math.max(0, rect.y - 40)
        else if (flick.contentY + flick.height < rect.y + rect.height + 60)
            flick.contentY = rect.y + rect.height + 60 - flick.height
    }

    Binding {
        target: root.studio.draft.page
        property: "gap"
        value: alternatives.visible ? alternatives.implicitHeight + 2 * Theme.spaceSmall : 0
    }
    Flickable {
        id: flick
        anchors.fill: parent
        contentWidth: width
        contentHeight: Math.max(height, edit.y + edit.implicitHeight + 160)
        boundsBehavior: Flickable.StopAtBounds
        clip: true
        ScrollBar.vertical: ScrollBar {}

        MarksItem {
            x: edit.x
            y: edit.y
            width: edit.width
            height: edit.height
            page: root.studio.draft.page
            plane: MarksItem.Behind
        }
        TextEdit {
            id: edit
            x: Math.round((flick.width - width) / 2)
            y: 34
            width: root.sheetWidth
            height: flick.contentHeight - y // the caret can be put down below the last line, too
            wrapMode: TextEdit.Wrap
            horizontalAlignment: TextEdit.AlignLeft // each paragraph by its own direction
            textFormat: TextEdit.PlainText
            renderType: TextEdit.NativeRendering
            color: Theme.ink
            selectionColor: Theme.accentSoft
            selectedTextColor: Theme.ink
            selectByMouse: true
            persistentSelection: true
            font.family: Theme.pageFont
            font.pixelSize: Theme.pageSize
            enabled: root.studio.draft.open
            Accessible.name: root.studio.draft.open ? qsTr("Page: %1").arg(root.studio.draft.title) : qsTr("Page")
            Accessible.role: Accessible.EditableText
            Component.onCompleted: root.studio.draft.page.attach(edit)
            Keys.onReleased: (event) => {
                const arrows = [Qt.Key_Left, Qt.Key_Right, Qt.Key_Up, Qt.Key_Down, Qt.Key_Home, Qt.Key_End]
                if (root.studio.draft.running && event.modifiers === Qt.NoModifier && arrows.includes(event.key))
                    words.showAtCaret()
            }
            onCursorRectangleChanged: {
                if (activeFocus)
                    root.ensureVisible(Qt.rect(x + cursorRectangle.x, y + cursorRectangle.y, 1,
                                               cursorRectangle.height))
            }
        }
        MarksItem {
            x: edit.x
            y: edit.y
            width: edit.width
            height: edit.height
            page: root.studio.draft.page
            plane: MarksItem.InFront
        }
        Text {
            x: edit.x
            y: edit.y
            width: edit.width
            visible: root.studio.draft.open && root.studio.draft.page.empty
            text: qsTr("Write, paste, or ask for a draft below.")
            color: Theme.inkFaint
            font: edit.font
        }
        WordHover {
            id: words
            studio: root.studio
            editor: edit
            x: edit.x
            y: edit.y
            width: edit.width
            height: edit.contentHeight // below the last line there is no word
        }
        AlternativesRow {
            id: alternatives
            studio: root.studio
            editor: edit
            x: edit.x - 19
            width: edit.width + 19
        }
        ChangeBar {
            studio: root.studio
            editor: edit
        }
        SelectionBar {
            id: selectionBar
            studio: root.studio
            editor: edit
        }
    }
    PreviewNote {
        anchors.bottom: parent.bottom
        anchors.bottomMargin: Theme.spaceSmall
        anchors.horizontalCenter: parent.horizontalCenter
        studio: root.studio
    }
    Text {
        anchors.centerIn: parent
        visible: !root.studio.draft.open
        text: qsTr("Choose a draft, or begin a new one.")
        color: Theme.inkFaint
        font.family: Theme.pageFont
        font.pixelSize: Theme.pageSize
    }
}
