// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "resources/web/web_studio.h"

#include <QFile>

namespace palimpsest {

QString webStudioFolder()
{
    return QFile::exists(QStringLiteral(":/web/index.html")) ? QStringLiteral(":/web") : QString();
}

} // namespace palimpsest
