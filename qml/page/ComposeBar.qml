// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// Presets, the line for an instruction, and what steers a run.
Rectangle {
    id: root

    required property Studio studio
    property string preset: "proofread"
    readonly property DraftView draft: studio.draft

    readonly property bool lineFocused: line.activeFocus

    function focusLine() {
        line.forceActiveFocus()
    }
    function choose(id, instruction) {
        preset = id
        line.text = id === "proofread" ? qsTr("Correct the spelling and grammar, keep my wording.") : instruction
        if (id === "custom")
            line.forceActiveFocus()
    }
    function submit() {
        if (draft.running || !draft.open)
            return
        if (preset === "custom" || (line.edited && preset !== "proofread" && preset !== "continue"))
            draft.rewrite(line.text)
        else
            draft.startPreset(preset, "")
    }

    implicitHeight: column.implicitHeight + 26
    color: Theme.surface

    Rectangle {
        width: parent.width
        height: 1
        color: Theme.line
    }
    ColumnLayout {
        id: column
        anchors.left: parent.left
        anchors.right: parent.right
        anchors.top: parent.top
        anchors.leftMargin: Theme.spaceHuge + 8
        anchors.rightMargin: Theme.spaceHuge + 8
        anchors.topMargin: Theme.spaceMedium
        spacing: 10

        Flow { // a narrow window with all panes has room for half of them in a row
            Layout.fillWidth: true
            spacing: Theme.spaceSmall
            Accessible.role: Accessible.Grouping
            Accessible.name: qsTr("Presets")
            Repeater {
                model: root.studio.presets
                PresetButton {
                    required property var modelData
                    text: modelData.label
                    chosen: root.preset === modelData.id
                    onClicked: root.choose(modelData.id, modelData.instruction)
                }
            }
        }
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: buttons.implicitHeight + 16
            radius: Theme.radiusLarge - 2
            color: Theme.paper
            border.width: line.activeFocus ? 2 : 1
            border.color: line.activeFocus ? Theme.focus : Theme.line
            RowLayout {
                id: buttons
                anchors.fill: parent
                anchors.leftMargin: 14
                anchors.rightMargin: 8
                spacing: 10
                Field {
                    id: line
                    property bool edited: false
                    Layout.fillWidth: true
                    framed: false
                    font.pixelSize: Theme.bodySize
                    text: qsTr("Correct the spelling and grammar, keep my wording.")
                    placeholderText: qsTr("What should be done with the text?")
                    onTextEdited: {
                        edited = true
                        if (root.preset === "proofread" || root.preset === "continue")
                            root.preset = "custom"
                    }
                    onAccepted: root.submit()
                }
                PlainButton {
                    visible: root.draft.running
                    text: root.draft.paused ? qsTr("Go on") : qsTr("Pause")
                    onClicked: root.draft.paused ? root.draft.resume() : root.draft.pause()
                }
                PlainButton {
                    visible: root.draft.running
                    text: qsTr("Step")
                    onClicked: root.draft.step()
                }
                PlainButton {
                    visible: root.draft.running
                    text: qsTr("Keep what settled")
                    onClicked: root.draft.keepSettled()
                }
                PlainButton {
                    visible: root.draft.running
                    primary: true
                    text: qsTr("Stop")
                    onClicked: root.draft.stop()
                }
                PlainButton {
                    visible: !root.draft.running && root.draft.alternatives.length > 0
                    text: qsTr("3 more")
                    onClicked: root.draft.again(false)
                }
                PlainButton {
                    visible: !root.draft.running && root.draft.proposal !== ""
                    text: root.draft.alternatives.length > 0 ? qsTr("Keep mine") : qsTr("Reject all")
                    onClicked: root.draft.rejectAll()
                }
                PlainButton {
                    visible: !root.draft.running && root.draft.proposal !== ""
                    primary: true
                    text: root.draft.alternatives.length > 0 ? qsTr("Take it") : qsTr("Accept all")
                    onClicked: root.draft.acceptAll()
                }
                PlainButton {
                    visible: !root.draft.running && root.draft.proposal === ""
                    enabled: root.draft.open && root.studio.model.phase === ModelView.Ready
                    primary: true
                    text: qsTr("Run")
                    onClicked: root.submit()
                }
            }
        }
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: 3
            radius: 2
            color: Theme.sunken
            Rectangle {
                width: parent.width * root.draft.progress
                height: 3
                radius: 2
                color: Theme.accent
            }
        }
        RowLayout {
            Layout.fillWidth: true
            Text {
                Layout.fillWidth: true
                elide: Text.ElideRight
                color: Theme.inkFaint
                font.family: Theme.uiFont
                font.pixelSize: Theme.captionSize
                text: root.draft.running ? root.draft.progressText
                    : root.draft.openChanges > 0 ? qsTr("%n change(s) to decide · %1", "", root.draft.openChanges)
                                                        .arg(root.draft.originText)
                    : root.draft.proposalNote !== "" ? root.draft.proposalNote
                    : root.draft.open ? qsTr("%n word(s)", "", root.draft.page.words) : ""
            }
            Text {
                Layout.maximumWidth: root.width / 2
                elide: Text.ElideRight
                color: Theme.inkFaint
                font.family: Theme.uiFont
                font.pixelSize: Theme.captionSize
                text: root.draft.alternatives.length > 0
                      ? qsTr("Alt+1…%1 look · Alt+→ take one word · Ctrl+Enter take it").arg(root.draft.alternatives.length)
                    : root.draft.openChanges > 0
                      ? qsTr("F7 next · Ctrl+Enter accept · Ctrl+Shift+Backspace reject · Ctrl+D original")
                    : root.draft.running
                      ? qsTr("Esc stops · click locks a word · Alt+↓ others · hold Alt: entropy")
                      : qsTr("Enter runs · Ctrl+L locks · Ctrl+R re-noises the selection")
            }
        }
    }
}
