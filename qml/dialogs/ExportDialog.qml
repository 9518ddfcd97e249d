// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Dialogs
import Palimpsest.Studio

// Asks in which form a draft is written to a file, and where.
StudioDialog {
    id: root

    required property Studio studio
    property string documentId
    property string documentTitle
    property string format: "markdown"
    property bool provenance: false

    function choose(wanted, withOrigin) {
        format = wanted
        provenance = withOrigin
        files.currentFile = files.currentFolder + "/" + studio.library.suggestedFileName(documentTitle, wanted)
        close()
        files.open()
    }

    heading: qsTr("Export “%1”").arg(documentTitle)

    PlainButton {
        text: qsTr("Markdown")
        onClicked: root.choose("markdown", false)
    }
    PlainButton {
        text: qsTr("Markdown, with what the model did")
        onClicked: root.choose("markdown", true)
    }
    PlainButton {
        text: qsTr("Plain text")
        onClicked: root.choose("text", false)
    }
    PlainButton {
        text: qsTr("Diff from the first revision to the last")
        onClicked: root.choose("diff", false)
    }
    FileDialog {
        id: files
        title: qsTr("Export to")
        fileMode: FileDialog.SaveFile
        onAccepted: root.studio.library.exportTo(root.documentId, root.format, selectedFile, root.provenance)
    }
}
