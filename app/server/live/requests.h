// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document_worker.h"
#include "app/editing/session_registry.h"
#include "app/server/live/answerer.h"
#include "app/server/live/channels.h"
#include "app/server/live/client_messages.h"
#include "app/server/live/library_watches.h"

#include <QObject>

#include <functional>

namespace palimpsest::live {

class Window;

/// Does what windows ask for, and answers.
///
/// Lives on the server's thread; never waits.
class Requests : public QObject
{
    Q_OBJECT

public:
    Requests(documents::DocumentWorker &store, editing::SessionRegistry &sessions, Channels &channels,
             LibraryWatches &library, Counters &counters, QObject *parent = nullptr);

    /// Never throws: whatever goes wrong becomes an error message.
    void handle(Window &window, const ParsedMessage &message);

private:
    // Library
    void obey(const LibraryWatch &wish, const Answerer &answerer);
    void obey(const DocumentCreate &wish, const Answerer &answerer);
    void obey(const DocumentRename &wish, const Answerer &answerer);
    void duplicate(const QString &document, const Answerer &answerer);
    void erase(const QString &document, const Answerer &answerer);
    // A draft
    void obey(const DocumentOrder &order, const Answerer &answerer);
    void open(const QString &document, const Answerer &answerer);
    void obey(const Edit &edit, const Answerer &answerer);
    void obey(const Lock &lock, const Answerer &answerer);
    void obey(const ChangeSettings &change, const Answerer &answerer);
    void obey(const RevisionText &wish, const Answerer &answerer);
    void obey(const RevisionRestore &wish, const Answerer &answerer);
    // Runs
    void obey(const RunStart &wish, const Answerer &answerer);
    void obey(const RunAgain &wish, const Answerer &answerer);
    void obey(const RunOrder &order, const Answerer &answerer);
    void obey(const RunStop &wish, const Answerer &answerer);
    void obey(const RunFreeze &wish, const Answerer &answerer);
    void obey(const RunHold &wish, const Answerer &answerer);
    void obey(const RunAlternatives &wish, const Answerer &answerer);
    void obey(const HistoryFrame &wish, const Answerer &answerer);
    void obey(const HistoryBranch &wish, const Answerer &answerer);
    void obey(const Seen &seen, const Answerer &answerer);
    // Proposals
    void obey(const ProposalAccept &wish, const Answerer &answerer);
    void obey(const ProposalReject &wish, const Answerer &answerer);
    void obey(const ProposalChoose &wish, const Answerer &answerer);
    void obey(const ProposalTake &wish, const Answerer &answerer);
    void obey(const ProposalEdit &wish, const Answerer &answerer);

    /// The session of a document that the window has open. Throws Error NotFound.
    [[nodiscard]] editing::DraftSession &draftOf(const QString &document, const Answerer &answerer) const;
    [[nodiscard]] editing::DraftSession &sessionOfRun(const QString &run) const;
    [[nodiscard]] editing::DraftSession &sessionOfProposal(const QString &proposal) const;
    /// Calls `next` when the store has what is open in a session; at once if there is none.
    void whenSaved(const QString &document, const std::function<void()> &next);
    /// Has the store do something, after which lists of documents are different.
    template <typename Call, typename FieldsOf>
    void change(Call call, const Answerer &answerer, FieldsOf fieldsOf);

    documents::DocumentWorker &m_store;
    documents::DocumentReplies m_replies;
    editing::SessionRegistry &m_sessions;
    Channels &m_channels;
    LibraryWatches &m_library;
    Counters &m_counters;
};

} // namespace palimpsest::live
