// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/checkpoint.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

enum class DeviceChoice {
    Auto, ///< CUDA where it can be used, else the CPU
    Cpu,
    Cuda, ///< CUDA or an error
};

/// "auto", "cpu", "cuda".
[[nodiscard]] std::optional<DeviceChoice> deviceChoiceFromName(std::string_view name) noexcept;

struct BackendRequest
{
    DeviceChoice device = DeviceChoice::Auto;
    int threads = 0;                                  ///< of the CPU; 0 = one per usable core
    std::vector<std::filesystem::path> moduleFolders; ///< where the CUDA module may lie, in this order
};

struct LoadedBackend
{
    std::unique_ptr<Backend> backend;
    /// Auto only, and only where the CPU computes: why CUDA does not, a sentence for people.
    std::string whyNotCuda;
    /// There is an NVIDIA device that could have been meant to compute: worth telling unasked.
    bool hasUnusedDevice = false;
};

/// The folders a module may lie in: those of $PALIMPSEST_MODULES (separated by colons), that of the program, and
/// ../lib/palimpsest beside it.
[[nodiscard]] std::vector<std::filesystem::path> defaultModuleFolders();

/// Why CUDA cannot be used, or nothing if it can as far as one can tell without loading a model.
[[nodiscard]] std::optional<std::string> whyNotCuda(const std::vector<std::filesystem::path> &moduleFolders);

/// Bytes of memory that are free on the device that CUDA would compute on; nothing where CUDA cannot be used, or does
/// not tell. Takes a moment and some of that memory: it sets the device up.
[[nodiscard]] std::optional<std::int64_t> freeDeviceBytes(const std::vector<std::filesystem::path> &moduleFolders);

/// Bytes of the device's memory that loading the model and one canvas without a context would take with CUDA; nothing
/// where there is no module. Needs no device. Throws Error Unsupported where CUDA could not compute the model.
[[nodiscard]] std::optional<std::int64_t> neededDeviceBytes(const Checkpoint &checkpoint,
                                                            const std::vector<std::filesystem::path> &moduleFolders);

/// Loads the model onto the chosen device. A module stays loaded until the program ends.
///
/// Throws Error as the backends do; with Cuda also Backend, with the reason, where CUDA cannot be used. A failure in
/// the middle of a generation is never answered by changing to the CPU: this is about the start alone.
[[nodiscard]] LoadedBackend loadBackend(std::shared_ptr<const Checkpoint> checkpoint, const BackendRequest &request,
                                        const LoadProgress &progress = {});

} // namespace palimpsest
