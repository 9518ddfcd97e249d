// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document_worker.h"
#include "app/editing/session_registry.h"
#include "app/engine_host.h"
#include "app/server/metrics.h"
#include "app/studio/chat_view.h"
#include "app/studio/draft_view.h"
#include "app/studio/inspector_view.h"
#include "app/studio/key_map.h"
#include "app/studio/library_model.h"
#include "app/studio/log_model.h"
#include "app/studio/model_chooser.h"
#include "app/studio/model_view.h"
#include "app/studio/revisions_model.h"
#include "app/studio/sampler_view.h"
#include "app/studio/server_view.h"
#include "app/studio/tour.h"

#include <QObject>
#include <QString>
#include <QVariantList>
#include <QtQml/qqmlregistration.h>

#include <memory>

class QSettings;

namespace palimpsest::studio {

/// What the program gives its window beyond engine and store. Tests need none of it.
struct StudioExtras
{
    std::shared_ptr<server::Metrics> metrics = std::make_shared<server::Metrics>(); ///< counts what the engine finishes
    std::shared_ptr<LogSink> log = nullptr;                                         ///< null: the log stays empty
    ModelOptions model = {};                                                        ///< as the command line has them
    /// Makes what loads another model; by default from its folder.
    ModelChooser::LoaderMaker makeLoader = {};
};

/// Everything that the window shows, and the objects behind it. The window's QML gets this one object.
class Studio : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the application")

    Q_PROPERTY(palimpsest::studio::LibraryModel *library READ library CONSTANT)
    Q_PROPERTY(palimpsest::studio::DraftView *draft READ draft CONSTANT)
    Q_PROPERTY(palimpsest::studio::InspectorView *inspector READ inspector CONSTANT)
    Q_PROPERTY(palimpsest::studio::ModelView *model READ model CONSTANT)
    Q_PROPERTY(palimpsest::studio::KeyMap *keys READ keys CONSTANT)
    Q_PROPERTY(palimpsest::studio::SamplerView *sampler READ sampler CONSTANT)
    Q_PROPERTY(palimpsest::studio::RevisionsModel *revisions READ revisions CONSTANT)
    Q_PROPERTY(palimpsest::studio::ServerView *server READ server CONSTANT)
    Q_PROPERTY(palimpsest::studio::ModelChooser *chooser READ chooser CONSTANT)
    Q_PROPERTY(palimpsest::studio::ChatView *chat READ chat CONSTANT)
    Q_PROPERTY(palimpsest::studio::LogModel *log READ log CONSTANT)
    Q_PROPERTY(palimpsest::studio::Tour *tour READ tour CONSTANT)
    /// [{id, label, instruction}] of the presets, in the order of their buttons.
    Q_PROPERTY(QVariantList presets READ presets CONSTANT)
    Q_PROPERTY(QString version READ version CONSTANT)
    Q_PROPERTY(QString storeText READ storeText CONSTANT)                  ///< where the drafts are kept
    Q_PROPERTY(QString storeProblem READ storeProblem NOTIFY storeChanged) ///< why they cannot be; "" = they can
    /// The file of drafts is damaged, and can be put aside to begin a new one.
    Q_PROPERTY(bool storeDamaged READ storeDamaged NOTIFY storeChanged)

public:
    /// The engine begins to load, and the store to open, at once; nothing here waits for either.
    /// `settings` is not owned; null: nothing is remembered.
    Studio(std::unique_ptr<EngineHost> engine, documents::StoreOptions store, QSettings *settings,
           StudioExtras extras = {}, QObject *parent = nullptr);
    ~Studio() override; ///< saves; waits for the step in flight and for the disk

    [[nodiscard]] LibraryModel *library() { return &m_library; }
    [[nodiscard]] DraftView *draft() { return &m_draft; }
    [[nodiscard]] InspectorView *inspector() { return &m_inspector; }
    [[nodiscard]] ModelView *model() { return &m_model; }
    [[nodiscard]] KeyMap *keys() { return &m_keys; }
    [[nodiscard]] SamplerView *sampler() { return &m_sampler; }
    [[nodiscard]] RevisionsModel *revisions() { return &m_revisions; }
    [[nodiscard]] ServerView *server() { return &m_server; }
    [[nodiscard]] ModelChooser *chooser() { return &m_chooser; }
    [[nodiscard]] ChatView *chat() { return &m_chat; }
    [[nodiscard]] LogModel *log() { return &m_log; }
    [[nodiscard]] Tour *tour() { return &m_tour; }
    [[nodiscard]] QString storeText() const { return m_storeFile; }
    [[nodiscard]] QString storeProblem() const { return m_storeProblem; }
    [[nodiscard]] bool storeDamaged() const noexcept { return m_storeDamaged; }
    [[nodiscard]] static QVariantList presets();
    [[nodiscard]] static QString version();

    [[nodiscard]] EngineHost &engine() { return *m_engine; }
    [[nodiscard]] documents::DocumentWorker &store() { return m_store; }
    [[nodiscard]] editing::SessionRegistry &sessions() { return m_sessions; }

    Q_INVOKABLE void openDocument(const QString &id);
    Q_INVOKABLE void closeDocument();
    Q_INVOKABLE void retryStore();   ///< opens the drafts again, after something was mended
    Q_INVOKABLE void replaceStore(); ///< puts a damaged file of drafts aside, and begins a new one

Q_SIGNALS:
    /// Something went wrong that no other place shows; a sentence with a way out.
    void problem(const QString &message);
    /// Something was done that is worth a word, and no more.
    void notice(const QString &message);
    void storeChanged();

private:
    void connectLibrary();
    void connectModel();
    Q_INVOKABLE void tellModelFailure();
    void checkStore();
    void storeAnswered(const QString &problem, bool damaged);
    void show(editing::DraftSession *session);
    static constexpr editing::WindowId kWindow = 1; ///< the desktop's; the live channel's windows count from another

    StudioExtras m_extras;
    QString m_storeFile;
    std::unique_ptr<EngineHost> m_engine;
    documents::DocumentWorker m_store;
    documents::DocumentReplies m_replies;
    editing::SessionRegistry m_sessions;
    LibraryModel m_library;
    DraftView m_draft;
    InspectorView m_inspector;
    ModelView m_model;
    KeyMap m_keys;
    SamplerView m_sampler;
    RevisionsModel m_revisions;
    ServerView m_server;
    ModelChooser m_chooser;
    ChatView m_chat;
    LogModel m_log;
    Tour m_tour;
    QString m_storeProblem;
    bool m_storeDamaged = false;
    QString m_opening;     ///< the document that was asked for last
    QString m_toldFailure; ///< of the model
};

} // namespace palimpsest::studio
