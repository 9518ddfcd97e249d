// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/session_registry.h"

#include "app/editing/session_state.h"

#include <QTimer>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace palimpsest::editing {

struct SessionRegistry::State
{
    using OpenAnswer = Answer<DraftSession *>;
    struct Waiting
    {
        WindowId window = kNobody;
        OpenAnswer answer;
    };
    struct Entry
    {
        std::unique_ptr<DraftSession> session; ///< null while it is being loaded
        std::vector<Waiting> waiting;
        std::set<WindowId> windows;
        std::unique_ptr<QTimer> linger;
        bool closing = false; ///< saved for the last time
    };

    State(SessionRegistry &theRegistry, EngineHost &engine, documents::DocumentWorker &theWorker,
          const Settings &theSettings)
        : registry(theRegistry), worker(theWorker), settings(theSettings), model(std::make_shared<ModelCache>(engine))
    {
    }

    void load(const QString &document);
    void loaded(const QString &document, std::future<DraftSaver::Stored> future);
    void watch(DraftSession &session);
    void release(const QString &document, Entry &entry);
    void closeIfUnused(const QString &document);
    void dispose(std::unique_ptr<DraftSession> session) const;
    [[nodiscard]] static bool isBusy(const DraftSession &session);

    SessionRegistry &registry;
    documents::DocumentWorker &worker;
    documents::DocumentReplies replies;
    Settings settings;
    std::shared_ptr<ModelCache> model;
    std::map<QString, Entry> entries;
};

void SessionRegistry::State::load(const QString &document)
{
    worker.run([id = document.toStdString()](documents::DocumentStore &store) { return DraftSaver::load(store, id); },
               replies,
               [this, document](std::future<DraftSaver::Stored> future) { loaded(document, std::move(future)); });
}

void SessionRegistry::State::loaded(const QString &document, std::future<DraftSaver::Stored> future)
{
    const auto place = entries.find(document);
    if (place == entries.end())
        return; // everybody has left again, or it was deleted
    Entry &entry = place->second;
    if (entry.session != nullptr)
        return; // left and opened again meanwhile: an earlier reading has come
    std::vector<Waiting> waiting = std::exchange(entry.waiting, {});
    try {
        entry.session.reset(new DraftSession({.stored = future.get(),
                                              .worker = worker,
                                              .model = model,
                                              .timing = {.saveDelay = settings.saveDelay,
                                                         .retryDelay = settings.retryDelay,
                                                         .revisionEvery = settings.revisionEvery}}));
    } catch (const Error &error) { // the edge to the store's thread
        entries.erase(place);
        for (const Waiting &each : waiting)
            each.answer(error);
        return;
    }
    watch(*entry.session);
    for (const Waiting &each : waiting)
        entry.windows.insert(each.window);
    DraftSession *session = entry.session.get();
    for (const Waiting &each : waiting)
        each.answer(session);
}

void SessionRegistry::State::watch(DraftSession &session)
{
    const QString document = session.document();
    QObject::connect(&session, &DraftSession::runChanged, &registry, [this, document] { closeIfUnused(document); });
    QObject::connect(&session.m_state->saver, &DraftSaver::saved, &registry, [this, document] {
        Q_EMIT registry.libraryChanged();
        closeIfUnused(document);
    });
}

bool SessionRegistry::State::isBusy(const DraftSession &session)
{
    const std::vector<RunInfo> runs = session.runs();
    return std::any_of(runs.begin(), runs.end(),
                       [](const RunInfo &run) { return !hasEnded(run.state) && run.state != RunState::Paused; });
}

/// Nobody shows it any more: closed after a while.
void SessionRegistry::State::release(const QString &document, Entry &entry)
{
    if (!entry.windows.empty() || entry.session == nullptr)
        return;
    if (entry.linger == nullptr) {
        entry.linger = std::make_unique<QTimer>();
        entry.linger->setSingleShot(true);
        QObject::connect(entry.linger.get(), &QTimer::timeout, &registry,
                         [this, document] { closeIfUnused(document); });
    }
    entry.linger->start(settings.linger);
}

void SessionRegistry::State::closeIfUnused(const QString &document)
{
    const auto place = entries.find(document);
    if (place == entries.end())
        return;
    Entry &entry = place->second;
    const bool isUsed = !entry.windows.empty() || !entry.waiting.empty() || entry.linger == nullptr ||
                        entry.linger->isActive() || isBusy(*entry.session);
    if (isUsed)
        return;
    DraftSaver &saver = entry.session->m_state->saver;
    if (!std::exchange(entry.closing, true)) {
        entry.session->stopAllRuns(); // paused ones, which nobody will resume
        saver.finish();
    }
    if (!saver.idle())
        return; // comes here again when it is on the disk
    dispose(std::move(entry.session));
    entries.erase(place);
}

/// Later, for one of its signals may have led here.
void SessionRegistry::State::dispose(std::unique_ptr<DraftSession> session) const
{
    session->setParent(&registry); // if there is no event loop any more
    session.release()->deleteLater();
}

SessionRegistry::SessionRegistry(EngineHost &engine, documents::DocumentWorker &store)
    : SessionRegistry(engine, store, Settings{})
{
}

SessionRegistry::SessionRegistry(EngineHost &engine, documents::DocumentWorker &store, const Settings &settings)
    : m_state(std::make_unique<State>(*this, engine, store, settings))
{
}

SessionRegistry::~SessionRegistry()
{
    for (auto &[document, entry] : m_state->entries) {
        if (entry.session == nullptr)
            continue;
        entry.session->disconnect(this);
        entry.session->stopAllRuns();
        entry.session->m_state->saver.finishAndWait();
    }
}

void SessionRegistry::open(const QString &document, WindowId window, Answer<DraftSession *> answer)
{
    State::Entry &entry = m_state->entries[document];
    if (entry.session == nullptr) {
        entry.waiting.push_back({window, std::move(answer)});
        if (entry.waiting.size() == 1)
            m_state->load(document);
        return;
    }
    entry.windows.insert(window);
    entry.closing = false;
    if (entry.linger != nullptr)
        entry.linger->stop();
    answer(entry.session.get());
}

void SessionRegistry::leave(const QString &document, WindowId window)
{
    const auto place = m_state->entries.find(document);
    if (place == m_state->entries.end())
        return;
    State::Entry &entry = place->second;
    std::erase_if(entry.waiting, [window](const State::Waiting &each) { return each.window == window; });
    if (entry.session == nullptr && entry.waiting.empty()) {
        m_state->entries.erase(place);
        return;
    }
    if (entry.windows.erase(window) > 0)
        m_state->release(document, entry);
}

void SessionRegistry::leaveAll(WindowId window)
{
    std::vector<QString> documents;
    for (const auto &[document, entry] : m_state->entries)
        documents.push_back(document);
    for (const QString &document : documents)
        leave(document, window);
}

DraftSession *SessionRegistry::find(const QString &document) const
{
    const auto place = m_state->entries.find(document);
    return place == m_state->entries.end() ? nullptr : place->second.session.get();
}

DraftSession *SessionRegistry::findByRun(const QString &run) const
{
    for (const auto &[document, entry] : m_state->entries) {
        if (entry.session != nullptr && entry.session->m_state->find(run) != nullptr)
            return entry.session.get();
    }
    return nullptr;
}

DraftSession *SessionRegistry::findByProposal(const QString &proposal) const
{
    for (const auto &[document, entry] : m_state->entries) {
        if (entry.session != nullptr && entry.session->draft().proposal(proposal) != nullptr)
            return entry.session.get();
    }
    return nullptr;
}

std::size_t SessionRegistry::openCount() const
{
    return static_cast<std::size_t>(std::count_if(m_state->entries.begin(), m_state->entries.end(),
                                                  [](const auto &entry) { return entry.second.session != nullptr; }));
}

void SessionRegistry::followStore()
{
    for (auto &[document, entry] : m_state->entries) {
        if (entry.session != nullptr)
            entry.session->followStore();
    }
}

void SessionRegistry::forget(const QString &document)
{
    const auto place = m_state->entries.find(document);
    if (place == m_state->entries.end())
        return;
    std::unique_ptr<DraftSession> session = std::move(place->second.session);
    std::vector<State::Waiting> waiting = std::move(place->second.waiting);
    m_state->entries.erase(place);
    for (const State::Waiting &each : waiting)
        each.answer(Error(ErrorKind::NotFound, "the document was deleted", "document"));
    if (session == nullptr)
        return;
    session->m_state->saver.abandon();
    session->stopAllRuns();
    Q_EMIT session->gone();
    m_state->dispose(std::move(session));
}

} // namespace palimpsest::editing
