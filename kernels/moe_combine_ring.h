// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/moe_combine.h"

#include <cuda_runtime_api.h>

/// Behind moeCombine(), not for others: its form for chips whose copy engine fetches the rows
/// (ChipChoices::combineRing).
namespace palimpsest::kernels::combine {

/// How many chunks the ring of this product has, as many as leave room for the other block of a multiprocessor; 0 where
/// that is too few, or the chip or the arguments are for the other form.
[[nodiscard]] cudaError_t chunksOfRing(int &chunks, const MoeCombineArgs &args);

/// With as many chunks, not 0.
[[nodiscard]] cudaError_t launchRing(const MoeCombineArgs &args, int chunks, cudaStream_t stream);

} // namespace palimpsest::kernels::combine
