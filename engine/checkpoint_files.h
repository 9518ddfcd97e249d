// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/checkpoint.h"
#include "engine/mapped_file.h"
#include "engine/read_meter.h"

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace palimpsest {

/// Throws Error NotFound, PermissionDenied or InvalidCheckpoint unless `directory` is a directory that can be entered.
void requireDirectory(const std::filesystem::path &directory);

/// The text of a file of a model directory, or nothing if there is no such file. Throws Error PermissionDenied or Io,
/// and InvalidCheckpoint for an empty file and for a Git LFS pointer.
[[nodiscard]] std::optional<std::string> readTextFile(const std::filesystem::path &path);

/// Throws Error InvalidCheckpoint unless each of `names`, which `source` lists, is a file of the directory.
void requireFiles(const std::filesystem::path &directory, std::span<const std::string> names,
                  const std::filesystem::path &source);

struct WeightFileList
{
    std::vector<std::filesystem::path> paths;
    /// What `model.safetensors.index.json` says: tensor name -> file name. Nothing if there is no index.
    std::optional<std::map<std::string, std::string>> index;
};

/// The weight files of a model directory in the order of their names: `model*.safetensors` (those that
/// `model.safetensors.index.json` names, if it is there) and then `experts_*.safetensors`. Throws Error
/// InvalidCheckpoint if there are none or one that the index names is missing.
[[nodiscard]] WeightFileList listWeightFiles(const std::filesystem::path &directory,
                                             std::vector<std::string> &warnings);

struct WeightFiles
{
    std::vector<MappedFile> mappings;
    std::vector<CheckpointFile> files;
    std::vector<TensorView> tensors; ///< in the order of files, and of bytes inside a file
};

/// Maps the files, parses their headers, and compares them with the index.
[[nodiscard]] WeightFiles mapWeightFiles(const WeightFileList &list, ReadMeter &meter,
                                         std::vector<std::string> &warnings);

/// "3 (a, b, c)" or "27 (a, b, c, ...)", for warnings.
[[nodiscard]] std::string countAndExamples(std::span<const std::string> names);

} // namespace palimpsest
