// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// Says that the page shows a step of the history, and leads back or on.
Rectangle {
    id: root

    required property Studio studio
    readonly property InspectorView inspector: studio.inspector

    visible: studio.draft.page.previewing
    width: row.implicitWidth + 24
    height: row.implicitHeight + 8
    radius: height / 2
    color: Theme.amberSoft

    Row {
        id: row
        anchors.centerIn: parent
        spacing: Theme.spaceSmall
        Text {
            anchors.verticalCenter: parent.verticalCenter
            text: qsTr("The page shows step %1 of canvas %2").arg(root.inspector.step).arg(root.inspector.canvas + 1)
            color: Theme.ink
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
        }
        PlainButton {
            compact: true
            text: qsTr("Use this step")
            onClicked: root.inspector.branchHere()
        }
        PlainButton {
            compact: true
            text: qsTr("Back to the draft")
            onClicked: root.inspector.follow()
        }
    }
}
