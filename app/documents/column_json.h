// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"

#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::documents {

// Values that a column of the store holds as JSON. Reading throws Error InvalidInput on what was not written here.

[[nodiscard]] std::string locksToJson(const std::vector<LockedRange> &locks);
[[nodiscard]] std::vector<LockedRange> locksFromJson(std::string_view text);

[[nodiscard]] std::string modelOriginToJson(const ModelOrigin &model);
[[nodiscard]] ModelOrigin modelOriginFromJson(std::string_view text);

} // namespace palimpsest::documents
