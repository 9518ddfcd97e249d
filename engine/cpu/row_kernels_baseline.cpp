// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#define PALIMPSEST_SIMD_NAMESPACE baseline
#define PALIMPSEST_SIMD_NAME "baseline"
#include "engine/cpu/row_kernels_body.h"
