// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick

// Speaks to screen readers: a status text that is not seen, and changes only when there is something to say.
Text {
    id: root

    required property string message

    width: 1
    height: 1
    opacity: 0
    text: message
    Accessible.role: Accessible.StaticText
    Accessible.name: message
}
