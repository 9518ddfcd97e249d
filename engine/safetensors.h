// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/dtype.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace palimpsest {

/// One tensor of a safetensors file.
struct SafetensorsEntry
{
    std::string name;
    Dtype dtype = Dtype::F32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes; ///< row-major, little-endian; inside the span that was parsed
};

/// Reads the header of a safetensors file (https://github.com/huggingface/safetensors, "Format") and checks it against
/// the file's size: every tensor's bytes match its dtype and shape, lie inside the file, and together cover it without
/// gap or overlap.
///
/// Returns the tensors in the order of their bytes. `path` is for messages. Throws Error InvalidCheckpoint, or
/// Unsupported for a dtype it does not know.
[[nodiscard]] std::vector<SafetensorsEntry> parseSafetensors(std::span<const std::byte> file, const std::string &path);

/// "[8, 128, 64]", for messages and tables.
[[nodiscard]] std::string shapeText(std::span<const std::int64_t> shape);

} // namespace palimpsest
