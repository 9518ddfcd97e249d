// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace palimpsest::kernels {

/// The bits of one bfloat16, as host code and kernel arguments name it; arithmetic on it is always in fp32.
using Bf16 = std::uint16_t;

} // namespace palimpsest::kernels
