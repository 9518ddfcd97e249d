// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/run_wish.h"

#include "engine/error.h"
#include "engine/model_config.h"

#include <QJsonObject>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace palimpsest::editing {

namespace {

constexpr std::array<std::pair<RunAction, const char *>, 5> kActionNames = {{{RunAction::Proofread, "proofread"},
                                                                             {RunAction::Rewrite, "rewrite"},
                                                                             {RunAction::Renoise, "renoise"},
                                                                             {RunAction::Fill, "fill"},
                                                                             {RunAction::Continue, "continue"}}};

constexpr std::array<std::pair<NoiseAmount, const char *>, 3> kAmountNames = {
    {{NoiseAmount::Light, "light"}, {NoiseAmount::Medium, "medium"}, {NoiseAmount::Full, "full"}}};

template <typename Names, typename Value>
QString nameIn(const Names &names, Value value)
{
    for (const auto &[candidate, name] : names) {
        if (candidate == value)
            return QString::fromLatin1(name);
    }
    return {};
}

template <typename Value, typename Names>
std::optional<Value> valueIn(const Names &names, QStringView name)
{
    for (const auto &[value, candidate] : names) {
        if (name == QLatin1String(candidate))
            return value;
    }
    return std::nullopt;
}

std::optional<double> numberOf(const QJsonObject &object, const char *field)
{
    const QJsonValue value = object.value(QLatin1String(field));
    if (value.isUndefined() || value.isNull())
        return std::nullopt;
    const std::string name = std::string("sampler.") + field;
    if (!value.isDouble())
        throw Error(ErrorKind::InvalidArgument, name + " is no number", name);
    return value.toDouble();
}

std::optional<int> countOf(const QJsonObject &object, const char *field)
{
    const std::optional<double> number = numberOf(object, field);
    if (!number)
        return std::nullopt;
    const bool isInt = std::trunc(*number) == *number && std::abs(*number) <= std::numeric_limits<int>::max();
    if (!isInt) {
        const std::string name = std::string("sampler.") + field;
        throw Error(ErrorKind::InvalidArgument, name + " is no whole number", name);
    }
    return static_cast<int>(*number);
}

template <typename Value>
std::optional<Value> firstOf(const std::optional<Value> &first, const std::optional<Value> &second)
{
    return first ? first : second;
}

} // namespace

QString nameOf(RunAction action)
{
    return nameIn(kActionNames, action);
}

std::optional<RunAction> runActionFromName(QStringView name)
{
    return valueIn<RunAction>(kActionNames, name);
}

QString nameOf(NoiseAmount amount)
{
    return nameIn(kAmountNames, amount);
}

std::optional<NoiseAmount> noiseAmountFromName(QStringView name)
{
    return valueIn<NoiseAmount>(kAmountNames, name);
}

SamplerWish SamplerWish::over(const SamplerWish &fallback) const
{
    return {.maxSteps = firstOf(maxSteps, fallback.maxSteps),
            .tMin = firstOf(tMin, fallback.tMin),
            .tMax = firstOf(tMax, fallback.tMax),
            .entropyBound = firstOf(entropyBound, fallback.entropyBound),
            .stability = firstOf(stability, fallback.stability),
            .confidence = firstOf(confidence, fallback.confidence)};
}

SamplerSettings SamplerWish::resolved(const GenerationDefaults &defaults) const
{
    const SamplerSettings settings{.maxDenoisingSteps = maxSteps.value_or(defaults.maxDenoisingSteps),
                                   .tMin = tMin.value_or(defaults.tMin),
                                   .tMax = tMax.value_or(defaults.tMax),
                                   .entropyBoundNats = entropyBound.value_or(defaults.entropyBoundNats),
                                   .stabilityThreshold = stability.value_or(defaults.stabilityThreshold),
                                   .confidenceThresholdNats = confidence.value_or(defaults.confidenceThresholdNats)};
    validate(settings);
    return settings;
}

SamplerWish SamplerWish::fromJson(const QJsonObject &object)
{
    return {.maxSteps = countOf(object, "maxSteps"),
            .tMin = numberOf(object, "tMin"),
            .tMax = numberOf(object, "tMax"),
            .entropyBound = numberOf(object, "entropyBound"),
            .stability = countOf(object, "stability"),
            .confidence = numberOf(object, "confidence")};
}

SamplerWish wishOf(const SamplerSettings &settings)
{
    return {.maxSteps = settings.maxDenoisingSteps,
            .tMin = settings.tMin,
            .tMax = settings.tMax,
            .entropyBound = settings.entropyBoundNats,
            .stability = settings.stabilityThreshold,
            .confidence = settings.confidenceThresholdNats};
}

QJsonObject toJson(const SamplerSettings &settings)
{
    return {{QStringLiteral("maxSteps"), settings.maxDenoisingSteps},
            {QStringLiteral("tMin"), settings.tMin},
            {QStringLiteral("tMax"), settings.tMax},
            {QStringLiteral("entropyBound"), settings.entropyBoundNats},
            {QStringLiteral("stability"), settings.stabilityThreshold},
            {QStringLiteral("confidence"), settings.confidenceThresholdNats}};
}

} // namespace palimpsest::editing
