// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/stored_run.h"

#include "app/documents/document_store.h"
#include "app/editing/utf8_text.h"
#include "engine/error.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <array>
#include <utility>

namespace palimpsest::editing {

namespace {

QJsonObject jsonOf(const CanvasLayout &layout)
{
    QJsonObject object{{QStringLiteral("dropsLeadingSpace"), layout.dropsLeadingSpace},
                       {QStringLiteral("trimsFront"), layout.trimsFront},
                       {QStringLiteral("crLf"), layout.crLf}};
    if (layout.gapBegin)
        object.insert(QStringLiteral("gapBegin"), static_cast<qint64>(*layout.gapBegin));
    if (layout.gapEnd)
        object.insert(QStringLiteral("gapEnd"), static_cast<qint64>(*layout.gapEnd));
    QJsonArray held;
    for (const HeldLetters &letters : layout.held)
        held.append(QJsonObject{{QStringLiteral("begin"), static_cast<qint64>(letters.begin)},
                                {QStringLiteral("end"), static_cast<qint64>(letters.end)},
                                {QStringLiteral("text"), fromUtf8(letters.text)}});
    object.insert(QStringLiteral("held"), held);
    return object;
}

CanvasLayout layoutOf(const QJsonValue &value, const std::vector<TokenId> &endIds)
{
    CanvasLayout layout;
    layout.endIds = endIds;
    layout.dropsLeadingSpace = value[QStringLiteral("dropsLeadingSpace")].toBool();
    layout.trimsFront = value[QStringLiteral("trimsFront")].toBool();
    layout.crLf = value[QStringLiteral("crLf")].toBool();
    if (const QJsonValue begin = value[QStringLiteral("gapBegin")]; begin.isDouble())
        layout.gapBegin = begin.toInteger();
    if (const QJsonValue end = value[QStringLiteral("gapEnd")]; end.isDouble())
        layout.gapEnd = end.toInteger();
    for (const auto &letters : value[QStringLiteral("held")].toArray())
        layout.held.push_back({letters[QStringLiteral("begin")].toInteger(), letters[QStringLiteral("end")].toInteger(),
                               toUtf8(letters[QStringLiteral("text")].toString())});
    return layout;
}

QJsonArray stopsJson(const std::vector<CanvasCurve> &canvases)
{
    QJsonArray array;
    for (const CanvasCurve &canvas : canvases)
        array.append(canvas.stop ? QJsonValue(static_cast<int>(*canvas.stop)) : QJsonValue());
    return array;
}

std::optional<CanvasStop> stopOf(const QJsonValue &value)
{
    constexpr std::array kStops = {CanvasStop::Converged, CanvasStop::StepCap, CanvasStop::Cancelled};
    const int number = value.toInt(-1);
    if (number < 0 || number >= static_cast<int>(kStops.size()))
        return std::nullopt;
    return kStops[static_cast<std::size_t>(number)];
}

[[noreturn]] void notThere(const std::string &why)
{
    throw Error(ErrorKind::NotFound, "the history of this run cannot be shown: " + why, "run");
}

} // namespace

std::string runMetadata(const DraftRun &run)
{
    const RunInfo info = run.info();
    const RunCurves curves = run.history().curves();
    QJsonArray lanes;
    for (std::size_t lane = 0; lane < run.plan().lanes().size(); ++lane)
        lanes.append(QJsonObject{{QStringLiteral("layout"), jsonOf(run.plan().lanes()[lane].layout)},
                                 {QStringLiteral("stops"), stopsJson(curves[lane])}});
    QJsonArray endIds;
    for (const TokenId id : run.plan().lanes().front().layout.endIds)
        endIds.append(id);
    const QJsonObject object{{QStringLiteral("action"), nameOf(info.action)},
                             {QStringLiteral("instruction"), info.instruction},
                             {QStringLiteral("seed"), QString::number(info.seed)},
                             {QStringLiteral("sampler"), toJson(info.sampler)},
                             {QStringLiteral("model"), run.modelId()},
                             {QStringLiteral("endIds"), endIds},
                             {QStringLiteral("lanes"), lanes}};
    return QJsonDocument(object).toJson(QJsonDocument::Compact).toStdString();
}

std::shared_ptr<RunHistory> loadHistory(const documents::DocumentStore &store, const documents::OpaqueId &document,
                                        const documents::OpaqueId &run, const std::string &model,
                                        const std::shared_ptr<const Tokenizer> &tokenizer)
{
    const std::vector<documents::RunSummary> runs = store.runs(document);
    const auto summary = std::find_if(runs.begin(), runs.end(),
                                      [&run](const documents::RunSummary &candidate) { return candidate.id == run; });
    if (summary == runs.end())
        notThere("the draft has none of this name");
    if (summary->pruned)
        notThere("it was dropped to make room for newer ones");
    const QJsonDocument json = QJsonDocument::fromJson(QByteArray::fromStdString(summary->metadata));
    const QJsonObject metadata = json.object();
    if (metadata[QStringLiteral("model")].toString().toStdString() != model)
        notThere("it was made by the model " + metadata[QStringLiteral("model")].toString().toStdString());
    std::vector<TokenId> endIds;
    for (const auto &id : metadata[QStringLiteral("endIds")].toArray())
        endIds.push_back(id.toInt());
    const QJsonArray lanes = metadata[QStringLiteral("lanes")].toArray();
    std::vector<std::shared_ptr<const CanvasView>> views;
    for (const auto &lane : lanes)
        views.push_back(std::make_shared<CanvasView>(tokenizer, layoutOf(lane[QStringLiteral("layout")], endIds)));
    auto history = std::make_shared<RunHistory>(std::move(views));
    const int maxSteps = metadata[QStringLiteral("sampler")][QStringLiteral("maxSteps")].toInt();
    for (std::size_t lane = 0; lane < history->lanes(); ++lane) {
        const QJsonArray stops = lanes[static_cast<qsizetype>(lane)][QStringLiteral("stops")].toArray();
        for (std::int64_t canvas = 0;; ++canvas) {
            std::vector<RecordedStep> steps;
            for (const documents::StepRecord &step : store.steps(run, RunHistory::storedCanvas(lane, canvas)))
                steps.push_back(fromStored(step, maxSteps));
            if (steps.empty())
                break;
            history->restore(lane, canvas, std::move(steps));
            if (const std::optional<CanvasStop> stop = stopOf(stops.at(static_cast<qsizetype>(canvas))))
                history->settle(lane, canvas, *stop);
        }
    }
    return history;
}

} // namespace palimpsest::editing
