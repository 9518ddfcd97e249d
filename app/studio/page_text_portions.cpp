// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// How a long draft comes to PageText's page in portions.

#include "app/studio/page_text.h"

#include <algorithm>

namespace palimpsest::studio {

/// Up to the end of a paragraph, so that none is laid out twice, and letters typed at the end belong to the last one.
QStringView PageText::present() const
{
    if (!m_session)
        return {};
    const QStringView draft = m_session->draft().text();
    qsizetype end = m_portionEnd < draft.size() ? draft.indexOf(u'\n', m_portionEnd) : -1;
    if (end < 0)
        return draft;
    if (end > 0 && draft[end - 1] == u'\r')
        --end;
    return draft.first(end);
}

void PageText::addPortion()
{
    if (isWhole())
        return;
    m_portionEnd += kPortion;
    refresh();
}

void PageText::bringWhole()
{
    if (isWhole())
        return;
    m_portionEnd = kWhole;
    refresh();
}

/// What is on the page stays there, however the draft changes.
void PageText::keepPortion(const TextEdit &edit)
{
    if (isWhole() || edit.span.start >= m_portionEnd + (edit.span.empty() ? 1 : 0))
        return;
    if (edit.span.end <= m_portionEnd)
        m_portionEnd += edit.text.size() - edit.span.length();
    else
        m_portionEnd = edit.span.start + edit.text.size();
}

} // namespace palimpsest::studio
