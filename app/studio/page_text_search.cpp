// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// PageText's search.

#include "app/studio/page_text.h"

#include <QQuickItem>

#include <algorithm>

namespace palimpsest::studio {

void PageText::setSearchPattern(const QString &pattern)
{
    if (m_searchPattern == pattern)
        return;
    m_searchPattern = pattern;
    findMatches();
    collectMarks();
    Q_EMIT searchChanged();
}

void PageText::findMatches()
{
    const auto before = m_matches.size();
    m_matches.clear();
    if (!m_searchPattern.isEmpty()) {
        const bool hasCapital =
            std::any_of(m_searchPattern.cbegin(), m_searchPattern.cend(), [](QChar c) { return c.isUpper(); });
        const auto sensitivity = hasCapital ? Qt::CaseSensitive : Qt::CaseInsensitive;
        const qsizetype length = m_searchPattern.size();
        for (qsizetype at = m_shown.text().indexOf(m_searchPattern, 0, sensitivity); at >= 0;
             at = m_shown.text().indexOf(m_searchPattern, at + length, sensitivity))
            m_matches.push_back({at, at + length});
    }
    if (m_matches.size() != before)
        Q_EMIT searchChanged();
}

bool PageText::findNext(int direction)
{
    bringWhole();
    if (m_matches.empty() || !m_textEdit)
        return false;
    const qsizetype from = m_textEdit->property(direction < 0 ? "selectionStart" : "selectionEnd").toInt();
    auto match = m_matches.begin();
    if (direction < 0) {
        match = std::find_if(m_matches.rbegin(), m_matches.rend(), [from](TextSpan m) { return m.end <= from; }).base();
        match = match == m_matches.begin() ? std::prev(m_matches.end()) : std::prev(match);
    } else {
        match = std::find_if(m_matches.begin(), m_matches.end(), [from](TextSpan m) { return m.start >= from; });
        if (match == m_matches.end())
            match = m_matches.begin();
    }
    QMetaObject::invokeMethod(m_textEdit, "select", Q_ARG(int, static_cast<int>(match->start)),
                              Q_ARG(int, static_cast<int>(match->end)));
    return true;
}

void PageText::replaceMatch(const QString &text)
{
    if (!m_textEdit)
        return;
    const TextSpan selected{m_textEdit->property("selectionStart").toInt(),
                            m_textEdit->property("selectionEnd").toInt()};
    if (std::find(m_matches.begin(), m_matches.end(), selected) != m_matches.end())
        insertPlain(text);
    findNext(1);
}

int PageText::replaceAll(const QString &text)
{
    if (!m_session)
        return 0;
    bringWhole();
    std::vector<TextEdit> edits;
    for (std::size_t i = m_matches.size(); i-- > 0;) { // from behind: each in the positions the one before left
        if (const std::optional<TextEdit> edit = m_shown.draftEdit({m_matches[i], text}))
            edits.push_back(*edit);
    }
    if (!edits.empty())
        m_session->editAll(m_window, edits, tr("Replace all"));
    return static_cast<int>(edits.size());
}

} // namespace palimpsest::studio
