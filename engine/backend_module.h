// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/checkpoint.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace palimpsest {

/// What a loadable module with a backend says about itself. Program and module are built together: classes of the
/// engine cross the border, so `build` must be the same on both sides.
struct BackendModule
{
    int abiVersion = 0; ///< kBackendModuleAbi of the module; read before anything else
    const char *build = nullptr;
    /// Why this machine has no device for the module, a sentence for people; empty if there is one.
    std::string (*whyUnusable)() = nullptr;
    /// Of the device's memory, what may be allocated now; nothing where it cannot be told. Sets the device up.
    std::optional<std::int64_t> (*freeBytes)() = nullptr;
    /// Of the device's memory, what the model and one canvas without a context take. Needs no device. Throws Error
    /// Unsupported where the device could not compute the model.
    std::int64_t (*neededBytes)(const Checkpoint &checkpoint) = nullptr;
    /// Throws Error as the backend's own factory does.
    std::unique_ptr<Backend> (*make)(std::shared_ptr<const Checkpoint> checkpoint,
                                     const LoadProgress &progress) = nullptr;
};

/// Counts up when this file changes.
inline constexpr int kBackendModuleAbi = 3;

/// The one symbol that a module exports: `extern "C" const BackendModule *palimpsestBackendModule()`.
inline constexpr const char *kBackendModuleEntry = "palimpsestBackendModule";
using BackendModuleEntry = const BackendModule *(*)();

} // namespace palimpsest
