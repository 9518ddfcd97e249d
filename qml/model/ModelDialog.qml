// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Dialogs
import QtQuick.Layouts
import Palimpsest.Studio

// Chooses a model: a folder is checked, what it is and needs is shown, and only then it may be used.
StudioDialog {
    id: root

    required property Studio studio
    readonly property ModelChooser chooser: studio.chooser

    function ask() {
        open()
        path.forceActiveFocus()
        path.selectAll()
    }

    heading: qsTr("Choose a model")
    width: 560
    onClosed: chooser.cancel()

    Note {
        width: parent.width
        text: qsTr("A model is a folder with config.json, tokenizer.json and *.safetensors of the DiffusionGemma architecture: 4-bit in the format dg-w4a16-v1, or plain bf16 or fp32.")
    }
    RowLayout {
        width: parent.width
        spacing: Theme.spaceSmall
        Field {
            id: path
            Layout.fillWidth: true
            placeholderText: qsTr("Folder of the model")
            text: root.chooser.folder
            onAccepted: root.chooser.check(text)
        }
        PlainButton {
            compact: true
            text: qsTr("Browse…")
            onClicked: folders.open()
        }
        PlainButton {
            compact: true
            text: qsTr("Check")
            enabled: path.text.trim() !== ""
            onClicked: root.chooser.check(path.text)
        }
    }
    RowLayout {
        spacing: Theme.spaceSmall
        Text {
            text: qsTr("Compute on")
            color: Theme.inkSoft
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
        }
        Choice { text: qsTr("what is best"); checked: root.chooser.device === "auto"; onClicked: root.chooser.device = "auto" }
        Choice { text: qsTr("the graphics card"); checked: root.chooser.device === "cuda"; onClicked: root.chooser.device = "cuda" }
        Choice { text: qsTr("the CPU"); checked: root.chooser.device === "cpu"; onClicked: root.chooser.device = "cpu" }
    }
    Column {
        width: parent.width
        visible: root.chooser.recent.length > 0 && root.chooser.state === ModelChooser.Idle
        spacing: 2
        SectionTitle {
            width: parent.width
            text: qsTr("Used before")
        }
        Repeater {
            model: root.chooser.recent
            RecentRow {
                required property string modelData
                width: parent.width
                folder: modelData
                onChosen: root.chooser.check(modelData)
                onDropped: root.chooser.forget(modelData)
            }
        }
    }
    RowLayout {
        width: parent.width
        visible: root.chooser.state === ModelChooser.Checking
        spacing: Theme.spaceSmall
        BusyLine {
            Layout.fillWidth: true
            running: root.chooser.state === ModelChooser.Checking
            text: root.chooser.stageText
            progress: root.chooser.progress
        }
        PlainButton {
            compact: true
            text: qsTr("Stop")
            onClicked: root.chooser.cancel()
        }
    }
    Note {
        width: parent.width
        visible: root.chooser.problemText !== ""
        text: root.chooser.problemText
        color: Theme.rust
        Accessible.role: Accessible.AlertMessage
    }
    ColumnLayout {
        width: parent.width
        visible: root.chooser.state === ModelChooser.Usable
        Repeater {
            model: root.chooser.facts
            FactRow {
                required property var modelData
                label: modelData.label
                value: modelData.value
            }
        }
    }
    Rectangle {
        width: parent.width
        visible: root.chooser.warningText !== ""
        height: warning.implicitHeight + 20
        radius: Theme.radiusMedium
        color: Theme.amberSoft
        Note {
            id: warning
            anchors.left: parent.left
            anchors.right: parent.right
            anchors.verticalCenter: parent.verticalCenter
            anchors.margins: 10
            text: root.chooser.warningText
            color: Theme.ink
            Accessible.role: Accessible.AlertMessage
        }
    }
    Row {
        spacing: Theme.spaceSmall
        PlainButton {
            primary: true
            enabled: root.chooser.state === ModelChooser.Usable
            text: root.chooser.warningText !== "" ? qsTr("Use it all the same") : qsTr("Use this model")
            onClicked: {
                root.chooser.use()
                root.close()
            }
        }
        PlainButton {
            text: qsTr("Cancel")
            onClicked: root.close()
        }
    }
    FolderDialog {
        id: folders
        title: qsTr("Folder of the model")
        onAccepted: root.chooser.check(selectedFolder)
    }
}
