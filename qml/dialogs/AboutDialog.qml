// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// What this program is, and under which terms.
StudioDialog {
    id: root

    required property Studio studio

    heading: qsTr("Palimpsest %1").arg(studio.version)

    Note {
        width: parent.width
        color: Theme.ink
        text: qsTr("A studio for drafts and for block-diffusion language models.")
    }
    Note {
        width: parent.width
        text: qsTr("Copyright 2026 The Palimpsest developers. Free software under the GNU General Public License, version 3 or later; it comes without any warranty. The licences of what it is built from lie beside the program, in its documentation folder.")
    }
    PlainButton {
        primary: true
        text: qsTr("Close")
        onClicked: root.close()
    }
}
