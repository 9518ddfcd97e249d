// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// Asks before something that cannot be undone.
StudioDialog {
    id: root

    required property string question
    required property string confirmText
    signal confirmed()

    onOpened: cancel.forceActiveFocus()

    Note {
        width: parent.width
        text: root.question
        color: Theme.ink
        font.pixelSize: Theme.bodySize - 1
        Accessible.role: Accessible.AlertMessage
    }
    Row {
        spacing: Theme.spaceSmall
        PlainButton {
            id: cancel
            text: qsTr("Cancel")
            onClicked: root.close()
        }
        PlainButton {
            primary: true
            text: root.confirmText
            onClicked: {
                root.close()
                root.confirmed()
            }
        }
    }
}
