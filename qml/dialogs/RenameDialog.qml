// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// Asks for a draft's title.
StudioDialog {
    id: root

    required property Studio studio
    property string documentId

    function ask(id, title) {
        documentId = id
        field.text = title
        open()
        field.forceActiveFocus()
        field.selectAll()
    }
    function submit() {
        if (documentId === studio.draft.document)
            studio.draft.title = field.text
        else
            studio.library.rename(documentId, field.text)
        close()
    }

    heading: qsTr("Rename the draft")

    Field {
        id: field
        width: parent.width
        placeholderText: qsTr("Title")
        onAccepted: root.submit()
    }
    Row {
        spacing: Theme.spaceSmall
        PlainButton {
            primary: true
            text: qsTr("Rename")
            onClicked: root.submit()
        }
        PlainButton {
            text: qsTr("Cancel")
            onClicked: root.close()
        }
    }
}
