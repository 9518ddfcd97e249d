// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/requests.h"

#include "app/server/live/draft_messages.h"
#include "app/server/live/window.h"
#include "engine/error.h"

#include <memory>
#include <utility>

namespace palimpsest::live {

using documents::DocumentStore;
using editing::DraftSession;

Requests::Requests(documents::DocumentWorker &store, editing::SessionRegistry &sessions, Channels &channels,
                   LibraryWatches &library, Counters &counters, QObject *parent)
    : QObject(parent),
      m_store(store),
      m_sessions(sessions),
      m_channels(channels),
      m_library(library),
      m_counters(counters)
{
}

void Requests::handle(Window &window, const ParsedMessage &message)
{
    const Answerer answerer(window, message.ref);
    try {
        if (const auto *problem = std::get_if<Problem>(&message.content)) {
            ++m_counters.messagesRefused;
            answerer.fail(*problem);
            return;
        }
        std::visit([&](const auto &content) { obey(content, answerer); }, std::get<ClientMessage>(message.content));
    } catch (const Error &error) {
        ++m_counters.messagesRefused;
        answerer.fail(error);
    } catch (const std::exception &error) { // the edge: one message must not end the server
        ++m_counters.messagesRefused;
        answerer.fail(Problem{.code = "server_error", .message = error.what(), .param = {}});
    }
}

template <typename Call, typename FieldsOf>
void Requests::change(Call call, const Answerer &answerer, FieldsOf fieldsOf)
{
    m_store.run(std::move(call), m_replies, [this, answerer, fieldsOf = std::move(fieldsOf)](auto done) {
        try {
            answerer.reply(fieldsOf(done.get()));
            m_library.change();
        } catch (const Error &error) {
            answerer.fail(error);
        }
    });
}

namespace {

QJsonObject nothing(const documents::DocumentSummary &)
{
    return {};
}

QJsonObject idOf(const documents::Document &document)
{
    return {{"document", QString::fromStdString(document.summary.id)}};
}

} // namespace

void Requests::obey(const LibraryWatch &wish, const Answerer &answerer)
{
    m_library.watch(*answerer.window(), wish, answerer);
}

void Requests::obey(const DocumentCreate &wish, const Answerer &answerer)
{
    const auto origin = wish.text.isEmpty() ? documents::Origin::Human : documents::Origin::Imported;
    change([title = wish.title.toStdString(), text = wish.text.toStdString(),
            origin](DocumentStore &store) { return store.create(title, text, origin); },
           answerer, idOf);
}

void Requests::obey(const DocumentRename &wish, const Answerer &answerer)
{
    if (DraftSession *session = m_sessions.find(wish.document)) {
        session->rename(wish.title);
        answerer.reply();
        return;
    }
    change([id = wish.document.toStdString(), title = wish.title.toStdString()](
               DocumentStore &store) { return store.save(id, {.title = title}).document; },
           answerer, nothing);
}

void Requests::duplicate(const QString &document, const Answerer &answerer)
{
    whenSaved(document, [this, id = document.toStdString(), answerer] {
        change(
            [id](DocumentStore &store) {
                const std::string title = store.document(id).summary.title;
                return store.duplicate(id, title.empty() ? title : title + " (copy)");
            },
            answerer, idOf);
    });
}

void Requests::erase(const QString &document, const Answerer &answerer)
{
    m_sessions.forget(document);
    change(
        [id = document.toStdString()](DocumentStore &store) {
            store.erase(id);
            return documents::DocumentSummary{};
        },
        answerer, nothing);
}

void Requests::obey(const DocumentOrder &order, const Answerer &answerer)
{
    using Verb = DocumentOrder::Verb;
    const auto version = [](std::int64_t number) {
        return QJsonObject{{"version", static_cast<qint64>(number)}};
    };
    const std::string id = order.document.toStdString();
    switch (order.verb) {
    case Verb::Duplicate:
        return duplicate(order.document, answerer);
    case Verb::Bin:
        return change([id](DocumentStore &store) { return store.moveToBin(id); }, answerer, nothing);
    case Verb::Restore:
        return change([id](DocumentStore &store) { return store.takeFromBin(id); }, answerer, nothing);
    case Verb::Delete:
        return erase(order.document, answerer);
    case Verb::Open:
        return open(order.document, answerer);
    case Verb::Close:
        static_cast<void>(draftOf(order.document, answerer));
        m_channels.leave(order.document, *answerer.window());
        return answerer.reply();
    case Verb::Undo:
        return answerer.reply(version(draftOf(order.document, answerer).undo()));
    case Verb::Redo:
        return answerer.reply(version(draftOf(order.document, answerer).redo()));
    case Verb::UnlockAll:
        draftOf(order.document, answerer).unlockAll();
        return answerer.reply();
    case Verb::ListRevisions:
        return draftOf(order.document, answerer)
            .revisions(answerer.later<std::vector<editing::RevisionInfo>>(revisionList));
    }
}

void Requests::open(const QString &document, const Answerer &answerer)
{
    Window &window = *answerer.window();
    if (window.documents().contains(document)) {
        answerer.reply();
        m_channels.join(draftOf(document, answerer), window); // sends it once more
        return;
    }
    window.hold(); // what it sends next may be about this document
    m_sessions.open(document, window.id(),
                    [this, document, id = window.id(), answerer](std::variant<DraftSession *, Error> opened) {
                        Window *to = answerer.window();
                        if (const auto *error = std::get_if<Error>(&opened)) {
                            answerer.fail(*error);
                        } else if (to == nullptr) {
                            m_sessions.leave(document, id); // it left meanwhile
                        } else {
                            answerer.reply();
                            m_channels.join(*std::get<DraftSession *>(opened), *to);
                        }
                        if (to != nullptr)
                            to->release();
                    });
}

void Requests::obey(const Edit &edit, const Answerer &answerer)
{
    const editing::AppliedEdit applied =
        draftOf(edit.document, answerer)
            .edit(answerer.window()->id(), edit.version, {.span = edit.span, .text = edit.text}, edit.typing);
    QJsonObject fields = spanFields(applied.edit.span);
    fields.insert("version", static_cast<qint64>(applied.version));
    answerer.reply(std::move(fields));
}

void Requests::obey(const Lock &lock, const Answerer &answerer)
{
    answerer.reply(spanFields(draftOf(lock.document, answerer).setLocked(lock.version, lock.span, lock.locked)));
}

void Requests::obey(const ChangeSettings &change, const Answerer &answerer)
{
    draftOf(change.document, answerer).mergeSettings(change.settings);
    answerer.reply();
}

void Requests::obey(const RevisionText &wish, const Answerer &answerer)
{
    draftOf(wish.document, answerer).revisionText(wish.revision, answerer.later<QString>([](const QString &text) {
        return QJsonObject{{"text", text}};
    }));
}

void Requests::obey(const RevisionRestore &wish, const Answerer &answerer)
{
    draftOf(wish.document, answerer)
        .restoreRevision(wish.revision, answerer.later<std::int64_t>([](std::int64_t version) {
            return QJsonObject{{"version", static_cast<qint64>(version)}};
        }));
}

DraftSession &Requests::draftOf(const QString &document, const Answerer &answerer) const
{
    DraftSession *session = answerer.window()->documents().contains(document) ? m_sessions.find(document) : nullptr;
    if (session == nullptr)
        throw Error(ErrorKind::NotFound, "this window has no document " + document.toStdString() + " open", "document");
    return *session;
}

void Requests::whenSaved(const QString &document, const std::function<void()> &next)
{
    DraftSession *session = m_sessions.find(document);
    const auto isSettled = [](const DraftSession &draft) {
        return draft.saveState().saved || !draft.saveState().problem.isEmpty(); // then the store says why not
    };
    if (session == nullptr || isSettled(*session)) {
        next();
        return;
    }
    const auto connection = std::make_shared<QMetaObject::Connection>();
    *connection = connect(session, &DraftSession::saveStateChanged, this, [session, isSettled, connection, next] {
        if (!isSettled(*session) || !disconnect(*connection))
            return;
        next();
    });
}

} // namespace palimpsest::live
