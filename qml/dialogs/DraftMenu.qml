// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// What can be done with a draft of the library.
StudioMenu {
    id: root

    required property Studio studio
    property string documentId
    property string draftTitle
    property bool binned: false
    signal exportWanted(string id, string title)
    signal renameWanted(string id, string title)
    signal eraseWanted(string id, string title)
    signal emptyBinWanted()

    function show(documentId, title, binned, anchor) {
        root.documentId = documentId
        root.draftTitle = title
        root.binned = binned
        popup(anchor, 20, anchor.height / 2)
    }

    StudioMenuItem { visible: !root.binned; text: qsTr("Open"); onTriggered: root.studio.openDocument(root.documentId) }
    StudioMenuItem { visible: !root.binned; text: qsTr("Rename…"); onTriggered: root.renameWanted(root.documentId, root.draftTitle) }
    StudioMenuItem { visible: !root.binned; text: qsTr("Duplicate"); onTriggered: root.studio.library.duplicate(root.documentId) }
    StudioMenuItem { visible: !root.binned; text: qsTr("Export…"); onTriggered: root.exportWanted(root.documentId, root.draftTitle) }
    StudioMenuItem { visible: !root.binned; text: qsTr("Move to the bin"); onTriggered: root.studio.library.moveToBin(root.documentId) }
    StudioMenuItem { visible: root.binned; text: qsTr("Restore"); onTriggered: root.studio.library.restore(root.documentId) }
    StudioMenuItem { visible: root.binned; text: qsTr("Delete for good…"); onTriggered: root.eraseWanted(root.documentId, root.draftTitle) }
    StudioMenuItem { visible: root.binned; text: qsTr("Empty the bin…"); onTriggered: root.emptyBinWanted() }
}
