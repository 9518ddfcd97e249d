// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/chip.h"

#include <algorithm>
#include <string_view>

namespace palimpsest::kernels {

namespace {

/// One entry of CMAKE_CUDA_ARCHITECTURES: "90a-real", "80-virtual", or "86", which is both.
struct Architecture
{
    int number = 0;          ///< ten times major plus minor
    bool isFixed = false;    ///< with a letter: for that number alone
    bool hasReal = false;    ///< machine code, for the same major version from this minor one on
    bool hasVirtual = false; ///< code that a driver compiles, for everything from this number on

    [[nodiscard]] bool runsOn(int major, int minor) const
    {
        const int wanted = major * 10 + minor;
        if (isFixed)
            return number == wanted;
        return number <= wanted && (hasVirtual || (hasReal && number / 10 == major));
    }
};

Architecture parsed(std::string_view entry)
{
    Architecture made;
    std::size_t at = 0;
    for (; at < entry.size() && entry[at] >= '0' && entry[at] <= '9'; ++at)
        made.number = made.number * 10 + (entry[at] - '0');
    made.isFixed = at < entry.size() && entry[at] != '-';
    made.hasReal = !entry.ends_with("-virtual");
    made.hasVirtual = !entry.ends_with("-real");
    return made;
}

/// Whether `holds` is true of one of the architectures.
template <typename Holds>
bool anyArchitecture(Holds holds)
{
    std::string_view list = builtFor();
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(' '), list.size());
        if (holds(parsed(list.substr(0, end))))
            return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

/// Of the current device.
cudaError_t readAttribute(int &value, cudaDeviceAttr attribute)
{
    int device = 0;
    const cudaError_t status = cudaGetDevice(&device);
    return status == cudaSuccess ? cudaDeviceGetAttribute(&value, attribute, device) : status;
}

} // namespace

const char *builtFor()
{
    return PALIMPSEST_KERNELS_ARCHITECTURES;
}

bool runsOn(int major, int minor)
{
    return anyArchitecture([&](const Architecture &architecture) { return architecture.runsOn(major, minor); });
}

cudaError_t currentMultiprocessors(int &count)
{
    return readAttribute(count, cudaDevAttrMultiProcessorCount);
}

cudaError_t currentSharedBytes(int &bytes)
{
    return readAttribute(bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

cudaError_t currentChip(ChipChoices &choices)
{
    int device = 0;
    int major = 0;
    int minor = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    choices = {.major = major, .minor = minor};
    if (status != cudaSuccess || !hasCodeFor(major))
        return status;
    for (const ChipChoices &known : kChips)
        if (known.major == major && (known.minor == minor || known.minor == -1))
            choices = known;
    // 9.0 without the letter has no wgmma.
    static const bool hasHopperCode = anyArchitecture(
        [](const Architecture &architecture) { return architecture.number == 90 && architecture.isFixed; });
    choices.wgmma = choices.wgmma && hasHopperCode;
    return cudaSuccess;
}

} // namespace palimpsest::kernels
