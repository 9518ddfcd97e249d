// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/w4_product.h"

#include <cuda_runtime_api.h>

/// Which variants and tiles the launchers take on which chip: all that depends on it, in one table.
namespace palimpsest::kernels {

struct ChipChoices
{
    int major = 0;
    int minor = 0; ///< -1: any of that major
    /// Dense products, attention and experts of many tokens by the copy engine and wgmma (compiled for 90a).
    bool wgmma = false;
    W4Variant w4 = W4Variant::Portable; ///< other 4-bit products
    /// A layer's end with its rows in a ring, half of a multiprocessor's shared memory.
    bool combineRing = false;
};

/// Chips that differ from the safe default, which is what every other one gets: cp.async and mma.sync, blocks that fit
/// 99 KiB of shared memory, compute capability 8.0 and up.
inline constexpr ChipChoices kChips[] = {
    // Measured on an H200.
    {.major = 9, .minor = 0, .wgmma = true, .w4 = W4Variant::CopyEngine, .combineRing = true},
    // Not tuned: the same shared memory and copy engine as 9.0, but no wgmma.
    {.major = 10, .minor = -1, .wgmma = false, .w4 = W4Variant::CopyEngine},
    // 12.x has the copy engine too, but too little shared memory to let it run ahead: the default.
};

/// Of the current device. Only what this build has machine code for: a chip that runs code of an older architecture
/// (compiled by its driver) gets the default.
[[nodiscard]] cudaError_t currentChip(ChipChoices &choices);

/// How many multiprocessors the current device has.
[[nodiscard]] cudaError_t currentMultiprocessors(int &count);

/// How much shared memory a block may ask for on the current device.
[[nodiscard]] cudaError_t currentSharedBytes(int &bytes);

/// Whether anything in this build runs on chips of that compute capability. Starts nothing on the device.
[[nodiscard]] bool runsOn(int major, int minor);

/// The architectures that this build was made for, as CMAKE_CUDA_ARCHITECTURES names them, separated by spaces.
[[nodiscard]] const char *builtFor();

#ifdef __CUDA_ARCH_LIST__
/// Whether kernels were compiled for chips of that major version. Elsewhere the driver compiles code of an older
/// architecture, in which nothing may be assumed that came later.
[[nodiscard]] constexpr bool hasCodeFor(int major) noexcept
{
    constexpr int kArchitectures[] = {__CUDA_ARCH_LIST__};
    for (const int architecture : kArchitectures)
        if (architecture / 100 == major)
            return true;
    return false;
}
#endif

} // namespace palimpsest::kernels
