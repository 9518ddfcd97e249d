// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/ring_place.cuh"

namespace palimpsest::kernels::w4 {

constexpr int kMostStages = 16;

} // namespace palimpsest::kernels::w4
