// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// The local endpoint and the browser studio: on or off, where, for whom, who is there.
ColumnLayout {
    id: root

    required property ServerView server

    spacing: Theme.spaceSmall

    SectionTitle {
        text: qsTr("For other programs")
    }
    ToggleRow {
        Layout.fillWidth: true
        text: qsTr("Endpoint and browser studio")
        checked: root.server.wanted
        onToggled: root.server.wanted = checked
    }
    Note {
        Layout.fillWidth: true
        visible: !root.server.running && root.server.problemText === ""
        text: qsTr("When switched on, programs on this machine can use the model like OpenAI's, and a browser can open these drafts. Other machines cannot.")
    }
    Note {
        Layout.fillWidth: true
        visible: root.server.problemText !== ""
        text: root.server.problemText
        color: Theme.rust
        Accessible.role: Accessible.AlertMessage
    }
    AddressRow {
        visible: root.server.address !== ""
        label: qsTr("Base URL")
        address: root.server.address
        server: root.server
    }
    AddressRow {
        visible: root.server.studioAddress !== ""
        label: qsTr("Browser studio")
        address: root.server.studioAddress
        server: root.server
        canOpen: true
    }
    Note {
        Layout.fillWidth: true
        visible: root.server.noteText !== ""
        text: root.server.noteText
    }
    Note {
        Layout.fillWidth: true
        visible: root.server.running
        text: root.server.clientsText
        Accessible.name: qsTr("Connected: %1").arg(text)
    }
    RowLayout {
        spacing: Theme.spaceSmall
        Text {
            text: qsTr("Port")
            color: Theme.inkSoft
            font.family: Theme.uiFont
            font.pixelSize: Theme.labelSize
        }
        Field {
            Layout.preferredWidth: 84
            text: root.server.port
            inputMethodHints: Qt.ImhDigitsOnly
            validator: IntValidator { bottom: 1; top: 65535 }
            Accessible.name: qsTr("Port")
            onEditingFinished: root.server.port = parseInt(text)
        }
    }
    Note {
        Layout.fillWidth: true
        text: root.server.hasKey ? qsTr("Whoever connects needs the API key.") : qsTr("No API key is asked for: any program on this machine may connect.")
    }
    Rectangle {
        Layout.fillWidth: true
        visible: root.server.newKey !== ""
        implicitHeight: shown.implicitHeight + 20
        radius: Theme.radiusMedium
        color: Theme.amberSoft
        ColumnLayout {
            id: shown
            anchors.fill: parent
            anchors.margins: 10
            Note {
                Layout.fillWidth: true
                color: Theme.ink
                text: qsTr("The new key. It is shown once and kept nowhere: copy it now.")
            }
            TextEdit {
                Layout.fillWidth: true
                text: root.server.newKey
                readOnly: true
                selectByMouse: true
                activeFocusOnTab: true
                wrapMode: TextEdit.WrapAnywhere
                color: Theme.ink
                selectionColor: Theme.accentSoft
                selectedTextColor: Theme.ink
                font.family: Theme.monoFont
                font.pixelSize: Theme.labelSize
                Accessible.name: qsTr("The new API key")
            }
            RowLayout {
                PlainButton {
                    compact: true
                    text: qsTr("Copy the key")
                    onClicked: root.server.copy(root.server.newKey)
                }
                PlainButton {
                    compact: true
                    text: qsTr("Hide it")
                    onClicked: root.server.hideKey()
                }
            }
        }
    }
    Flow {
        Layout.fillWidth: true
        spacing: Theme.spaceSmall
        PlainButton {
            compact: true
            text: root.server.hasKey ? qsTr("Make another key") : qsTr("Ask for a key")
            onClicked: root.server.makeKey()
        }
        PlainButton {
            compact: true
            visible: root.server.hasKey
            text: qsTr("Ask for none")
            onClicked: root.server.dropKey()
        }
    }
}
