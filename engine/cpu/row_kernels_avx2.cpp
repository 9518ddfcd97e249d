// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)
#define PALIMPSEST_SIMD_NAMESPACE avx2
#define PALIMPSEST_SIMD_NAME "AVX2"
#include "engine/cpu/row_kernels_body.h"
#endif
