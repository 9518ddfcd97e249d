// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/model_lookup.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace palimpsest::studio {

/// What a model folder holds and what running it here would take, found out before anything is loaded.
struct ModelCheck
{
    std::filesystem::path directory;
    std::string name;  ///< as programs write it
    std::string sizes; ///< "30 layers, 128 experts a layer, 8 of them for each token"
    std::int64_t weightBytes = 0;
    std::int64_t neededBytes = 0;          ///< of memory where it is computed, about
    std::optional<std::int64_t> freeBytes; ///< of memory; absent where the system does not tell
    bool canChat = false;
    bool onCpu = false;
    std::optional<std::int64_t> cardFreeBytes; ///< of the graphics card's memory, if it computes and tells
    std::string whyNotCuda;                    ///< where the CPU computes and nobody asked for it
    std::optional<double> secondsAStep;        ///< measured and reckoned, for a large model on a CPU alone
    int mostSteps = 0;                         ///< of a canvas
    std::int64_t canvasLength = 0;             ///< tokens

    [[nodiscard]] bool fitsMemory() const noexcept
    {
        const std::optional<std::int64_t> &room = onCpu ? freeBytes : cardFreeBytes;
        return !room || neededBytes <= *room;
    }
    /// To be asked about first: a step takes so long that a canvas takes minutes.
    [[nodiscard]] bool isSlow() const noexcept { return secondsAStep.has_value() && *secondsAStep > 1.0; }
};

/// The parts of a check, for saying how far it is.
enum class CheckStage { Files, Device, Speed };

/// Hears what a check is doing and, where that is known, which part of it is done, 0..1; false gives the check up.
using CheckListener = std::function<bool(CheckStage, std::optional<double>)>;

/// Checks a model folder as loading it would, and reckons what it needs. Takes seconds for a large one. Throws the
/// errors of openModel, Backend where CUDA was asked for and cannot be used, and Backend "cancelled".
[[nodiscard]] ModelCheck checkModel(const ModelOptions &options, const CheckListener &listener);

/// Memory that programs may still take, in bytes.
[[nodiscard]] std::optional<std::int64_t> freeMemoryBytes();

} // namespace palimpsest::studio
