// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

import QtQuick
import Palimpsest.Studio

// A chart over the steps of a canvas, which also says where it begins and where it has got to.
StepChartItem {
    id: root

    required property string name
    property int decimals: 0

    Accessible.role: Accessible.Graphic
    Accessible.name: values.length > 0 ? qsTr("%1: from %2 to %3").arg(name).arg(values[0].toFixed(decimals))
                                             .arg(values[values.length - 1].toFixed(decimals)) : name
}
