// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace palimpsest::kernels {

/// A stage of a ring and the parity of its current round.
struct RingPlace
{
    int stage = 0;
    std::uint32_t parity = 0;

    __device__ void advance(int stages)
    {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1U;
        }
    }
};

} // namespace palimpsest::kernels
