// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/server_messages.h"

#include "app/editing/draft.h"
#include "app/editing/presets.h"
#include "app/engine_host.h"
#include "engine/error.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace palimpsest::live {

namespace {

const char *codeOf(const Error &error)
{
    switch (error.kind()) {
    case ErrorKind::InvalidArgument:
        return error.subject() == editing::kStaleSubject ? "stale" : "invalid_request";
    case ErrorKind::InvalidInput:
    case ErrorKind::Unsupported:
        return "invalid_request";
    case ErrorKind::NotFound:
        return "not_found";
    case ErrorKind::PermissionDenied:
    case ErrorKind::Io:
        return "storage_failed";
    case ErrorKind::ContextLength:
        return "context_length_exceeded";
    case ErrorKind::QueueFull:
        return "queue_full";
    case ErrorKind::InvalidCheckpoint:
    case ErrorKind::Backend:
        return "model_unavailable";
    case ErrorKind::OutOfMemory:
        break;
    }
    return "server_error";
}

const char *stateOf(const EngineState &engine, const std::optional<DeskStatus> &desk)
{
    switch (engine.phase) {
    case EngineState::Phase::Loading:
        return "loading";
    case EngineState::Phase::Failed:
        return "error";
    case EngineState::Phase::Ready:
        break;
    }
    return desk && desk->running + desk->waiting > 0 ? "busy" : "ready";
}

QJsonObject modelFields(const RunningModel &model)
{
    const bool thinks = model.chat && model.chat->dialect() != ChatDialect::PlainTurns;
    return {{"id", QString::fromStdString(model.id)},
            {"device", QString::fromStdString(model.backend.deviceName)},
            {"deviceKind", QString::fromStdString(model.backend.kind)},
            {"contextLength", static_cast<qint64>(model.contextLength)},
            {"canvasLength", static_cast<qint64>(model.config.canvasLength)},
            {"vocabSize", static_cast<qint64>(model.config.vocabSize)},
            {"weightBytes", static_cast<qint64>(model.backend.weightBytes)},
            {"thinking", thinks},
            {"defaults", editing::toJson(editing::SamplerWish{}.resolved(model.defaults))}};
}

QJsonArray presetList()
{
    QJsonArray list;
    for (const editing::Preset &preset : editing::presets())
        list.append(QJsonObject{{"id", QLatin1String(preset.id)},
                                {"label", QString::fromUtf8(preset.label)},
                                {"action", editing::nameOf(preset.action)},
                                {"instruction", QString::fromUtf8(preset.instruction)}});
    return list;
}

} // namespace

QString textOf(const QJsonObject &message)
{
    return QString::fromUtf8(QJsonDocument(message).toJson(QJsonDocument::Compact));
}

QJsonObject message(const char *type, QJsonObject fields)
{
    fields.insert("type", QLatin1String(type));
    return fields;
}

QJsonObject reply(std::int64_t ref, QJsonObject fields)
{
    fields.insert("ref", static_cast<qint64>(ref));
    return message("reply", std::move(fields));
}

QJsonObject errorMessage(std::optional<std::int64_t> ref, const Problem &problem)
{
    QJsonObject fields{{"code", QString::fromStdString(problem.code)},
                       {"message", QString::fromStdString(problem.message)}};
    if (ref)
        fields.insert("ref", static_cast<qint64>(*ref));
    if (!problem.param.empty())
        fields.insert("param", QString::fromStdString(problem.param));
    return message("error", std::move(fields));
}

Problem problemOf(const Error &error)
{
    const std::string code = codeOf(error);
    return {.code = code, .message = error.what(), .param = code == "invalid_request" ? error.subject() : ""};
}

QJsonObject statusFields(const EngineState &engine, const std::optional<DeskStatus> &desk, int windows)
{
    QJsonObject fields{{"state", QLatin1String(stateOf(engine, desk))},
                       {"progress", engine.phase == EngineState::Phase::Ready ? 1.0 : engine.progress},
                       {"running", desk ? desk->running : 0},
                       {"waiting", desk ? desk->waiting : 0},
                       {"windows", windows},
                       {"stepMs", desk ? desk->lastStepMs : 0.0}};
    if (engine.error)
        fields.insert("problem", QString::fromUtf8(engine.error->what()));
    if (engine.model)
        fields.insert("model", modelFields(*engine.model));
    return fields;
}

QJsonObject hello(editing::WindowId window, const QString &version, const QJsonObject &status)
{
    return message("hello", {{"protocol", 1},
                             {"client", windowName(window)},
                             {"version", version},
                             {"status", status},
                             {"presets", presetList()}});
}

QJsonValue windowName(editing::WindowId window)
{
    return window == editing::kNobody ? QJsonValue() : QJsonValue(QString::number(window));
}

} // namespace palimpsest::live
