// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft_session.h"

#include <QObject>
#include <QString>

#include <chrono>
#include <cstddef>
#include <memory>

namespace palimpsest {
class EngineHost;
namespace documents {
class DocumentWorker;
}
} // namespace palimpsest

namespace palimpsest::editing {

/// The documents that are open: windows that show the same one share its session.
///
/// Lives on one thread, its sessions too. A document that no window shows any more stays open while a run is under way
/// in it, and for `linger` after that, so that a reload of a page finds its undo list; then it is saved and closed.
class SessionRegistry : public QObject
{
    Q_OBJECT

public:
    struct Settings
    {
        std::chrono::milliseconds saveDelay{600};    ///< how long typing is collected before it is saved
        std::chrono::milliseconds linger{30'000};    ///< how long a document stays open that nobody shows
        std::chrono::milliseconds retryDelay{3'000}; ///< before the next try, after one to save has failed
        std::chrono::minutes revisionEvery{10};      ///< typing becomes a revision of its own after so long
    };

    /// Neither is owned; both must live longer.
    SessionRegistry(EngineHost &engine, documents::DocumentWorker &store);
    SessionRegistry(EngineHost &engine, documents::DocumentWorker &store, const Settings &settings);
    /// Cancels runs. Saves what is not saved yet, waiting for the disk: only at the very end of the program.
    ~SessionRegistry() override;

    /// Opens a document for a window, if nobody has done so before. The session lives until the window leaves.
    void open(const QString &document, WindowId window, Answer<DraftSession *> answer);
    void leave(const QString &document, WindowId window);
    void leaveAll(WindowId window);

    /// The session of an open document, else null.
    [[nodiscard]] DraftSession *find(const QString &document) const;
    /// The session with this run (proposal), else null.
    [[nodiscard]] DraftSession *findByRun(const QString &run) const;
    [[nodiscard]] DraftSession *findByProposal(const QString &proposal) const;
    [[nodiscard]] std::size_t openCount() const;

    /// Before a document is deleted for good: stops what runs in it, says `gone`, saves nothing, and forgets it. What
    /// the store does next finds it closed.
    void forget(const QString &document);

    /// Another registry of the same store, or another program, has saved something: the documents that are open here
    /// take it over (DraftSession::followStore).
    void followStore();

Q_SIGNALS:
    /// A document's title, text or place changed on the disk: lists of documents are no longer right.
    void libraryChanged();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace palimpsest::editing
