// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace palimpsest::kernels {

/// Whether something is there, and can be read and written 16 bytes at a time.
[[nodiscard]] inline bool isVectorAligned(const void *pointer)
{
    return pointer != nullptr && reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

/// The same for what may be left out.
[[nodiscard]] inline bool isVectorAlignedOrNull(const void *pointer)
{
    return pointer == nullptr || isVectorAligned(pointer);
}

} // namespace palimpsest::kernels
