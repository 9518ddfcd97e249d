// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"
#include "app/documents/document_worker.h"
#include "app/server/live/answerer.h"
#include "app/server/live/client_messages.h"

#include <QJsonObject>
#include <QObject>
#include <QString>
#include <QTimer>

#include <map>
#include <vector>

namespace palimpsest::live {

class Window;

/// The fields of `library`: what a watched query found, best or newest first.
[[nodiscard]] QJsonObject libraryFields(const std::vector<documents::SearchHit> &hits);

/// Keeps the lists of documents that windows show up to date. A window watches one list.
///
/// Lives on the server's thread; the store is asked on its own.
class LibraryWatches : public QObject
{
    Q_OBJECT

public:
    explicit LibraryWatches(documents::DocumentWorker &store, QObject *parent = nullptr);

    /// The reply has the list; each later list that differs is sent.
    void watch(Window &window, const LibraryWatch &wish, const Answerer &answerer);
    void leave(Window &window);
    /// Documents have changed: lists are asked for anew, soon and not more often than people see.
    void change();

Q_SIGNALS:
    void changed(); ///< at every change(), for those who show lists elsewhere

private:
    struct Watch
    {
        LibraryWatch wish;
        QJsonObject shown;
        std::uint64_t number = 0; ///< tells an answer for an earlier wish
    };

    void refresh();
    void ask(Window &window, std::function<void(const QJsonObject &)> show, const Answerer &answerer);

    documents::DocumentWorker &m_store;
    documents::DocumentReplies m_replies;
    std::map<Window *, Watch> m_watches;
    QTimer m_soon;
    std::uint64_t m_numbers = 0;
};

} // namespace palimpsest::live
