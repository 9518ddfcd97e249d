// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import Palimpsest.Studio

// What a writer reads at the first start.
StudioDialog {
    id: root

    required property Studio studio
    signal beginWanted()

    heading: qsTr("Welcome to Palimpsest")
    width: 520
    closePolicy: Popup.CloseOnEscape
    onClosed: if (studio.tour.welcoming) studio.tour.close()

    Note {
        width: parent.width
        font.pixelSize: Theme.bodySize
        color: Theme.ink
        text: qsTr("Write here as in any editor. Beside you works a language model that does not type from left to right: it fills a whole passage with noise and rewrites all of it until it settles. You watch, reach in, and decide about every change.")
    }
    Note {
        width: parent.width
        text: root.studio.model.demoText
    }
    Note {
        width: parent.width
        text: qsTr("Everything stays on this machine: drafts, model and all that is computed.")
    }
    Row {
        spacing: Theme.spaceSmall
        PlainButton {
            primary: true
            focus: true
            text: qsTr("Two-minute tour")
            onClicked: {
                root.studio.tour.start()
                root.close()
            }
        }
        PlainButton {
            text: qsTr("Begin to write")
            onClicked: {
                root.close()
                root.beginWanted()
            }
        }
    }
}
