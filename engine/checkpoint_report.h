// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/checkpoint.h"

#include <cstdint>
#include <string>
#include <vector>

namespace palimpsest {

/// A checkpoint as tables for people: what `inspect` prints. Whoever shows it only formats.
struct CheckpointReport
{
    struct Setting
    {
        std::string name;  ///< "hidden size"
        std::string value; ///< "2816"
    };
    struct File
    {
        std::string name; ///< without the folder
        std::int64_t bytes = 0;
        std::int64_t tensorCount = 0;
    };
    struct Tensor
    {
        std::string name;
        std::string kind;  ///< "attention", "experts", "vision", "unknown", ...
        std::string dtype; ///< "BF16"
        std::string shape; ///< "[512, 128]"
        std::int64_t bytes = 0;
        std::string file; ///< without the folder
    };
    /// All tensors of one kind; bytes are those of the data, without the headers.
    struct KindTotal
    {
        std::string kind;
        std::int64_t bytes = 0;
        std::int64_t tensorCount = 0;
        std::int64_t parameterCount = 0; ///< weights; a packed 4-bit byte counts as two, scales and zeros not at all
    };
    struct GroupSize
    {
        std::string matrix; ///< "gate_up", "down"
        std::int64_t columns = 0;
    };

    std::string directory;
    std::string format; ///< "dg-w4a16-v1", or "transformers (experts not quantised)"
    std::vector<Setting> config;
    std::vector<Setting> generation;
    std::vector<File> files;
    std::vector<Tensor> tensors;       ///< in file order
    std::vector<KindTotal> kinds;      ///< in descending order of bytes
    std::vector<GroupSize> groupSizes; ///< empty unless the experts are quantised
    std::vector<std::string> warnings;
    std::int64_t fileBytes = 0;
    std::int64_t parameterCount = 0; ///< of the text model, tied copies, vision and unknown tensors left out
};

[[nodiscard]] CheckpointReport makeCheckpointReport(const Checkpoint &checkpoint);

} // namespace palimpsest
