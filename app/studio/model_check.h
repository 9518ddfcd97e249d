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
    std::int64_t neededBytes = 0;          ///< of memory, about
    std::optional<std::int64_t> freeBytes; ///< of memory; absent where the system does not tell
    bool canChat = false;
    bool onCpu = false;
    std::string whyNotCuda;             ///< where the CPU computes and nobody asked for it
    std::optional<double> secondsAStep; ///< measured and reckoned, for a large model on a CPU alone
    int mostSteps = 0;                  ///< of a canvas
    std::int64_t canvasLength = 0;      ///< tokens

    [[nodiscard]] bool fitsMemory() const noexcept { return !freeBytes || neededBytes <= *freeBytes; }
    /// To be asked about first: a step takes so long that a canvas takes minutes.
    [[nodiscard]] bool isSlow() const noexcept { return secondsAStep.has_value() && *secondsAStep > 1.0; }
};

/// The parts of a check, for saying how far it is.
enum class CheckStage { Files, Device, Speed };

/// Checks a model folder as loading it would, and reckons what it needs. Takes seconds for a large one. `next` is told
/// what comes next, and returns false to give up. Throws the errors of openModel, and Backend "cancelled".
[[nodiscard]] ModelCheck checkModel(const ModelOptions &options, const std::function<bool(CheckStage)> &next);

/// Memory that programs may still take, in bytes.
[[nodiscard]] std::optional<std::int64_t> freeMemoryBytes();

} // namespace palimpsest::studio
