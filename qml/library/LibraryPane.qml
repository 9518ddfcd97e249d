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
                onOpened: root.studio.openDocument(documentId)
                onMenuWanted: (anchor) => root.documentMenu(documentId, title, binned, anchor)
            }
            Keys.onReturnPressed: root.studio.openDocument(root.studio.library.idAt(currentIndex))
            Text {
                anchors.left: parent.left
                anchors.right: parent.right
                anchors.margins: Theme.spaceSmall
                visible: list.count === 0
                wrapMode: Text.WordWrap
                color: Theme.inkFaint
                font.family: Theme.uiFont
                font.pixelSize: Theme.labelSize
                text: root.studio.library.bin ? qsTr("The bin is empty.")
                    : root.studio.library.query !== "" ? qsTr("No draft holds these words.")
                    : qsTr("No drafts yet. Begin one, or drop a text file here.")
            }
        }
        PlainButton {
            compact: true
            text: root.studio.library.bin ? qsTr("Back to the drafts") : qsTr("Bin")
            onClicked: root.studio.library.bin = !root.studio.library.bin
        }
    }
}
