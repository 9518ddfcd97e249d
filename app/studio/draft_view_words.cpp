// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What DraftView does with single words: locks of the draft, and reaching into a canvas that runs.

#include "app/studio/draft_view.h"

#include <QQuickItem>

#include <algorithm>

namespace palimpsest::studio {

void DraftView::toggleLock()
{
    if (!m_session || m_page.textEdit() == nullptr)
        return;
    const int start = m_page.textEdit()->property("selectionStart").toInt();
    const int end = m_page.textEdit()->property("selectionEnd").toInt();
    if (m_page.canvasPlaceAt(start)) {
        holdWords(start, end);
        return;
    }
    attempt([&] {
        const TextSpan span = m_page.selectionInDraft();
        const auto &locks = m_session->draft().locks();
        const bool held = std::any_of(locks.begin(), locks.end(), [span](TextSpan lock) {
            return lock.start <= span.start && span.end <= lock.end;
        });
        m_session->setLocked(m_session->draft().version(), span, !held);
        announce(held ? tr("Unlocked") : tr("Locked"));
    });
}

void DraftView::unlockAll()
{
    attempt([&] { m_session->unlockAll(); });
}

bool DraftView::isHeld(const PageText::CanvasPlace &place) const
{
    const auto frame = m_session->newestFrame(place.run, place.lane);
    return frame && place.position < frame->marks.size() && frame->marks.at(place.position) == '#';
}

/// Holds the words of a stretch of a running canvas, or releases them if all of them are held.
void DraftView::holdWords(qsizetype start, qsizetype end)
{
    attempt([&] {
        std::vector<PageText::CanvasPlace> places;
        for (qsizetype at = start; at < std::max(end, start + 1); ++at) {
            const auto place = m_page.canvasPlaceAt(at);
            if (place && (places.empty() || places.back() != *place))
                places.push_back(*place);
        }
        const bool held =
            std::all_of(places.begin(), places.end(), [this](const auto &place) { return isHeld(place); });
        std::vector<std::int64_t> done;
        for (const PageText::CanvasPlace &place : places) {
            if (std::find(done.begin(), done.end(), place.position) != done.end())
                continue; // of a word that came already
            const auto positions = m_session->holdWord(place.run, place.lane, place.canvas, place.position, !held);
            done.insert(done.end(), positions.begin(), positions.end());
        }
        announce(held ? tr("Unlocked") : tr("Locked"));
    });
}

namespace {

PageText::CanvasPlace placeIn(const QVariantMap &word)
{
    return {.run = word[QStringLiteral("run")].toString(),
            .lane = word[QStringLiteral("lane")].toInt(),
            .canvas = word[QStringLiteral("canvas")].toLongLong(),
            .position = word[QStringLiteral("position")].toLongLong()};
}

} // namespace

QVariantMap DraftView::wordAt(int shown) const
{
    const auto place = m_page.canvasPlaceAt(shown);
    return place && m_session ? wordOf(*place) : QVariantMap();
}

QVariantMap DraftView::wordBeside(const QVariantMap &word, int direction) const
{
    PageText::CanvasPlace place = placeIn(word);
    const auto isWord = [this](const PageText::CanvasPlace &candidate) {
        const auto at = m_page.shownOf(candidate);
        return at && !QStringView(m_page.shown().text()).mid(at->start, at->length()).trimmed().isEmpty();
    };
    do {
        place.position += direction < 0 ? -1 : 1;
        if (!m_session || !m_page.shownOf(place))
            return word; // the first, or the last one
    } while (!isWord(place));
    return wordOf(place);
}

QVariantMap DraftView::wordOf(const PageText::CanvasPlace &place) const
{
    try {
        const auto found = m_session->alternatives(place.run, place.lane, place.canvas, place.position);
        QVariantList choices;
        for (const auto &choice : found.choices)
            choices << QVariantMap{{QStringLiteral("id"), choice.id},
                                   {QStringLiteral("text"), choice.text},
                                   {QStringLiteral("percent"), qRound(choice.probability * 100.0)}};
        const TextSpan at = m_page.shownOf(place).value_or(TextSpan());
        return {{QStringLiteral("text"), m_page.shown().text().mid(at.start, at.length())},
                {QStringLiteral("start"), at.start},
                {QStringLiteral("end"), at.end},
                {QStringLiteral("entropy"), found.entropy},
                {QStringLiteral("held"), isHeld(place)},
                {QStringLiteral("choices"), choices},
                {QStringLiteral("run"), place.run},
                {QStringLiteral("lane"), place.lane},
                {QStringLiteral("canvas"), QVariant::fromValue(place.canvas)},
                {QStringLiteral("position"), QVariant::fromValue(place.position)}};
    } catch (const Error &) {
        return {}; // the run has ended meanwhile: there is nothing to choose any more
    }
}

void DraftView::chooseWord(const QVariantMap &word, int id)
{
    attempt([&] {
        const PageText::CanvasPlace place = placeIn(word);
        m_session->hold(place.run, place.lane, place.canvas, {{.position = place.position, .id = id}});
        announce(tr("Put in and locked"));
    });
}

void DraftView::holdWord(const QVariantMap &word)
{
    attempt([&] {
        const PageText::CanvasPlace place = placeIn(word);
        const bool held = isHeld(place);
        m_session->holdWord(place.run, place.lane, place.canvas, place.position, !held);
        announce(held ? tr("Unlocked") : tr("Locked"));
    });
}

} // namespace palimpsest::studio
