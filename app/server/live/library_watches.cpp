// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/library_watches.h"

#include "app/server/live/server_messages.h"
#include "app/server/live/window.h"
#include "engine/error.h"

#include <QJsonArray>

#include <chrono>
#include <utility>

namespace palimpsest::live {

using documents::DocumentStore;
using documents::DocumentSummary;
using documents::SearchHit;

namespace {

constexpr std::chrono::milliseconds kRefreshAfter{200};

std::vector<SearchHit> findDocuments(const DocumentStore &store, const QString &query, bool binned)
{
    const QString wanted = query.trimmed();
    if (!wanted.isEmpty() && !binned)
        return store.search(wanted.toStdString());
    std::vector<SearchHit> hits;
    for (DocumentSummary &summary : store.list(binned ? DocumentStore::Shelf::Bin : DocumentStore::Shelf::Drafts)) {
        // The index knows drafts only; what is in the bin is found by its title.
        if (wanted.isEmpty() || QString::fromStdString(summary.title).contains(wanted, Qt::CaseInsensitive))
            hits.push_back({.document = std::move(summary), .snippet = {}, .marks = {}});
    }
    return hits;
}

/// U+0002 and U+0003 stand around what was found.
QString markedSnippet(const SearchHit &hit)
{
    std::string marked;
    std::size_t done = 0;
    for (const SearchHit::Mark &mark : hit.marks) {
        const auto begin = static_cast<std::size_t>(mark.begin);
        const auto end = static_cast<std::size_t>(mark.end);
        marked += hit.snippet.substr(done, begin - done) + '\x02' + hit.snippet.substr(begin, end - begin) + '\x03';
        done = end;
    }
    return QString::fromStdString(marked + hit.snippet.substr(done));
}

} // namespace

QJsonObject libraryFields(const std::vector<SearchHit> &hits)
{
    QJsonArray list;
    for (const SearchHit &hit : hits) {
        const DocumentSummary &document = hit.document;
        QJsonObject fields{{"id", QString::fromStdString(document.id)},
                           {"title", QString::fromStdString(document.title)},
                           {"excerpt", QString::fromStdString(document.excerpt)},
                           {"modified", static_cast<qint64>(document.modifiedMs)},
                           {"revisions", static_cast<qint64>(document.lastRevision)},
                           {"binned", document.binnedMs.has_value()}};
        if (!hit.snippet.empty())
            fields.insert("snippet", markedSnippet(hit));
        list.append(fields);
    }
    return {{"documents", list}};
}

LibraryWatches::LibraryWatches(documents::DocumentWorker &store, QObject *parent) : QObject(parent), m_store(store)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(kRefreshAfter);
    connect(&m_soon, &QTimer::timeout, this, &LibraryWatches::refresh);
}

void LibraryWatches::watch(Window &window, const LibraryWatch &wish, const Answerer &answerer)
{
    m_watches[&window] = {.wish = wish, .shown = {}, .number = ++m_numbers};
    ask(
        window, [answerer](const QJsonObject &fields) { answerer.reply(fields); }, answerer);
}

void LibraryWatches::leave(Window &window)
{
    m_watches.erase(&window);
}

void LibraryWatches::change()
{
    if (!m_watches.empty() && !m_soon.isActive())
        m_soon.start();
    Q_EMIT changed();
}

void LibraryWatches::refresh()
{
    std::vector<Window *> windows;
    for (const auto &[window, watch] : m_watches)
        windows.push_back(window);
    for (Window *window : windows) {
        const Answerer errors(*window, std::nullopt);
        ask(
            *window,
            [errors](const QJsonObject &fields) {
                if (Window *to = errors.window())
                    to->send(message("library", fields));
            },
            errors);
    }
}

void LibraryWatches::ask(Window &window, std::function<void(const QJsonObject &)> show, const Answerer &answerer)
{
    const Watch &watch = m_watches.at(&window);
    m_store.run([wish = watch.wish](DocumentStore &store) { return findDocuments(store, wish.query, wish.binned); },
                m_replies,
                [this, key = &window, number = watch.number, show = std::move(show), answerer](auto found) {
                    const auto current = m_watches.find(key);
                    if (current == m_watches.end() || current->second.number != number)
                        return; // it has left, or looks for something else by now
                    try {
                        QJsonObject fields = libraryFields(found.get());
                        if (fields != current->second.shown)
                            show(fields);
                        current->second.shown = std::move(fields);
                    } catch (const Error &error) {
                        answerer.fail(error);
                    }
                });
}

} // namespace palimpsest::live
