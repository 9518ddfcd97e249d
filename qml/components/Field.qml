// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import QtQuick.Templates as T
import Palimpsest.Studio

// A line to type in.
T.TextField {
    id: root

    property bool framed: true

    implicitHeight: Theme.touchTarget + 2
    leftPadding: framed ? 10 : 0
    rightPadding: framed ? 10 : 0
    verticalAlignment: TextInput.AlignVCenter
    color: Theme.ink
    selectionColor: Theme.accentSoft
    selectedTextColor: Theme.ink
    placeholderTextColor: Theme.inkFaint
    font.family: Theme.uiFont
    font.pixelSize: Theme.bodySize - 1
    selectByMouse: true
    autoScroll: activeFocus // else a long text shows its beginning
    Accessible.name: placeholderText

    background: Rectangle {
        visible: root.framed
        radius: Theme.radiusMedium
        color: "transparent"
        border.width: root.activeFocus ? 2 : 1
        border.color: root.activeFocus ? Theme.focus : Theme.line
    }

    Text {
        anchors.fill: parent
        anchors.leftMargin: root.leftPadding
        text: root.placeholderText
        color: root.placeholderTextColor
        font: root.font
        verticalAlignment: Text.AlignVCenter
        elide: Text.ElideRight
        visible: root.text === "" && root.preeditText === ""
    }
}
