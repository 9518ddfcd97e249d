// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/backend.h"
#include "engine/device_diagnostics.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace palimpsest::cli {

/// Bytes that one denoising step of `batch` canvases has to read on a device: every weight once (all experts have
/// rows), the embedding a second time for self-conditioning, the keys and values that each canvas sees.
[[nodiscard]] double stepBytes(const ModelConfig &config, const BackendInfo &info, std::int64_t context,
                               std::int64_t batch);

/// The longer of what those bytes take at the rate of copies and what the step's arithmetic takes at that of products.
[[nodiscard]] double deviceFloorMs(const ModelConfig &config, const BackendInfo &info, const DeviceRates &rates,
                                   std::int64_t context, std::int64_t batch);

[[nodiscard]] std::string describeDevice(const DeviceRates &rates, const DeviceMemory &memory);
[[nodiscard]] std::string stageTable(const std::vector<StageTime> &stages);

[[nodiscard]] nlohmann::json toJson(const DeviceRates &rates);
[[nodiscard]] nlohmann::json toJson(const DeviceMemory &memory);
[[nodiscard]] nlohmann::json toJson(const std::vector<StageTime> &stages);

} // namespace palimpsest::cli
