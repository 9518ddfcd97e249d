// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/row_kernels.h"

#include <array>

namespace palimpsest::cpu {

namespace baseline {
extern const RowKernels kRowKernels;
}
#if defined(__x86_64__)
namespace avx2 {
extern const RowKernels kRowKernels;
}
namespace avx512 {
extern const RowKernels kRowKernels;
}
#endif

const RowKernels *const *usableRowKernels(int *count) noexcept
{
    struct Usable
    {
        std::array<const RowKernels *, 3> sets{};
        int count = 0;
    };
    static const Usable usable = [] {
        Usable found; // best first
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))
            found.sets.at(static_cast<std::size_t>(found.count++)) = &avx512::kRowKernels;
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
            found.sets.at(static_cast<std::size_t>(found.count++)) = &avx2::kRowKernels;
#endif
        found.sets.at(static_cast<std::size_t>(found.count++)) = &baseline::kRowKernels;
        return found;
    }();
    *count = usable.count;
    return usable.sets.data();
}

const RowKernels &rowKernels() noexcept
{
    int count = 0;
    return **usableRowKernels(&count);
}

} // namespace palimpsest::cpu
