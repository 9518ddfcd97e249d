// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"

#include <string_view>
#include <vector>

namespace palimpsest::documents {

/// Throws Error InvalidInput, naming `subject`, unless `text` is UTF-8 without NUL and at most `kMostTextBytes` long.
void requireStorable(std::string_view text, std::string_view subject);

/// Throws Error InvalidArgument, naming `subject`, unless `json` is well-formed.
void requireJson(std::string_view json, std::string_view subject);

/// Throws Error InvalidArgument unless the locks are ascending, apart, not empty, and hold what stands in the text.
void requireLocksFit(const std::vector<LockedRange> &locks, std::string_view text);

} // namespace palimpsest::documents
