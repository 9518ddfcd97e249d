// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace palimpsest {

/// Index of a piece in the model's vocabulary. 32 bits, as the backends and the fixtures store it.
using TokenId = std::int32_t;

} // namespace palimpsest
