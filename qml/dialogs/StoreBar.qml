// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// Why drafts cannot be opened or kept, and what can be done about it. It stays until that is mended.
Rectangle {
    id: root

    required property Studio studio
    signal replaceWanted()

    visible: studio.storeProblem !== ""
    implicitHeight: row.implicitHeight + 16
    color: Theme.rustSoft

    RowLayout {
        id: row
        anchors.fill: parent
        anchors.leftMargin: Theme.spaceLarge
        anchors.rightMargin: Theme.spaceMedium
        spacing: Theme.spaceSmall
        Text {
            Layout.fillWidth: true
            text: qsTr("Your drafts cannot be opened. %1").arg(root.studio.storeProblem)
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            color: Theme.ink
            font.family: Theme.uiFont
            font.pixelSize: Theme.bodySize - 1
            Accessible.role: Accessible.AlertMessage
            Accessible.name: text
        }
        PlainButton {
            compact: true
            visible: root.studio.storeDamaged
            text: qsTr("Put it aside…")
            onClicked: root.replaceWanted()
        }
        PlainButton {
            compact: true
            text: qsTr("Try again")
            onClicked: root.studio.retryStore()
        }
    }
}
