// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Layouts
import Palimpsest.Studio

// How the next run is sampled.
ColumnLayout {
    id: root

    required property Studio studio
    readonly property SamplerView sampler: studio.sampler

    spacing: 2

    SectionTitle {
        Layout.bottomMargin: Theme.spaceTiny
        text: qsTr("Sampler")
    }
    SamplerSlider {
        Layout.fillWidth: true
        label: qsTr("Most steps")
        help: qsTr("A canvas that has not settled after so many steps is taken as it is. More steps, more patience.")
        from: 1
        to: 96
        stepSize: 1
        decimals: 0
        value: root.sampler.maxSteps
        onMoved: (value) => root.sampler.maxSteps = value
    }
    SamplerSlider {
        Layout.fillWidth: true
        label: qsTr("Entropy bound")
        help: qsTr("How unsure the words may be, taken together, that are accepted in one step. Less is slower and more careful.")
        from: 0.01
        to: 1
        stepSize: 0.01
        decimals: 2
        value: root.sampler.entropyBound
        onMoved: (value) => root.sampler.entropyBound = value
    }
    SamplerSlider {
        Layout.fillWidth: true
        label: qsTr("Temperature, at the start")
        help: qsTr("How freely words are drawn in the first steps. It falls towards the end.")
        from: 0.1
        to: 2
        stepSize: 0.05
        decimals: 2
        value: root.sampler.tMax
        onMoved: (value) => root.sampler.tMax = value
    }
    SamplerSlider {
        Layout.fillWidth: true
        label: qsTr("Temperature, at the end")
        help: qsTr("How freely words are drawn in the last steps.")
        from: 0.1
        to: 2
        stepSize: 0.05
        decimals: 2
        value: root.sampler.tMin
        onMoved: (value) => root.sampler.tMin = value
    }
    RowLayout {
        Layout.fillWidth: true
        FactRow {
            label: qsTr("Seed")
            value: root.studio.inspector.seedText
        }
        PlainButton {
            compact: true
            objectName: "again"
            text: qsTr("Again")
            enabled: root.studio.draft.open && !root.studio.draft.running
            Accessible.description: qsTr("Runs the same wish with the same seed")
            onClicked: root.studio.draft.again(true)
        }
        PlainButton {
            compact: true
            text: qsTr("Reset")
            enabled: root.sampler.changed
            Accessible.description: qsTr("Back to the model's own settings")
            onClicked: root.sampler.reset()
        }
    }
}
