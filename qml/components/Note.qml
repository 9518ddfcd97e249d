// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// A few sentences of explanation.
Text {
    textFormat: Text.PlainText
    wrapMode: Text.WordWrap
    color: Theme.inkSoft
    font.family: Theme.uiFont
    font.pixelSize: Theme.labelSize
    lineHeight: 1.25
    Accessible.role: Accessible.StaticText
    Accessible.name: text
}
