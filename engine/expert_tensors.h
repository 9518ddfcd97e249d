// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/checkpoint.h"
#include "engine/read_meter.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// Checks the text of a `w4_meta.json` against the format's fixed facts and the sizes of `config`.
///
/// Exports spell it differently (`group_size` with `gate_up_proj` and `down_proj`, or `gate_up_group` and
/// `down_group`); `format` is required, what else is there must agree. Returns the file names of its `weight_map`, if
/// any. Throws Error InvalidCheckpoint, or Unsupported for another format or group size.
std::vector<std::string> checkW4Meta(std::string_view json, const std::string &path, const ModelConfig &config);

/// The experts of every layer, found among `tensors` and checked: dtype, shape, and for 4-bit ones that every scale is
/// finite and not negative and every zero point is from 0 to 15.
///
/// A layer may be there more than once (the encoder's copies): the first module path in the order of `tensors` counts.
/// Throws Error InvalidCheckpoint or Unsupported, and what `meter` throws, which is told to the end.
[[nodiscard]] std::vector<ExpertTensors> findExperts(CheckpointFormat format, const ModelConfig &config,
                                                     std::span<const TensorView> tensors,
                                                     const std::filesystem::path &directory, ReadMeter &meter);

} // namespace palimpsest
