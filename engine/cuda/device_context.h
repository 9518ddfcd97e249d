// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda_runtime_api.h>

namespace palimpsest::cuda {

/// cudaSetDevice() for a device whose memory others may have taken: where it does not suffice for this process's
/// context and kernels, the answer is cudaErrorMemoryAllocation, and a later call succeeds once there is memory.
///
/// The runtime alone would remember that the kernels could not be loaded, and refuse every launch for ever after.
[[nodiscard]] cudaError_t enterContext(int device);

} // namespace palimpsest::cuda
