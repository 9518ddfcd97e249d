// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// One stop of the tour, beside what it is about. It stands over the window and takes no key but its buttons'.
Rectangle {
    id: root

    required property Tour tour

    width: 340
    height: column.implicitHeight + 2 * Theme.spaceLarge
    visible: tour.running
    radius: Theme.radiusLarge
    color: Theme.surface
    border.width: 2
    border.color: Theme.accent
    Accessible.role: Accessible.Dialog
    Accessible.name: qsTr("Tour: %1").arg(root.tour.title)

    ColumnLayout {
        id: column
        anchors.left: parent.left
        anchors.right: parent.right
        anchors.verticalCenter: parent.verticalCenter
        anchors.margins: Theme.spaceLarge
        spacing: Theme.spaceSmall

        SectionTitle {
            text: root.tour.title
            figure: qsTr("%1 of %2").arg(root.tour.step).arg(root.tour.steps)
        }
        Note {
            Layout.fillWidth: true
            text: root.tour.text
            color: Theme.ink
            font.pixelSize: Theme.bodySize - 1
            Accessible.role: Accessible.AlertMessage
        }
        RowLayout {
            spacing: Theme.spaceSmall
            PlainButton {
                compact: true
                primary: true
                text: root.tour.step < root.tour.steps ? qsTr("Next") : qsTr("Done")
                onClicked: root.tour.next()
            }
            PlainButton {
                compact: true
                enabled: root.tour.step > 1
                text: qsTr("Back")
                onClicked: root.tour.back()
            }
            Item {
                Layout.fillWidth: true
            }
            PlainButton {
                compact: true
                visible: root.tour.step < root.tour.steps
                text: qsTr("End the tour")
                onClicked: root.tour.close()
            }
        }
    }
}
