// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// Every action's keys, for the whole window.
Item {
    id: root

    required property var window
    required property Studio studio
    required property LibraryPane library
    required property PagePane page
    readonly property DraftView draft: studio.draft
    readonly property InspectorView inspector: studio.inspector

    signal inspectorToggled()
    signal importWanted()
    signal exportWanted()
    signal keysWanted()
    signal findWanted()
    signal schemeWanted()
    signal askWanted()
    signal modelWanted()
    signal chooseModelWanted()
    signal libraryToggled()
    signal settingsWanted()
    signal logWanted()
    signal renameWanted()
    signal emptyBinWanted()

    KeyAction { map: root.studio.keys; action: "new"; onActivated: root.studio.library.create() }
    KeyAction { map: root.studio.keys; action: "import"; onActivated: root.importWanted() }
    KeyAction { map: root.studio.keys; action: "export"; enabled: root.draft.open; onActivated: root.exportWanted() }
    KeyAction { map: root.studio.keys; action: "rename"; enabled: root.draft.open; onActivated: root.renameWanted() }
    KeyAction { map: root.studio.keys; action: "duplicate"; enabled: root.draft.open; onActivated: root.studio.library.duplicate(root.draft.document) }
    KeyAction { map: root.studio.keys; action: "toBin"; enabled: root.draft.open; onActivated: root.studio.library.moveToBin(root.draft.document) }
    KeyAction { map: root.studio.keys; action: "bin"; onActivated: root.studio.library.bin = !root.studio.library.bin }
    KeyAction { map: root.studio.keys; action: "emptyBin"; onActivated: root.emptyBinWanted() }
    KeyAction { map: root.studio.keys; action: "searchDrafts"; onActivated: root.library.focusSearch() }
    KeyAction { map: root.studio.keys; action: "quit"; onActivated: root.window.close() }
    KeyAction { map: root.studio.keys; action: "undo"; enabled: root.draft.undoLabel !== ""; onActivated: root.draft.undo() }
    KeyAction { map: root.studio.keys; action: "redo"; enabled: root.draft.redoLabel !== ""; onActivated: root.draft.redo() }
    KeyAction { map: root.studio.keys; action: "cut"; enabled: root.page.editor.activeFocus; onActivated: root.draft.page.cut() }
    KeyAction { map: root.studio.keys; action: "copy"; enabled: root.page.editor.activeFocus; onActivated: root.draft.page.copy() }
    KeyAction { map: root.studio.keys; action: "paste"; enabled: root.page.editor.activeFocus; onActivated: root.draft.page.paste() }
    KeyAction { map: root.studio.keys; action: "find"; enabled: root.draft.open; onActivated: root.findWanted() }
    KeyAction { map: root.studio.keys; action: "zoomIn"; onActivated: Theme.pageZoom *= 1.1 }
    KeyAction { map: root.studio.keys; action: "zoomOut"; onActivated: Theme.pageZoom /= 1.1 }
    KeyAction { map: root.studio.keys; action: "zoomReset"; onActivated: Theme.pageZoom = 1 }
    KeyAction { map: root.studio.keys; action: "rewrite"; enabled: root.draft.open; onActivated: root.page.askRewrite() }
    KeyAction { map: root.studio.keys; action: "again"; enabled: root.draft.open && !root.draft.running; onActivated: root.draft.renoiseOrAgain() }
    KeyAction { map: root.studio.keys; action: "againSameSeed"; enabled: root.draft.open && !root.draft.running; onActivated: root.draft.again(true) }
    KeyAction { map: root.studio.keys; action: "alternatives"; enabled: root.draft.open; onActivated: root.draft.askAlternatives(3, "") }
    KeyAction { map: root.studio.keys; action: "continue"; enabled: root.draft.open; onActivated: root.draft.continueHere() }
    KeyAction { map: root.studio.keys; action: "words"; enabled: root.draft.running; onActivated: root.page.openWordCard() }
    KeyAction { map: root.studio.keys; action: "lock"; enabled: root.draft.open; onActivated: root.draft.toggleLock() }
    KeyAction { map: root.studio.keys; action: "unlockAll"; enabled: root.draft.open; onActivated: root.draft.unlockAll() }
    KeyAction { map: root.studio.keys; action: "stop"; onActivated: root.draft.escape() }
    KeyAction { map: root.studio.keys; action: "keep"; enabled: root.draft.running; onActivated: root.draft.keepSettled() }
    KeyAction { map: root.studio.keys; action: "pause"; enabled: root.draft.running; onActivated: root.draft.paused ? root.draft.resume() : root.draft.pause() }
    KeyAction { map: root.studio.keys; action: "step"; enabled: root.draft.running; onActivated: root.draft.step() }
    KeyAction { map: root.studio.keys; action: "accept"; enabled: root.draft.proposal !== ""; onActivated: root.draft.acceptCurrent() }
    KeyAction { map: root.studio.keys; action: "reject"; enabled: root.draft.proposal !== ""; onActivated: root.draft.rejectCurrent() }
    KeyAction { map: root.studio.keys; action: "acceptAll"; enabled: root.draft.proposal !== ""; onActivated: root.draft.acceptAll() }
    KeyAction { map: root.studio.keys; action: "nextChange"; onActivated: root.draft.nextChange(1) }
    KeyAction { map: root.studio.keys; action: "previousChange"; onActivated: root.draft.nextChange(-1) }
    KeyAction { map: root.studio.keys; action: "takeWord"; enabled: root.draft.proposal !== ""; onActivated: root.draft.acceptWord() }
    KeyAction { map: root.studio.keys; action: "showOriginal"; onActivated: root.draft.page.originalShown = !root.draft.page.originalShown }
    KeyAction { map: root.studio.keys; action: "stepBack"; onActivated: root.inspector.stepBy(-1) }
    KeyAction { map: root.studio.keys; action: "stepForward"; onActivated: root.inspector.stepBy(1) }
    KeyAction { map: root.studio.keys; action: "canvasBack"; onActivated: root.inspector.canvasBy(-1) }
    KeyAction { map: root.studio.keys; action: "canvasForward"; onActivated: root.inspector.canvasBy(1) }
    KeyAction { map: root.studio.keys; action: "branch"; enabled: root.inspector.step > 0; onActivated: root.inspector.branchHere() }
    KeyAction { map: root.studio.keys; action: "entropy"; onActivated: root.draft.page.entropyShown = !root.draft.page.entropyShown }
    KeyAction { map: root.studio.keys; action: "inspector"; onActivated: root.inspectorToggled() }
    KeyAction { map: root.studio.keys; action: "scheme"; onActivated: root.schemeWanted() }
    KeyAction { map: root.studio.keys; action: "ask"; onActivated: root.askWanted() }
    KeyAction { map: root.studio.keys; action: "model"; onActivated: root.modelWanted() }
    KeyAction { map: root.studio.keys; action: "chooseModel"; onActivated: root.chooseModelWanted() }
    KeyAction { map: root.studio.keys; action: "server"; onActivated: root.studio.server.wanted = !root.studio.server.wanted }
    KeyAction { map: root.studio.keys; action: "library"; onActivated: root.libraryToggled() }
    KeyAction { map: root.studio.keys; action: "fullScreen"; onActivated: root.window.toggleFullScreen() }
    KeyAction { map: root.studio.keys; action: "settings"; onActivated: root.settingsWanted() }
    KeyAction { map: root.studio.keys; action: "log"; onActivated: root.logWanted() }
    KeyAction { map: root.studio.keys; action: "tour"; onActivated: root.studio.tour.start() }
    KeyAction { map: root.studio.keys; action: "keys"; onActivated: root.keysWanted() }
    KeyAction { map: root.studio.keys; action: "nextPane"; onActivated: root.nextPane() }
    Repeater {
        model: 9
        DigitAction {
            draft: root.draft
        }
    }

    function nextPane() {
        if (root.page.editor.activeFocus)
            root.window.focusCompose()
        else if (root.window.composeFocused)
            root.library.focusSearch()
        else
            root.page.editor.forceActiveFocus()
    }
}
