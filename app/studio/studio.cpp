// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/studio.h"

#include "app/documents/store_error.h"
#include "app/editing/presets.h"
#include "app/version.h"

#include <spdlog/spdlog.h>
#include <utility>
#include <variant>

namespace palimpsest::studio {

namespace {

StudioExtras completed(StudioExtras extras)
{
    if (!extras.makeLoader) {
        extras.makeLoader = [metrics = extras.metrics](const ModelOptions &options) {
            EngineChoice choice;
            choice.model = options;
            choice.onFinished = [metrics](const FinishedRun &run) {
                metrics->runFinished(run);
            };
            return engineLoader(std::move(choice));
        };
    }
    return extras;
}

} // namespace

Studio::Studio(std::unique_ptr<EngineHost> engine, documents::StoreOptions store, QSettings *settings,
               StudioExtras extras, QObject *parent)
    : QObject(parent),
      m_extras(completed(std::move(extras))),
      m_storeFile(QString::fromStdString(store.file.string())),
      m_engine(std::move(engine)),
      m_store(std::move(store)),
      m_sessions(*m_engine, m_store),
      m_library(m_store),
      m_model(*m_engine),
      m_keys(settings),
      m_sampler(*m_engine),
      m_server(*m_engine, m_store, *m_extras.metrics, settings),
      m_chooser(*m_engine, m_extras.model, m_extras.makeLoader, settings),
      m_chat(*m_engine, m_draft),
      m_log(m_extras.log),
      m_tour(settings)
{
    connectLibrary();
    connectModel();
    m_draft.page()->setKeyMap(&m_keys);
    connect(&m_draft, &DraftView::problem, this, &Studio::problem);
    connect(&m_revisions, &RevisionsModel::problem, this, &Studio::problem);
    connect(&m_inspector, &InspectorView::problem, this, &Studio::problem);
    connect(&m_chat, &ChatView::problem, this, &Studio::problem);
    connect(&m_tour, &Tour::sampleWanted, this, [this] { m_library.create(Tour::sampleTitle(), Tour::sampleText()); });
    m_server.restore();
    checkStore();
}

void Studio::connectLibrary()
{
    connect(&m_sessions, &editing::SessionRegistry::libraryChanged, &m_library, &LibraryModel::refresh);
    connect(&m_sessions, &editing::SessionRegistry::libraryChanged, &m_server, &ServerView::ringLibrary);
    connect(&m_library, &LibraryModel::changedOnDisk, &m_server, &ServerView::ringLibrary);
    connect(&m_server, &ServerView::libraryChanged, &m_library, &LibraryModel::refresh);
    connect(&m_server, &ServerView::libraryChanged, &m_sessions, &editing::SessionRegistry::followStore);
    connect(&m_library, &LibraryModel::created, this, &Studio::openDocument);
    connect(&m_library, &LibraryModel::problem, this, &Studio::problem);
    connect(&m_library, &LibraryModel::exported, this,
            [this](const QUrl &file) { Q_EMIT notice(tr("Written to %1").arg(file.toLocalFile())); });
    connect(&m_library, &LibraryModel::erasing, this, [this](const QString &id) {
        if (m_draft.document() == id)
            closeDocument();
        m_sessions.forget(id);
    });
    connect(&m_library, &LibraryModel::binned, this, [this](const QString &id) {
        if (m_draft.document() == id)
            closeDocument();
    });
}

void Studio::connectModel()
{
    connect(&m_sampler, &SamplerView::problem, this, &Studio::problem);
    connect(&m_model, &ModelView::changed, &m_sampler, &SamplerView::modelChanged);
    connect(&m_model, &ModelView::changed, &m_chat, &ChatView::engineChanged);
    connect(&m_inspector, &InspectorView::frameChanged, this,
            [this] { m_draft.page()->setPreview(m_inspector.preview()); });
    connect(&m_draft, &DraftView::historyLeft, &m_inspector, &InspectorView::follow);
    connect(&m_model, &ModelView::changed, this, &Studio::tellModelFailure);
    QMetaObject::invokeMethod(this, "tellModelFailure", Qt::QueuedConnection); // it may have been quick
}

void Studio::tellModelFailure()
{
    const QString text = m_model.phase() == ModelView::Phase::Failed ? m_model.problemText() : QString();
    if (std::exchange(m_toldFailure, text) == text || text.isEmpty())
        return;
    spdlog::error("there is no model: {}", text.toStdString());
    Q_EMIT problem(tr("There is no model now, but you can write and read. %1").arg(text));
}

void Studio::checkStore()
{
    m_store.run([](documents::DocumentStore &) {}, m_replies,
                [this](std::future<void> opened) {
                    try {
                        opened.get();
                        storeAnswered({}, false);
                    } catch (const documents::StoreError &error) {
                        storeAnswered(QString::fromUtf8(error.what()), error.fault() == documents::StoreFault::Damaged);
                    } catch (const Error &error) {
                        storeAnswered(QString::fromUtf8(error.what()), false);
                    }
                });
}

void Studio::storeAnswered(const QString &problem, bool damaged)
{
    const bool mended = !m_storeProblem.isEmpty() && problem.isEmpty();
    m_storeProblem = problem;
    m_storeDamaged = damaged;
    Q_EMIT storeChanged();
    if (mended)
        m_library.refresh();
}

void Studio::retryStore()
{
    (void)m_store.reopen(); // what comes of it, the next call finds
    checkStore();
}

void Studio::replaceStore()
{
    (void)m_store.replaceDamaged();
    checkStore();
}

Studio::~Studio()
{
    show(nullptr);
}

void Studio::show(editing::DraftSession *session)
{
    m_draft.setSession(session, session == nullptr ? editing::kNobody : kWindow);
    m_inspector.setSession(session);
    m_sampler.setSession(session);
    m_revisions.setSession(session);
}

QVariantList Studio::presets()
{
    QVariantList list;
    for (const editing::Preset &preset : editing::presets())
        list << QVariantMap{{QStringLiteral("id"), QString::fromUtf8(preset.id)},
                            {QStringLiteral("label"), tr(preset.label)},
                            {QStringLiteral("instruction"), QString::fromUtf8(preset.instruction)}};
    return list;
}

QString Studio::version()
{
    return QString::fromLatin1(kVersion);
}

void Studio::openDocument(const QString &id)
{
    if (id.isEmpty() || id == m_draft.document())
        return;
    m_opening = id;
    m_sessions.open(id, kWindow, [this, id](const std::variant<editing::DraftSession *, Error> &answer) {
        if (const auto *error = std::get_if<Error>(&answer)) {
            Q_EMIT problem(QString::fromUtf8(error->what()));
            return;
        }
        if (id != m_opening) { // somebody clicked on another one meanwhile
            m_sessions.leave(id, kWindow);
            return;
        }
        const QString before = m_draft.document();
        editing::DraftSession *session = std::get<editing::DraftSession *>(answer);
        connect(session, &editing::DraftSession::gone, this, &Studio::closeDocument, Qt::UniqueConnection);
        show(session);
        if (!before.isEmpty() && before != id)
            m_sessions.leave(before, kWindow);
    });
}

void Studio::closeDocument()
{
    const QString id = m_draft.document();
    m_opening.clear();
    show(nullptr);
    if (!id.isEmpty())
        m_sessions.leave(id, kWindow);
}

} // namespace palimpsest::studio
