// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/english_plurals.h"

namespace palimpsest::studio {

QString EnglishPlurals::translate(const char *, const char *sourceText, const char *, int n) const
{
    if (n < 0 || sourceText == nullptr)
        return {}; // no number: the source text as it is
    return QString::fromUtf8(sourceText).replace(QStringLiteral("(s)"), n == 1 ? QString() : QStringLiteral("s"));
}

} // namespace palimpsest::studio
