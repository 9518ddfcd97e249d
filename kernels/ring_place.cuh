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

/// The same for a ring whose size is known where it is compiled; may leave out slots that are for others.
template <int kSlots>
struct SlotPlace
{
    int slot = 0;
    std::uint32_t parity = 0;

    __device__ void advance(int slots = 1)
    {
        slot += slots;
        if (slot >= kSlots) {
            slot -= kSlots;
            parity ^= 1U;
        }
    }
};

} // namespace palimpsest::kernels
