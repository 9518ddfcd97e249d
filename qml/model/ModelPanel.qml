// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Palimpsest.Studio

// The model of this process, and the endpoint that shares it with other programs.
ScrollView {
    id: root

    required property Studio studio
    readonly property ModelView view: studio.model
    signal chooseWanted()

    contentWidth: availableWidth
    ScrollBar.horizontal.policy: ScrollBar.AlwaysOff

    ColumnLayout {
        width: root.availableWidth
        spacing: Theme.spaceSmall

        SectionTitle {
            text: qsTr("Model")
            figure: root.view.phase === ModelView.Loading ? qsTr("%1 %").arg(Math.round(root.view.progress * 100)) : ""
        }
        ProgressLine {
            Layout.fillWidth: true
            visible: root.view.phase === ModelView.Loading
            value: root.view.progress
            name: qsTr("Loading the model")
        }
        Note {
            Layout.fillWidth: true
            visible: root.view.phase === ModelView.Failed
            text: root.view.problemText
            color: Theme.rust
            Accessible.role: Accessible.AlertMessage
        }
        Repeater {
            model: root.view.facts
            FactRow {
                required property var modelData
                label: modelData.label
                value: modelData.value
            }
        }
        Note {
            Layout.fillWidth: true
            visible: root.view.demo
            text: root.view.demoText
        }
        Flow {
            Layout.fillWidth: true
            spacing: Theme.spaceSmall
            PlainButton {
                compact: true
                text: qsTr("Choose a model…")
                onClicked: root.chooseWanted()
            }
            PlainButton {
                compact: true
                visible: root.view.phase === ModelView.Loading
                text: qsTr("Stop loading")
                onClicked: root.studio.chooser.stopLoading()
            }
            PlainButton {
                compact: true
                visible: root.view.phase === ModelView.Failed
                text: qsTr("Try again")
                onClicked: root.view.reload()
            }
            PlainButton {
                compact: true
                visible: root.view.phase !== ModelView.Loading && !root.view.demo
                text: qsTr("Use the demo model")
                onClicked: root.studio.chooser.useDemo()
            }
        }
        Item {
            Layout.preferredHeight: Theme.spaceSmall
        }
        ServerPanel {
            Layout.fillWidth: true
            server: root.studio.server
        }
    }
}
