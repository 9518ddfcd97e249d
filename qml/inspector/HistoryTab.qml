// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import Palimpsest.Studio

// The revisions of the draft, the newest first, and the figures of the last run.
ColumnLayout {
    id: root

    required property Studio studio

    spacing: Theme.spaceSmall

    SectionTitle {
        text: qsTr("This draft")
        figure: qsTr("%n revision(s)", "", root.studio.revisions.count)
    }
    ListView {
        id: list
        Layout.fillWidth: true
        Layout.fillHeight: true
        clip: true
        activeFocusOnTab: true
        boundsBehavior: Flickable.StopAtBounds
        model: root.studio.revisions
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Revisions")
        ScrollBar.vertical: ScrollBar {}
        delegate: RevisionRow {
            width: ListView.view.width
            highlighted: ListView.isCurrentItem && list.activeFocus
            onInspected: (run) => root.studio.inspector.inspect(run)
            onRestored: (revision) => root.studio.revisions.restore(revision)
        }
    }
    SectionTitle {
        text: qsTr("Figures")
    }
    Repeater {
        model: root.studio.inspector.figures
        FactRow {
            required property var modelData
            label: modelData.label
            value: modelData.value
        }
    }
}
