// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/types.h>

namespace palimpsest::cli {

/// Larger texts are refused: at a batch of eight paragraphs a step, more would take days.
inline constexpr std::int64_t kMaxInputBytes = 8LL << 20U;

/// Tells whether a file is still the one that was read.
struct FileStamp
{
    dev_t device = 0;
    ino_t inode = 0;
    off_t bytes = 0;
    std::int64_t modifiedNs = 0;

    friend bool operator==(const FileStamp &, const FileStamp &) = default;
};

[[nodiscard]] FileStamp fileStamp(const struct stat &status) noexcept;

/// A text that may be worked on: UTF-8, byte for byte as it was stored, byte order mark and line ends included.
struct InputText
{
    std::string name; ///< for messages: the path, or "standard input"
    std::string text;
    std::optional<FileStamp> stamp; ///< of a file
};

/// Throws Error InvalidInput (name, position, what was found and wanted) for a text that is empty, too large, binary or
/// not UTF-8.
void requireInputText(std::string_view bytes, const std::string &name);

/// Reads a file, or standard input for "-". Throws as requireInputText, and NotFound, PermissionDenied or Io.
[[nodiscard]] InputText readInputText(const std::string &path);

} // namespace palimpsest::cli
