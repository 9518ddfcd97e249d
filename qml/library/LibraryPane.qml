// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// The writer's drafts, with search.
Rectangle {
    id: root

    required property Studio studio
    signal documentMenu(string documentId, string title, bool binned, Item anchor)
    signal renameWanted(string documentId, string title)
    signal eraseWanted(string documentId, string title)
    signal emptyBinWanted()

    function focusSearch() {
        search.forceActiveFocus()
        search.selectAll()
    }

    color: Theme.surface

    ColumnLayout {
        anchors.fill: parent
        anchors.margins: Theme.spaceMedium
        spacing: Theme.spaceSmall

        Field {
            id: search
            Layout.fillWidth: true
            placeholderText: qsTr("Search drafts")
            onTextEdited: root.studio.library.query = text
            Keys.onDownPressed: list.forceActiveFocus()
            Keys.onEscapePressed: {
                clear()
                root.studio.library.query = ""
            }
        }
        NewDraftButton {
            Layout.fillWidth: true
            visible: !root.studio.library.bin
            onClicked: root.studio.library.create()
        }
        ListView {
            id: list
            Layout.fillWidth: true
            Layout.fillHeight: true
            clip: true
            spacing: 2
            activeFocusOnTab: true
            keyNavigationEnabled: true
            boundsBehavior: Flickable.StopAtBounds
            model: root.studio.library
            Accessible.role: Accessible.List
            Accessible.name: qsTr("Drafts")
            delegate: LibraryRow {
                width: ListView.view.width
                current: documentId === root.studio.draft.document
                highlighted: ListView.isCurrentItem && list.activeFocus
                onOpened: binned ? root.studio.library.restore(documentId) : root.studio.openDocument(documentId)
                onDeleted: binned ? root.eraseWanted(documentId, title) : root.studio.library.moveToBin(documentId)
                onMenuWanted: (anchor) => root.documentMenu(documentId, title, binned, anchor)
            }
            Keys.onReturnPressed: currentItem?.opened()
            Keys.onEnterPressed: currentItem?.opened()
            Keys.onDeletePressed: currentItem?.deleted()
            Keys.onMenuPressed: currentItem?.menuWanted(currentItem)
            Keys.onPressed: (event) => {
                if (event.key !== Qt.Key_F2 || currentItem === null)
                    return
                event.accepted = true
                root.renameWanted(currentItem.documentId, currentItem.title)
            }
            Text {
                anchors.left: parent.left
                anchors.right: parent.right
                anchors.margins: Theme.spaceSmall
                visible: list.count === 0
                wrapMode: Text.WordWrap
                color: Theme.inkFaint
                font.family: Theme.uiFont
                font.pixelSize: Theme.labelSize
                text: root.studio.storeProblem !== "" ? qsTr("Your drafts cannot be opened now.")
                    : root.studio.library.bin ? qsTr("The bin is empty.")
                    : root.studio.library.query !== "" ? qsTr("No draft holds these words.")
                    : qsTr("No drafts yet. Begin one, or drop a text file here.")
            }
        }
        Note {
            Layout.fillWidth: true
            visible: root.studio.library.bin
            text: qsTr("Click or Enter takes a draft out of the bin; Delete removes it for good.")
        }
        PlainButton {
            compact: true
            visible: root.studio.library.bin && list.count > 0
            text: qsTr("Empty the bin…")
            onClicked: root.emptyBinWanted()
        }
        PlainButton {
            compact: true
            text: root.studio.library.bin ? qsTr("Back to the drafts") : qsTr("Bin")
            onClicked: root.studio.library.bin = !root.studio.library.bin
        }
    }
}
