// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/stored_proposal.h"

#include "app/editing/utf8_text.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <array>
#include <cmath>

namespace palimpsest::editing {

namespace {

constexpr std::array kStops = {CanvasStop::Converged, CanvasStop::StepCap, CanvasStop::Cancelled};
constexpr std::array kChangeStates = {ChangeState::Open, ChangeState::Accepted, ChangeState::Rejected};

QJsonArray jsonOf(const std::vector<CanvasStop> &stops)
{
    QJsonArray array;
    for (const CanvasStop stop : stops)
        array.append(nameOf(stop));
    return array;
}

std::vector<CanvasStop> stopsOf(const QJsonValue &value)
{
    std::vector<CanvasStop> stops;
    for (const auto &name : value.toArray()) {
        const auto *stop = std::find_if(kStops.begin(), kStops.end(),
                                        [&name](CanvasStop candidate) { return nameOf(candidate) == name.toString(); });
        stops.push_back(stop == kStops.end() ? CanvasStop::Cancelled : *stop);
    }
    return stops;
}

/// As text: a JSON number does not hold 64 bits.
QString textOf(std::uint64_t seed)
{
    return QString::number(seed);
}

QJsonArray jsonOf(const std::vector<ProposalAlternative> &alternatives)
{
    QJsonArray array;
    for (const ProposalAlternative &alternative : alternatives) {
        QJsonObject object{{QStringLiteral("text"), alternative.text},
                           {QStringLiteral("seed"), textOf(alternative.seed)},
                           {QStringLiteral("stops"), jsonOf(alternative.stops)}};
        if (alternative.meanEntropy)
            object.insert(QStringLiteral("meanEntropy"), *alternative.meanEntropy);
        array.append(object);
    }
    return array;
}

std::vector<ProposalAlternative> alternativesOf(const QJsonValue &value)
{
    std::vector<ProposalAlternative> alternatives;
    for (const auto &entry : value.toArray()) {
        const QJsonValue entropy = entry[QStringLiteral("meanEntropy")];
        alternatives.push_back({.text = entry[QStringLiteral("text")].toString(),
                                .seed = entry[QStringLiteral("seed")].toString().toULongLong(),
                                .meanEntropy = entropy.isDouble() ? std::optional(entropy.toDouble()) : std::nullopt,
                                .stops = stopsOf(entry[QStringLiteral("stops")])});
    }
    return alternatives;
}

QJsonArray jsonOf(const std::vector<ProposalChange> &changes, qsizetype start)
{
    QJsonArray array;
    for (const ProposalChange &change : changes)
        array.append(QJsonObject{{QStringLiteral("start"), static_cast<qint64>(change.span.start - start)},
                                 {QStringLiteral("end"), static_cast<qint64>(change.span.end - start)},
                                 {QStringLiteral("text"), change.text},
                                 {QStringLiteral("original"), change.original},
                                 {QStringLiteral("state"), nameOf(change.state)}});
    return array;
}

/// Positions count from the start of the proposal, so that it can be found again elsewhere.
std::vector<ProposalChange> changesOf(const QJsonValue &value, TextSpan place)
{
    std::vector<ProposalChange> changes;
    for (const auto &entry : value.toArray()) {
        const QString name = entry[QStringLiteral("state")].toString();
        const auto *state = std::find_if(kChangeStates.begin(), kChangeStates.end(),
                                         [&name](ChangeState candidate) { return nameOf(candidate) == name; });
        const TextSpan span{place.start + entry[QStringLiteral("start")].toInteger(),
                            place.start + entry[QStringLiteral("end")].toInteger()};
        if (state == kChangeStates.end() || span.start < place.start || span.end < span.start || span.end > place.end)
            return {};
        changes.push_back(
            {span, entry[QStringLiteral("text")].toString(), entry[QStringLiteral("original")].toString(), *state});
    }
    return changes;
}

QJsonObject jsonOf(const ProposalOrigin &origin)
{
    return {{QStringLiteral("model"), origin.model},
            {QStringLiteral("seed"), textOf(origin.seed)},
            {QStringLiteral("sampler"), toJson(origin.sampler)},
            {QStringLiteral("instruction"), origin.instruction},
            {QStringLiteral("amount"), nameOf(origin.amount)},
            {QStringLiteral("steps"), static_cast<qint64>(origin.steps)},
            {QStringLiteral("canvases"), static_cast<qint64>(origin.canvases)},
            {QStringLiteral("stops"), jsonOf(origin.stops)}};
}

SamplerSettings samplerOf(const QJsonValue &value)
{
    const SamplerSettings usual;
    return {.maxDenoisingSteps = value[QStringLiteral("maxSteps")].toInt(usual.maxDenoisingSteps),
            .tMin = value[QStringLiteral("tMin")].toDouble(usual.tMin),
            .tMax = value[QStringLiteral("tMax")].toDouble(usual.tMax),
            .entropyBoundNats = value[QStringLiteral("entropyBound")].toDouble(usual.entropyBoundNats),
            .stabilityThreshold = value[QStringLiteral("stability")].toInt(usual.stabilityThreshold),
            .confidenceThresholdNats = value[QStringLiteral("confidence")].toDouble(usual.confidenceThresholdNats)};
}

ProposalOrigin originOf(const QJsonValue &value)
{
    return {.model = value[QStringLiteral("model")].toString(),
            .seed = value[QStringLiteral("seed")].toString().toULongLong(),
            .sampler = samplerOf(value[QStringLiteral("sampler")]),
            .instruction = value[QStringLiteral("instruction")].toString(),
            .amount = noiseAmountFromName(value[QStringLiteral("amount")].toString()).value_or(NoiseAmount::Medium),
            .steps = value[QStringLiteral("steps")].toInteger(),
            .canvases = value[QStringLiteral("canvases")].toInteger(),
            .stops = stopsOf(value[QStringLiteral("stops")])};
}

documents::ProposalState storedState(ProposalState state)
{
    switch (state) {
    case ProposalState::Open:
        return documents::ProposalState::Open;
    case ProposalState::Accepted:
        return documents::ProposalState::Accepted;
    case ProposalState::Rejected:
        return documents::ProposalState::Rejected;
    case ProposalState::Dropped:
        break;
    }
    return documents::ProposalState::Dropped;
}

/// Where the text that stood in the proposal's span stands now: at its place, else the nearest one.
std::optional<TextSpan> placeOf(const QString &standing, qsizetype start, const QString &text)
{
    const qsizetype length = standing.size();
    if (start >= 0 && start + length <= text.size() && QStringView(text).mid(start, length) == standing)
        return TextSpan{start, start + length};
    if (standing.isEmpty())
        return std::nullopt; // an empty place could be anywhere
    std::optional<qsizetype> nearest;
    for (qsizetype found = text.indexOf(standing); found >= 0; found = text.indexOf(standing, found + 1)) {
        if (!nearest || std::abs(found - start) < std::abs(*nearest - start))
            nearest = found;
    }
    return nearest ? std::optional(TextSpan{*nearest, *nearest + length}) : std::nullopt;
}

} // namespace

documents::Proposal toStored(const Proposal &proposal, const QString &standing)
{
    const QJsonObject object{{QStringLiteral("id"), proposal.id},
                             {QStringLiteral("action"), nameOf(proposal.action)},
                             {QStringLiteral("standing"), standing},
                             {QStringLiteral("chosen"), static_cast<qint64>(proposal.chosen)},
                             {QStringLiteral("alternatives"), jsonOf(proposal.alternatives)},
                             {QStringLiteral("changes"), jsonOf(proposal.changes, proposal.span.start)},
                             {QStringLiteral("origin"), jsonOf(proposal.origin)},
                             {QStringLiteral("note"), proposal.note}};
    documents::Proposal stored;
    stored.state = storedState(proposal.state);
    stored.begin = proposal.span.start;
    stored.end = proposal.span.end;
    stored.original = toUtf8(proposal.original);
    stored.proposed = toUtf8(proposal.alternatives[proposal.chosen].text);
    stored.changes = QJsonDocument(object).toJson(QJsonDocument::Compact).toStdString();
    return stored;
}

std::optional<Proposal> fromStored(const documents::Proposal &stored, const QString &text)
{
    const QJsonDocument document = QJsonDocument::fromJson(QByteArray::fromStdString(stored.changes));
    const QJsonObject object = document.object();
    const std::optional<RunAction> action = runActionFromName(object[QStringLiteral("action")].toString());
    Proposal proposal;
    proposal.id = object[QStringLiteral("id")].toString();
    proposal.alternatives = alternativesOf(object[QStringLiteral("alternatives")]);
    proposal.chosen = static_cast<std::size_t>(object[QStringLiteral("chosen")].toInteger());
    if (!action || proposal.id.isEmpty() || proposal.chosen >= proposal.alternatives.size())
        return std::nullopt;
    proposal.action = *action;
    proposal.run = stored.run ? QString::fromStdString(*stored.run) : QString();
    proposal.original = fromUtf8(stored.original);
    proposal.origin = originOf(object[QStringLiteral("origin")]);
    proposal.note = object[QStringLiteral("note")].toString();
    const std::optional<TextSpan> place =
        placeOf(object[QStringLiteral("standing")].toString(), static_cast<qsizetype>(stored.begin), text);
    proposal.span = place.value_or(TextSpan{});
    if (place)
        proposal.changes = changesOf(object[QStringLiteral("changes")], *place);
    if (proposal.changes.empty()) {
        proposal.state = ProposalState::Dropped;
        proposal.note = QStringLiteral("The text that this was meant for is no longer there.");
    }
    return proposal;
}

} // namespace palimpsest::editing
