// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import QtQuick.Dialogs
import Palimpsest.Studio

// The window: library, page, inspector.
ApplicationWindow {
    id: root

    required property Studio studio
    readonly property DraftView draft: studio.draft
    property bool inspectorShown: width > 1080

    width: 1440
    height: 900
    minimumWidth: 720
    minimumHeight: 480
    visible: true
    title: draft.open ? qsTr("%1 — Palimpsest").arg(draft.title) : qsTr("Palimpsest")
    color: Theme.paper
    font.family: Theme.uiFont
    font.pixelSize: Theme.bodySize

    StudioActions {
        window: root
        studio: root.studio
        library: library
        page: page
        onInspectorToggled: root.inspectorShown = !root.inspectorShown
        onImportWanted: importDialog.open()
        onExportWanted: root.openExport(root.draft.document, root.draft.title)
        onKeysWanted: keysDialog.open()
        onFindWanted: findBar.show()
        onSchemeWanted: Theme.scheme = (Theme.scheme + 1) % 3
    }

    readonly property bool composeFocused: compose.lineFocused
    function focusCompose() {
        compose.focusLine()
    }
    function openExport(id, title) {
        exportDialog.documentId = id
        exportDialog.documentTitle = title
        exportDialog.open()
    }

    ColumnLayout {
        anchors.fill: parent
        spacing: 0

        HeaderBar {
            Layout.fillWidth: true
            studio: root.studio
            window: root
            onMenuWanted: (anchor) => mainMenu.popup(anchor, 0, anchor.height)
        }
        ProblemBar {
            id: problems
            Layout.fillWidth: true
        }
        RowLayout {
            Layout.fillWidth: true
            Layout.fillHeight: true
            spacing: 0

            LibraryPane {
                id: library
                Layout.preferredWidth: Theme.libraryWidth
                Layout.fillHeight: true
                studio: root.studio
                onDocumentMenu: (documentId, title, binned, anchor) => draftMenu.show(documentId, title, binned, anchor)
            }
            Rectangle {
                Layout.preferredWidth: 1
                Layout.fillHeight: true
                color: Theme.line
            }
            ColumnLayout {
                Layout.fillWidth: true
                Layout.fillHeight: true
                spacing: 0
                FindBar {
                    id: findBar
                    Layout.fillWidth: true
                    studio: root.studio
                    editor: page.editor
                }
                PagePane {
                    id: page
                    Layout.fillWidth: true
                    Layout.fillHeight: true
                    studio: root.studio
                }
                ComposeBar {
                    id: compose
                    Layout.fillWidth: true
                    studio: root.studio
                }
            }
            Rectangle {
                Layout.preferredWidth: 1
                Layout.fillHeight: true
                visible: root.inspectorShown
                color: Theme.line
            }
            InspectorPane {
                id: inspector
                Layout.preferredWidth: Theme.inspectorWidth
                Layout.fillHeight: true
                visible: root.inspectorShown
                studio: root.studio
            }
        }
    }

    MainMenu {
        id: mainMenu
        studio: root.studio
        onImportWanted: importDialog.open()
        onExportWanted: root.openExport(root.draft.document, root.draft.title)
        onKeysWanted: keysDialog.open()
        onFindWanted: findBar.show()
    }
    DraftMenu {
        id: draftMenu
        studio: root.studio
        onExportWanted: (id, title) => root.openExport(id, title)
        onRenameWanted: (id, title) => renameDialog.ask(id, title)
    }
    RenameDialog {
        id: renameDialog
        studio: root.studio
    }
    KeysDialog {
        id: keysDialog
        studio: root.studio
    }
    FileDialog {
        id: importDialog
        title: qsTr("Import a text")
        nameFilters: [qsTr("Texts (*.md *.markdown *.txt *.text)"), qsTr("All files (*)")]
        onAccepted: root.studio.library.importFile(selectedFile)
    }
    ExportDialog {
        id: exportDialog
        studio: root.studio
    }
    DropArea {
        anchors.fill: parent
        keys: ["text/uri-list"]
        onDropped: (drop) => {
            for (const url of drop.urls)
                root.studio.library.importFile(url)
        }
    }
    Announcer {
        message: root.draft.announcement
    }
    Connections {
        target: root.studio
        function onProblem(message) {
            problems.show(message)
        }
    }
}
