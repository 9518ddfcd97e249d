// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/input_text.h"

#include <filesystem>
#include <optional>
#include <string_view>

namespace palimpsest::cli {

/// Replaces a file's contents so that a reader, a crash or a full disk sees the old contents or the new, never a part.
///
/// The new file is written beside the old one, flushed to the disk, given the old one's permissions (and owner, as far
/// as allowed) and renamed over it. A symbolic link stays one: the file it points to is replaced. With a stamp, the
/// file must still be the one that was read.
///
/// Throws Error NotFound, PermissionDenied or Io (path, reason); the file is as it was then.
void replaceFile(const std::filesystem::path &path, std::string_view contents,
                 const std::optional<FileStamp> &expected = std::nullopt);

} // namespace palimpsest::cli
