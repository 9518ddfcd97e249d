// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// Every action of the window; the same words and keys as in the browser.
StudioMenu {
    id: root

    required property Studio studio
    readonly property DraftView draft: studio.draft
    readonly property InspectorView inspector: studio.inspector
    readonly property KeyMap keys: studio.keys
    signal importWanted()
    signal exportWanted()
    signal keysWanted()
    signal findWanted()
    signal renameWanted()
    signal searchWanted()
    signal emptyBinWanted()
    signal askWanted()
    signal modelWanted()
    signal chooseModelWanted()
    signal libraryToggled()
    signal inspectorToggled()
    signal fullScreenToggled()
    signal settingsWanted()
    signal logWanted()
    signal aboutWanted()
    signal wordsWanted()
    signal rewriteWanted()
    signal nextPaneWanted()

    function keyOf(action) {
        return keys.keysOf(action).length > 0 ? keys.keysOf(action)[0] : ""
    }

    StudioMenu {
        title: qsTr("Draft")
        StudioMenuItem { text: root.keys.textOf("new"); keys: root.keyOf("new"); onTriggered: root.studio.library.create() }
        StudioMenuItem { text: root.keys.textOf("import"); keys: root.keyOf("import"); onTriggered: root.importWanted() }
        StudioMenuItem { text: root.keys.textOf("export"); keys: root.keyOf("export"); enabled: root.draft.open; onTriggered: root.exportWanted() }
        StudioMenuItem { text: root.keys.textOf("rename"); keys: root.keyOf("rename"); enabled: root.draft.open; onTriggered: root.renameWanted() }
        StudioMenuItem { text: root.keys.textOf("duplicate"); keys: root.keyOf("duplicate"); enabled: root.draft.open; onTriggered: root.studio.library.duplicate(root.draft.document) }
        StudioMenuItem { text: root.keys.textOf("toBin"); keys: root.keyOf("toBin"); enabled: root.draft.open; onTriggered: root.studio.library.moveToBin(root.draft.document) }
        StudioMenuItem { text: root.keys.textOf("searchDrafts"); keys: root.keyOf("searchDrafts"); onTriggered: root.searchWanted() }
        StudioMenuItem { text: root.keys.textOf("bin"); keys: root.keyOf("bin"); onTriggered: root.studio.library.bin = !root.studio.library.bin }
        StudioMenuItem { text: root.keys.textOf("emptyBin"); keys: root.keyOf("emptyBin"); onTriggered: root.emptyBinWanted() }
    }
    StudioMenu {
        title: qsTr("Edit")
        StudioMenuItem { text: root.keys.textOf("undo"); keys: root.keyOf("undo"); enabled: root.draft.undoLabel !== ""; onTriggered: root.draft.undo() }
        StudioMenuItem { text: root.keys.textOf("redo"); keys: root.keyOf("redo"); enabled: root.draft.redoLabel !== ""; onTriggered: root.draft.redo() }
        StudioMenuItem { text: root.keys.textOf("cut"); keys: root.keyOf("cut"); onTriggered: root.draft.page.cut() }
        StudioMenuItem { text: root.keys.textOf("copy"); keys: root.keyOf("copy"); onTriggered: root.draft.page.copy() }
        StudioMenuItem { text: root.keys.textOf("paste"); keys: root.keyOf("paste"); onTriggered: root.draft.page.paste() }
        StudioMenuItem { text: root.keys.textOf("find"); keys: root.keyOf("find"); onTriggered: root.findWanted() }
    }
    StudioMenu {
        title: qsTr("Model")
        StudioMenuItem { text: root.keys.textOf("rewrite"); keys: root.keyOf("rewrite"); enabled: root.draft.open; onTriggered: root.rewriteWanted() }
        StudioMenuItem { text: qsTr("Re-noise, light"); enabled: root.draft.open; onTriggered: root.draft.renoise("light") }
        StudioMenuItem { text: qsTr("Re-noise, medium"); enabled: root.draft.open; onTriggered: root.draft.renoise("medium") }
        StudioMenuItem { text: qsTr("Re-noise, full"); enabled: root.draft.open; onTriggered: root.draft.renoise("full") }
        StudioMenuItem { text: root.keys.textOf("alternatives"); keys: root.keyOf("alternatives"); enabled: root.draft.open; onTriggered: root.draft.askAlternatives(3, "") }
        StudioMenuItem { text: root.keys.textOf("continue"); keys: root.keyOf("continue"); enabled: root.draft.open; onTriggered: root.draft.continueHere() }
        StudioMenuItem { text: root.keys.textOf("again"); keys: root.keyOf("again"); enabled: root.draft.open; onTriggered: root.draft.again(false) }
        StudioMenuItem { text: root.keys.textOf("againSameSeed"); keys: root.keyOf("againSameSeed"); enabled: root.draft.open; onTriggered: root.draft.again(true) }
        StudioMenuItem { text: root.keys.textOf("words"); keys: root.keyOf("words"); enabled: root.draft.running; onTriggered: root.wordsWanted() }
        StudioMenuItem { text: root.keys.textOf("lock"); keys: root.keyOf("lock"); enabled: root.draft.open; onTriggered: root.draft.toggleLock() }
        StudioMenuItem { text: root.keys.textOf("unlockAll"); keys: root.keyOf("unlockAll"); enabled: root.draft.open; onTriggered: root.draft.unlockAll() }
        StudioMenuItem { text: qsTr("Stop and restore"); keys: root.keyOf("stop"); enabled: root.draft.running; onTriggered: root.draft.stop() }
        StudioMenuItem { text: root.keys.textOf("keep"); keys: root.keyOf("keep"); enabled: root.draft.running; onTriggered: root.draft.keepSettled() }
        StudioMenuItem { text: root.keys.textOf("pause"); keys: root.keyOf("pause"); enabled: root.draft.running; onTriggered: root.draft.paused ? root.draft.resume() : root.draft.pause() }
        StudioMenuItem { text: root.keys.textOf("step"); keys: root.keyOf("step"); enabled: root.draft.running; onTriggered: root.draft.step() }
    }
    StudioMenu {
        title: qsTr("Model and endpoint")
        StudioMenuItem { text: root.keys.textOf("model"); keys: root.keyOf("model"); onTriggered: root.modelWanted() }
        StudioMenuItem { text: root.keys.textOf("chooseModel"); keys: root.keyOf("chooseModel"); onTriggered: root.chooseModelWanted() }
        StudioMenuItem { text: qsTr("Use the demo model"); enabled: !root.studio.model.demo; onTriggered: root.studio.chooser.useDemo() }
        StudioMenuItem { text: root.keys.textOf("server"); keys: root.keyOf("server"); checkable: true; checked: root.studio.server.wanted; onTriggered: root.studio.server.wanted = checked }
        StudioMenuItem { text: qsTr("Open the browser studio"); enabled: root.studio.server.studioAddress !== ""; onTriggered: Qt.openUrlExternally(root.studio.server.studioAddress) }
        StudioMenuItem { text: root.keys.textOf("ask"); keys: root.keyOf("ask"); onTriggered: root.askWanted() }
    }
    StudioMenu {
        title: qsTr("Changes")
        StudioMenuItem { text: root.keys.textOf("accept"); keys: root.keyOf("accept"); enabled: root.draft.proposal !== ""; onTriggered: root.draft.acceptCurrent() }
        StudioMenuItem { text: root.keys.textOf("reject"); keys: root.keyOf("reject"); enabled: root.draft.proposal !== ""; onTriggered: root.draft.rejectCurrent() }
        StudioMenuItem { text: root.keys.textOf("acceptAll"); keys: root.keyOf("acceptAll"); enabled: root.draft.proposal !== ""; onTriggered: root.draft.acceptAll() }
        StudioMenuItem { text: root.keys.textOf("takeWord"); keys: root.keyOf("takeWord"); enabled: root.draft.proposal !== ""; onTriggered: root.draft.acceptWord() }
        StudioMenuItem { text: root.keys.textOf("nextChange"); keys: root.keyOf("nextChange"); onTriggered: root.draft.nextChange(1) }
        StudioMenuItem { text: root.keys.textOf("previousChange"); keys: root.keyOf("previousChange"); onTriggered: root.draft.nextChange(-1) }
        StudioMenuItem { text: root.keys.textOf("showOriginal"); keys: root.keyOf("showOriginal"); checkable: true; checked: root.draft.page.originalShown; onTriggered: root.draft.page.originalShown = checked }
    }
    StudioMenu {
        title: qsTr("History")
        StudioMenuItem { text: root.keys.textOf("stepBack"); keys: root.keyOf("stepBack"); onTriggered: root.inspector.stepBy(-1) }
        StudioMenuItem { text: root.keys.textOf("stepForward"); keys: root.keyOf("stepForward"); onTriggered: root.inspector.stepBy(1) }
        StudioMenuItem { text: root.keys.textOf("canvasBack"); keys: root.keyOf("canvasBack"); onTriggered: root.inspector.canvasBy(-1) }
        StudioMenuItem { text: root.keys.textOf("canvasForward"); keys: root.keyOf("canvasForward"); onTriggered: root.inspector.canvasBy(1) }
        StudioMenuItem { text: root.keys.textOf("branch"); keys: root.keyOf("branch"); enabled: root.inspector.step > 0; onTriggered: root.inspector.branchHere() }
    }
    StudioMenu {
        title: qsTr("Look")
        StudioMenuItem { text: root.keys.textOf("nextPane"); keys: root.keyOf("nextPane"); onTriggered: root.nextPaneWanted() }
        StudioMenuItem { text: qsTr("Light"); checkable: true; checked: Theme.scheme === Theme.Light; onTriggered: Theme.scheme = Theme.Light }
        StudioMenuItem { text: qsTr("Dark"); checkable: true; checked: Theme.scheme === Theme.Dark; onTriggered: Theme.scheme = Theme.Dark }
        StudioMenuItem { text: qsTr("As the system"); checkable: true; checked: Theme.scheme === Theme.System; onTriggered: Theme.scheme = Theme.System }
        StudioMenuItem { text: qsTr("Reduced motion"); checkable: true; checked: Theme.reducedMotion; onTriggered: Theme.reducedMotion = checked }
        StudioMenuItem { text: root.keys.textOf("entropy"); keys: root.keyOf("entropy"); checkable: true; checked: root.draft.page.entropyShown; onTriggered: root.draft.page.entropyShown = checked }
        StudioMenuItem { text: root.keys.textOf("zoomIn"); keys: root.keyOf("zoomIn"); onTriggered: Theme.pageZoom *= 1.1 }
        StudioMenuItem { text: root.keys.textOf("zoomOut"); keys: root.keyOf("zoomOut"); onTriggered: Theme.pageZoom /= 1.1 }
        StudioMenuItem { text: root.keys.textOf("zoomReset"); keys: root.keyOf("zoomReset"); onTriggered: Theme.pageZoom = 1 }
        StudioMenuItem { text: root.keys.textOf("library"); keys: root.keyOf("library"); onTriggered: root.libraryToggled() }
        StudioMenuItem { text: root.keys.textOf("inspector"); keys: root.keyOf("inspector"); onTriggered: root.inspectorToggled() }
        StudioMenuItem { text: root.keys.textOf("fullScreen"); keys: root.keyOf("fullScreen"); onTriggered: root.fullScreenToggled() }
    }
    StudioMenu {
        title: qsTr("Help")
        StudioMenuItem { text: root.keys.textOf("keys"); keys: root.keyOf("keys"); onTriggered: root.keysWanted() }
        StudioMenuItem { text: root.keys.textOf("tour"); keys: root.keyOf("tour"); onTriggered: root.studio.tour.start() }
        StudioMenuItem { text: root.keys.textOf("log"); keys: root.keyOf("log"); onTriggered: root.logWanted() }
        StudioMenuItem { text: qsTr("About Palimpsest"); onTriggered: root.aboutWanted() }
    }
    StudioMenuItem { text: root.keys.textOf("settings"); keys: root.keyOf("settings"); onTriggered: root.settingsWanted() }
    StudioMenuItem { text: root.keys.textOf("quit"); keys: root.keyOf("quit"); onTriggered: Qt.quit() }
}
