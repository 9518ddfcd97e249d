// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/draft_messages.h"

#include "app/server/live/run_messages.h"
#include "app/server/live/server_messages.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace palimpsest::live {

using editing::DraftSession;

namespace {

QJsonArray lockList(const editing::Draft &draft)
{
    QJsonArray list;
    for (const editing::TextSpan lock : draft.locks())
        list.append(spanFields(lock));
    return list;
}

QJsonValue orNull(const std::optional<QString> &text)
{
    return text ? QJsonValue(*text) : QJsonValue();
}

const char *nameOf(documents::Origin origin)
{
    switch (origin) {
    case documents::Origin::Human:
        return "human";
    case documents::Origin::Model:
        return "model";
    case documents::Origin::Restored:
        return "restored";
    case documents::Origin::Imported:
        break;
    }
    return "imported";
}

QJsonObject originFields(const documents::RevisionSummary &revision)
{
    QJsonObject fields{{"kind", QLatin1String(nameOf(revision.origin))}};
    if (revision.run)
        fields.insert("run", QString::fromStdString(*revision.run));
    if (!revision.model)
        return fields;
    const documents::ModelOrigin &model = *revision.model;
    fields.insert("action", QString::fromStdString(model.action));
    fields.insert("model", QString::fromStdString(model.model));
    fields.insert("seed", static_cast<qint64>(model.seed));
    fields.insert("instruction", QString::fromStdString(model.instruction));
    fields.insert("sampler", QJsonDocument::fromJson(QByteArray::fromStdString(model.sampler)).object());
    fields.insert("steps", static_cast<qint64>(model.steps));
    fields.insert("canvases", static_cast<qint64>(model.canvases));
    fields.insert("stop", QString::fromStdString(model.stopReason));
    return fields;
}

QJsonObject revisionFields(const editing::RevisionInfo &revision)
{
    const documents::RevisionSummary &summary = revision.summary;
    return {{"revision", static_cast<qint64>(summary.number)},
            {"parent", summary.parent ? QJsonValue(static_cast<qint64>(*summary.parent)) : QJsonValue()},
            {"created", static_cast<qint64>(summary.createdMs)},
            {"label", QString::fromStdString(summary.label)},
            {"origin", originFields(summary)},
            {"words", static_cast<qint64>(revision.words)}};
}

QJsonObject about(const char *type, const DraftSession &session, QJsonObject fields)
{
    fields.insert("document", session.document());
    return message(type, std::move(fields));
}

} // namespace

QJsonObject spanFields(editing::TextSpan span)
{
    return {{"start", span.start}, {"end", span.end}};
}

QJsonObject documentMessage(const DraftSession &session)
{
    const editing::Draft &draft = session.draft();
    QJsonArray runs;
    for (const editing::RunInfo &run : session.runs())
        runs.append(runFields(run));
    QJsonArray proposals;
    for (const editing::Proposal &proposal : draft.proposals())
        proposals.append(proposalFields(session.document(), draft.version(), proposal));
    const editing::UndoLabels undoable = draft.undoLabels();
    return about("document", session,
                 {{"version", static_cast<qint64>(draft.version())},
                  {"title", session.title()},
                  {"text", draft.text()},
                  {"locks", lockList(draft)},
                  {"runs", runs},
                  {"proposals", proposals},
                  {"undo", orNull(undoable.undo)},
                  {"redo", orNull(undoable.redo)},
                  {"settings", session.settings()},
                  {"revision", static_cast<qint64>(session.saveState().revision)},
                  {"saved", session.saveState().saved}});
}

QJsonObject edited(const DraftSession &session, const editing::AppliedEdit &edit, editing::WindowId by,
                   editing::EditCause cause)
{
    return about("edited", session,
                 {{"version", static_cast<qint64>(edit.version)},
                  {"start", edit.edit.span.start},
                  {"end", edit.edit.span.end},
                  {"text", edit.edit.text},
                  {"by", windowName(by)},
                  {"cause", editing::nameOf(cause)}});
}

QJsonObject titleMessage(const DraftSession &session)
{
    return about("title", session, {{"title", session.title()}});
}

QJsonObject locksMessage(const DraftSession &session)
{
    return about("locks", session,
                 {{"locks", lockList(session.draft())}, {"version", static_cast<qint64>(session.draft().version())}});
}

QJsonObject settingsMessage(const DraftSession &session)
{
    return about("settings", session, {{"settings", session.settings()}});
}

QJsonObject undoableMessage(const DraftSession &session)
{
    const editing::UndoLabels labels = session.draft().undoLabels();
    return about("undoable", session, {{"undo", orNull(labels.undo)}, {"redo", orNull(labels.redo)}});
}

QJsonObject savedMessage(const DraftSession &session)
{
    const editing::SaveState &state = session.saveState();
    QJsonObject fields{{"revision", static_cast<qint64>(state.revision)}, {"saved", state.saved}};
    if (!state.problem.isEmpty())
        fields.insert("problem", state.problem);
    return about("saved", session, std::move(fields));
}

QJsonObject revisionAdded(const DraftSession &session, const editing::RevisionInfo &revision)
{
    return about("revision.added", session, {{"revision", revisionFields(revision)}});
}

QJsonObject documentGone(const QString &document)
{
    return message("document.gone", {{"document", document}});
}

QJsonObject revisionList(const std::vector<editing::RevisionInfo> &revisions)
{
    QJsonArray list;
    for (const editing::RevisionInfo &revision : revisions)
        list.append(revisionFields(revision));
    return {{"revisions", list}};
}

} // namespace palimpsest::live
