// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/run_messages.h"

#include "app/server/live/draft_messages.h"
#include "app/server/live/server_messages.h"

#include <QJsonArray>

#include <cmath>

namespace palimpsest::live {

namespace {

template <typename Value>
QJsonValue orNull(const std::optional<Value> &value)
{
    return value ? QJsonValue(*value) : QJsonValue();
}

QJsonArray stopNames(const std::vector<CanvasStop> &stops)
{
    QJsonArray names;
    for (const CanvasStop stop : stops)
        names.append(editing::nameOf(stop));
    return names;
}

template <typename Value>
QJsonArray numbers(const std::vector<Value> &values)
{
    QJsonArray list;
    for (const Value value : values)
        list.append(static_cast<double>(value));
    return list;
}

QJsonObject laneFields(const editing::LaneInfo &lane)
{
    QJsonObject fields = spanFields(lane.span);
    fields.insert("state", editing::nameOf(lane.state));
    fields.insert("canvases", lane.canvases);
    fields.insert("prefill", QJsonObject{{"done", static_cast<qint64>(lane.promptDone)},
                                         {"total", static_cast<qint64>(lane.promptTotal)}});
    return fields;
}

QJsonObject figureFields(const editing::RunFigures &figures)
{
    return {{"steps", static_cast<qint64>(figures.steps)},
            {"canvases", static_cast<qint64>(figures.canvases)},
            {"stepMs", figures.stepMs},
            {"firstDraftMs", figures.firstDraftMs},
            {"totalMs", figures.totalMs},
            {"wordsPerSecond", orNull(figures.wordsPerSecond)},
            {"tokensPerSecond", orNull(figures.tokensPerSecond)},
            {"promptTokens", static_cast<qint64>(figures.promptTokens)},
            {"reusedTokens", static_cast<qint64>(figures.reusedTokens)}};
}

QJsonArray alternativeList(const std::vector<editing::ProposalAlternative> &alternatives)
{
    QJsonArray list;
    for (const editing::ProposalAlternative &alternative : alternatives)
        list.append(QJsonObject{{"text", alternative.text},
                                {"seed", static_cast<qint64>(alternative.seed)},
                                {"meanEntropy", orNull(alternative.meanEntropy)},
                                {"stops", stopNames(alternative.stops)}});
    return list;
}

QJsonArray changeList(const std::vector<editing::ProposalChange> &changes)
{
    QJsonArray list;
    for (const editing::ProposalChange &change : changes) {
        QJsonObject fields = spanFields(change.span);
        fields.insert("text", change.text);
        fields.insert("original", change.original);
        fields.insert("state", editing::nameOf(change.state));
        list.append(fields);
    }
    return list;
}

void appendQuoted(QString &out, const QString &text)
{
    out += QLatin1Char('"');
    for (const QChar c : text) {
        if (c == QLatin1Char('"') || c == QLatin1Char('\\'))
            out += QLatin1Char('\\');
        if (c < QLatin1Char(' '))
            out += QStringLiteral("\\u%1").arg(c.unicode(), 4, 16, QLatin1Char('0'));
        else
            out += c;
    }
    out += QLatin1Char('"');
}

void appendNumber(QString &out, const char *name, double value)
{
    constexpr int kDigits = 6; // as many as anybody looks at
    out += QStringLiteral(",\"") + QLatin1String(name) + QStringLiteral("\":");
    out += std::isfinite(value) ? QString::number(value, 'g', kDigits) : QStringLiteral("0");
}

void appendNumber(QString &out, const char *name, std::int64_t value)
{
    out += QStringLiteral(",\"") + QLatin1String(name) + QStringLiteral("\":") + QString::number(value);
}

template <typename Values, typename Append>
void appendList(QString &out, const char *name, const Values &values, const Append &append)
{
    out += QStringLiteral(",\"") + QLatin1String(name) + QStringLiteral("\":[");
    bool isFirst = true;
    for (const auto &value : values) {
        if (!isFirst)
            out += QLatin1Char(',');
        isFirst = false;
        append(value);
    }
    out += QLatin1Char(']');
}

void appendFrame(QString &out, const QString &run, const editing::Frame &frame)
{
    out += QStringLiteral("\"run\":");
    appendQuoted(out, run);
    appendNumber(out, "lane", std::int64_t{frame.lane});
    appendNumber(out, "canvas", frame.canvas);
    appendNumber(out, "step", std::int64_t{frame.step});
    appendNumber(out, "maxSteps", std::int64_t{frame.maxSteps});
    appendNumber(out, "n", std::int64_t{frame.positions()});
    out += QStringLiteral(",\"show\":[%1,%2]").arg(frame.showBegin).arg(frame.showEnd);
    appendList(out, "text", frame.text, [&](const QString &text) { appendQuoted(out, text); });
    appendList(out, "entropy", frame.entropy, [&](std::uint16_t hundredths) { out += QString::number(hundredths); });
    out += QStringLiteral(",\"marks\":\"") + QLatin1String(frame.marks) + QLatin1Char('"');
    appendNumber(out, "meanEntropy", frame.meanEntropy);
    appendNumber(out, "accepted", std::int64_t{frame.accepted});
    appendNumber(out, "settled", std::int64_t{frame.settled});
    appendNumber(out, "held", std::int64_t{frame.held});
    appendNumber(out, "stepMs", frame.stepMs);
    appendNumber(out, "elapsedMs", frame.elapsedMs);
    out += QStringLiteral(",\"last\":") + (frame.last ? QStringLiteral("true") : QStringLiteral("false"));
}

QString frameObject(QStringView beginning, const QString &run, const editing::Frame &frame)
{
    constexpr qsizetype kUnitsAPosition = 16;
    QString out;
    out.reserve(512 + kUnitsAPosition * frame.positions());
    out += beginning;
    appendFrame(out, run, frame);
    out += QLatin1Char('}');
    return out;
}

} // namespace

QJsonObject runFields(const editing::RunInfo &run)
{
    QJsonArray lanes;
    for (const editing::LaneInfo &lane : run.lanes)
        lanes.append(laneFields(lane));
    QJsonObject fields = spanFields(run.span);
    fields.insert("run", run.run);
    fields.insert("document", run.document);
    fields.insert("action", editing::nameOf(run.action));
    fields.insert("instruction", run.instruction);
    fields.insert("seed", static_cast<qint64>(run.seed));
    fields.insert("sampler", editing::toJson(run.sampler));
    fields.insert("state", editing::nameOf(run.state));
    fields.insert("position", run.position);
    fields.insert("lanes", lanes);
    fields.insert("ahead", QJsonObject{{"characters", run.ahead.characters}, {"total", run.ahead.total}});
    if (!run.problem.isEmpty())
        fields.insert("problem", run.problem);
    if (run.figures)
        fields.insert("figures", figureFields(*run.figures));
    if (!run.proposal.isEmpty())
        fields.insert("proposal", run.proposal);
    return fields;
}

QJsonObject settled(const QString &run, const editing::SettledPiece &piece)
{
    return message("settled", {{"run", run},
                               {"lane", piece.lane},
                               {"canvas", static_cast<qint64>(piece.canvas)},
                               {"text", piece.text},
                               {"steps", piece.steps},
                               {"stop", editing::nameOf(piece.stop)}});
}

QJsonObject proposalFields(const QString &document, std::int64_t version, const editing::Proposal &proposal)
{
    const editing::ProposalOrigin &origin = proposal.origin;
    QJsonObject fields = spanFields(proposal.span);
    fields.insert("proposal", proposal.id);
    fields.insert("run", proposal.run);
    fields.insert("document", document);
    fields.insert("version", static_cast<qint64>(version));
    fields.insert("action", editing::nameOf(proposal.action));
    fields.insert("original", proposal.original);
    fields.insert("chosen", static_cast<qint64>(proposal.chosen));
    fields.insert("alternatives", alternativeList(proposal.alternatives));
    fields.insert("changes", changeList(proposal.changes));
    fields.insert("origin", QJsonObject{{"model", origin.model},
                                        {"seed", static_cast<qint64>(origin.seed)},
                                        {"sampler", editing::toJson(origin.sampler)},
                                        {"instruction", origin.instruction},
                                        {"steps", static_cast<qint64>(origin.steps)},
                                        {"canvases", static_cast<qint64>(origin.canvases)},
                                        {"stops", stopNames(origin.stops)}});
    fields.insert("state", editing::nameOf(proposal.state));
    if (!proposal.note.isEmpty())
        fields.insert("note", proposal.note);
    return fields;
}

QJsonObject alternativeFields(const editing::PositionAlternatives &alternatives)
{
    QJsonArray list;
    for (const editing::PositionAlternatives::Choice &choice : alternatives.choices)
        list.append(QJsonObject{{"id", choice.id}, {"text", choice.text}, {"probability", choice.probability}});
    return {{"entropy", alternatives.entropy}, {"alternatives", list}};
}

QJsonObject curveFields(const editing::RunCurves &curves)
{
    QJsonArray lanes;
    for (const std::vector<editing::CanvasCurve> &lane : curves) {
        QJsonArray canvases;
        for (const editing::CanvasCurve &canvas : lane)
            canvases.append(QJsonObject{{"steps", canvas.steps},
                                        {"maxSteps", canvas.maxSteps},
                                        {"stop", canvas.stop ? editing::nameOf(*canvas.stop) : QJsonValue()},
                                        {"meanEntropy", numbers(canvas.meanEntropy)},
                                        {"accepted", numbers(canvas.accepted)},
                                        {"stepMs", numbers(canvas.stepMs)}});
        lanes.append(QJsonObject{{"canvases", canvases}});
    }
    return {{"lanes", lanes}};
}

QString frameText(const QString &run, const editing::Frame &frame)
{
    return frameObject(u"{", run, frame);
}

QString frameMessage(const QString &run, const editing::Frame &frame)
{
    return frameObject(u"{\"type\":\"frame\",", run, frame);
}

} // namespace palimpsest::live
