// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/text_edit.h"
#include "engine/canvas.h"
#include "engine/sampler.h"

#include <QString>

#include <cstdint>
#include <optional>

class QJsonObject;

namespace palimpsest {
struct GenerationDefaults;
}

namespace palimpsest::editing {

/// A window of a studio. Windows are numbered by whoever makes them, from 1.
using WindowId = std::int64_t;
inline constexpr WindowId kNobody = 0;

/// What the model is to do with a span of the draft.
enum class RunAction {
    Proofread, ///< passage by passage; an empty span means the whole draft
    Rewrite,   ///< as an instruction says
    Renoise,   ///< a part of the words, or all of them, written anew
    Fill,      ///< something between the texts on both sides of an empty span
    Continue,  ///< what comes next, at the span's start
};

/// "proofread", "rewrite", ...: as messages and the store write it.
[[nodiscard]] QString nameOf(RunAction action);
[[nodiscard]] std::optional<RunAction> runActionFromName(QStringView name);

/// "light", "medium", "full".
[[nodiscard]] QString nameOf(NoiseAmount amount);
[[nodiscard]] std::optional<NoiseAmount> noiseAmountFromName(QStringView name);

/// Sampler settings of which some are given; the others are the model's own.
struct SamplerWish
{
    std::optional<int> maxSteps;
    std::optional<double> tMin;
    std::optional<double> tMax;
    std::optional<double> entropyBound; ///< nats
    std::optional<int> stability;
    std::optional<double> confidence; ///< nats

    /// What is given here, else what is given in `fallback`.
    [[nodiscard]] SamplerWish over(const SamplerWish &fallback) const;
    /// Throws Error InvalidArgument naming the field (as the engine does) for a value out of range.
    [[nodiscard]] SamplerSettings resolved(const GenerationDefaults &defaults) const;

    /// Reads {maxSteps, tMin, tMax, entropyBound, stability, confidence}; other fields are ignored. Throws Error
    /// InvalidArgument ("sampler.tMin") for a value of a wrong kind.
    [[nodiscard]] static SamplerWish fromJson(const QJsonObject &object);
};

[[nodiscard]] SamplerWish wishOf(const SamplerSettings &settings);
/// All six fields, named as in SamplerWish.
[[nodiscard]] QJsonObject toJson(const SamplerSettings &settings);

inline constexpr int kMostAlternatives = 8;

/// A wish for a run, as a window states it.
struct RunWish
{
    RunAction action = RunAction::Rewrite;
    TextSpan span;       ///< in the draft of the version that it is stated for
    QString instruction; ///< Rewrite needs one; Fill, Continue and Renoise may have one
    NoiseAmount amount = NoiseAmount::Medium;
    int alternatives = 1;              ///< up to kMostAlternatives
    std::optional<std::uint64_t> seed; ///< absent: the draft's setting, else a random one
    SamplerWish sampler;
    bool paused = false; ///< begins paused, for stepping
    bool direct = false; ///< the best alternative is written straight in, as one undo step
};

} // namespace palimpsest::editing
