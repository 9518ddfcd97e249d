// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// What a writer sets once.
StudioDialog {
    id: root

    required property Studio studio
    signal keysWanted()
    signal logWanted()

    heading: qsTr("Settings")
    width: 500

    SectionTitle {
        width: parent.width
        text: qsTr("Look")
    }
    Row {
        spacing: Theme.spaceSmall
        Choice { text: qsTr("Light"); checked: Theme.scheme === Theme.Light; onClicked: Theme.scheme = Theme.Light }
        Choice { text: qsTr("Dark"); checked: Theme.scheme === Theme.Dark; onClicked: Theme.scheme = Theme.Dark }
        Choice { text: qsTr("As the system"); checked: Theme.scheme === Theme.System; onClicked: Theme.scheme = Theme.System }
    }
    ToggleRow {
        width: parent.width
        text: qsTr("Reduced motion")
        checked: Theme.reducedMotion
        onToggled: Theme.reducedMotion = checked
    }
    ToggleRow {
        width: parent.width
        text: qsTr("Show how sure the model is")
        checked: root.studio.draft.page.entropyShown
        onToggled: root.studio.draft.page.entropyShown = checked
    }
    RowLayout {
        width: parent.width
        spacing: Theme.spaceSmall
        Text {
            Layout.fillWidth: true
            text: qsTr("Size of the page's letters: %1 %").arg(Math.round(Theme.pageZoom * 100))
            color: Theme.ink
            font.family: Theme.uiFont
            font.pixelSize: Theme.bodySize - 1
        }
        GlyphButton { text: "−"; name: root.studio.keys.textOf("zoomOut"); hint: root.studio.keys.hintOf("zoomOut"); onClicked: Theme.pageZoom /= 1.1 }
        GlyphButton { text: "+"; name: root.studio.keys.textOf("zoomIn"); hint: root.studio.keys.hintOf("zoomIn"); onClicked: Theme.pageZoom *= 1.1 }
        PlainButton { compact: true; text: qsTr("Reset"); onClicked: Theme.pageZoom = 1 }
    }
    SectionTitle {
        width: parent.width
        text: qsTr("Drafts")
    }
    Note {
        width: parent.width
        wrapMode: Text.WrapAnywhere
        text: qsTr("Kept in %1").arg(root.studio.storeText)
    }
    Row {
        spacing: Theme.spaceSmall
        PlainButton {
            compact: true
            text: qsTr("Keys…")
            onClicked: {
                root.close()
                root.keysWanted()
            }
        }
        PlainButton {
            compact: true
            text: qsTr("Log…")
            onClicked: {
                root.close()
                root.logWanted()
            }
        }
    }
    PlainButton {
        primary: true
        text: qsTr("Close")
        onClicked: root.close()
    }
}
