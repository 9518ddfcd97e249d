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
    /// 1: shown, 0: hidden, as the writer wants it; -1: where there is room.
    property int inspectorChoice: -1
    readonly property bool inspectorShown: inspectorChoice < 0 ? width > 1080 : inspectorChoice > 0
    property bool libraryShown: true
    property alias inspectorTab: inspector.tab
    property string draftToWriteIn
    property bool draftWasOpen: false // since the start

    width: 1440
    height: 900
    minimumWidth: 720
    minimumHeight: 480
    visible: true
    title: draft.open ? qsTr("%1 — Palimpsest").arg(draft.title || qsTr("Untitled")) : qsTr("Palimpsest")
    color: Theme.paper
    font.family: Theme.uiFont
    font.pixelSize: Theme.bodySize

    StudioActions {
        id: actions
        window: root
        studio: root.studio
        library: library
        page: page
        onInspectorToggled: root.inspectorChoice = root.inspectorShown ? 0 : 1
        onImportWanted: importDialog.open()
        onExportWanted: root.openExport(root.draft.document, root.draft.title)
        onKeysWanted: keysDialog.open()
        onFindWanted: findBar.show()
        onSchemeWanted: Theme.scheme = (Theme.scheme + 1) % 3
        onAskWanted: root.showAsk()
        onModelWanted: root.showModel()
        onChooseModelWanted: modelDialog.ask()
        onLibraryToggled: root.libraryShown = !root.libraryShown
        onSettingsWanted: settingsDialog.open()
        onLogWanted: logDialog.open()
        onRenameWanted: renameDialog.ask(root.draft.document, root.draft.title)
        onEmptyBinWanted: emptyBinDialog.open()
    }

    readonly property bool composeFocused: compose.lineFocused
    function focusCompose() {
        compose.focusLine()
    }
    function toggleFullScreen() {
        visibility = visibility === Window.FullScreen ? Window.AutomaticVisibility : Window.FullScreen
    }
    function showAsk() {
        inspectorChoice = 1
        inspector.showAsk()
    }
    function showModel() {
        inspectorChoice = 1
        inspector.tab = inspector.modelTab
    }
    function askErase(id, title) {
        eraseDialog.documentId = id
        eraseDialog.documentTitle = title
        eraseDialog.open()
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
            onModelWanted: root.showModel()
        }
        StoreBar {
            Layout.fillWidth: true
            studio: root.studio
            onReplaceWanted: replaceDialog.open()
        }
        ProblemBar {
            id: problems
            Layout.fillWidth: true
            known: root.studio.storeProblem
        }
        RowLayout {
            Layout.fillWidth: true
            Layout.fillHeight: true
            spacing: 0

            LibraryPane {
                id: library
                Layout.preferredWidth: Theme.libraryWidth
                Layout.fillHeight: true
                visible: root.libraryShown
                studio: root.studio
                onDocumentMenu: (documentId, title, binned, anchor) => draftMenu.show(documentId, title, binned, anchor)
                onRenameWanted: (documentId, title) => renameDialog.ask(documentId, title)
                onEraseWanted: (documentId, title) => root.askErase(documentId, title)
                onEmptyBinWanted: emptyBinDialog.open()
            }
            Rectangle {
                Layout.preferredWidth: 1
                Layout.fillHeight: true
                visible: root.libraryShown
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
                onChooseModelWanted: modelDialog.ask()
            }
        }
    }
    NoticeBar {
        id: notices
        property string binned
        onActed: root.studio.library.restore(binned)
        anchors.horizontalCenter: parent.horizontalCenter
        anchors.bottom: parent.bottom
        anchors.bottomMargin: 172
    }
    TourCard {
        tour: root.studio.tour
        x: tour.target === "library" ? Theme.libraryWidth + Theme.spaceLarge
         : tour.target === "inspector" && root.inspectorShown ? root.width - Theme.inspectorWidth - width - Theme.spaceLarge
         : Math.round((root.width - width) / 2)
        y: tour.target === "compose" ? root.contentItem.height - height - 180
         : tour.target === "page" ? root.contentItem.height - height - 180 : 90
    }

    MainMenu {
        id: mainMenu
        studio: root.studio
        onImportWanted: importDialog.open()
        onExportWanted: root.openExport(root.draft.document, root.draft.title)
        onKeysWanted: keysDialog.open()
        onFindWanted: findBar.show()
        onRenameWanted: renameDialog.ask(root.draft.document, root.draft.title)
        onSearchWanted: library.focusSearch()
        onEmptyBinWanted: emptyBinDialog.open()
        onAskWanted: root.showAsk()
        onModelWanted: root.showModel()
        onChooseModelWanted: modelDialog.ask()
        onLibraryToggled: root.libraryShown = !root.libraryShown
        onInspectorToggled: root.inspectorChoice = root.inspectorShown ? 0 : 1
        onFullScreenToggled: root.toggleFullScreen()
        onSettingsWanted: settingsDialog.open()
        onLogWanted: logDialog.open()
        onAboutWanted: aboutDialog.open()
        onWordsWanted: page.openWordCard()
        onRewriteWanted: page.askRewrite()
        onNextPaneWanted: actions.nextPane()
    }
    DraftMenu {
        id: draftMenu
        studio: root.studio
        onExportWanted: (id, title) => root.openExport(id, title)
        onRenameWanted: (id, title) => renameDialog.ask(id, title)
        onEraseWanted: (id, title) => root.askErase(id, title)
        onEmptyBinWanted: emptyBinDialog.open()
    }
    RenameDialog {
        id: renameDialog
        studio: root.studio
    }
    KeysDialog {
        id: keysDialog
        studio: root.studio
    }
    ModelDialog {
        id: modelDialog
        studio: root.studio
    }
    SettingsDialog {
        id: settingsDialog
        studio: root.studio
        onKeysWanted: keysDialog.open()
        onLogWanted: logDialog.open()
    }
    LogDialog {
        id: logDialog
        studio: root.studio
    }
    AboutDialog {
        id: aboutDialog
        studio: root.studio
    }
    ConfirmDialog {
        id: emptyBinDialog
        heading: qsTr("Empty the bin?")
        question: qsTr("All drafts in it are deleted for good, with their history, and overwritten on the disk.")
        confirmText: qsTr("Empty the bin")
        onConfirmed: root.studio.library.emptyBin()
    }
    ConfirmDialog {
        id: eraseDialog
        property string documentId
        property string documentTitle
        heading: qsTr("Delete “%1” for good?").arg(documentTitle)
        question: qsTr("The draft is deleted with its whole history, and overwritten on the disk.")
        confirmText: qsTr("Delete for good")
        onConfirmed: root.studio.library.erase(documentId)
    }
    ConfirmDialog {
        id: replaceDialog
        heading: qsTr("Put the damaged drafts aside?")
        question: qsTr("The file is renamed and kept beside a new, empty one.")
        confirmText: qsTr("Put it aside")
        onConfirmed: root.studio.replaceStore()
    }
    WelcomeDialog {
        id: welcome
        studio: root.studio
        onBeginWanted: root.studio.library.create()
    }
    Component.onCompleted: if (studio.tour.welcoming) welcome.open()
    FileDialog {
        id: importDialog
        title: qsTr("Import texts")
        fileMode: FileDialog.OpenFiles
        nameFilters: [qsTr("Texts (*.md *.markdown *.txt *.text)"), qsTr("All files (*)")]
        onAccepted: root.studio.library.importFiles(selectedFiles)
    }
    ExportDialog {
        id: exportDialog
        studio: root.studio
    }
    DropArea {
        anchors.fill: parent
        keys: ["text/uri-list"]
        onDropped: (drop) => root.studio.library.importFiles(drop.urls)
    }
    Announcer {
        message: root.draft.announcement
    }
    Connections {
        target: root.studio
        function onProblem(message) {
            problems.show(message)
        }
        function onNotice(message) {
            notices.show(message, "")
        }
    }
    Connections {
        target: root.studio.library
        function onCreated(id) {
            root.draftToWriteIn = id
        }
        function onBinned(id, title) {
            notices.binned = id
            notices.show(qsTr("“%1” is in the bin").arg(title), qsTr("Take it back"))
        }
    }
    Connections {
        target: root.draft
        // A draft that was just made, and the one that was open last, are there to write in; one chosen in the list of
        // drafts leaves the keys there.
        function onOpened() {
            if (root.draft.open && (root.draft.document === root.draftToWriteIn || !root.draftWasOpen))
                page.editor.forceActiveFocus()
            root.draftWasOpen = root.draftWasOpen || root.draft.open
        }
    }
    Connections {
        target: root.studio.chat
        function onInserted() {
            page.editor.forceActiveFocus()
        }
    }
}
