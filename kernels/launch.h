// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/chip.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

namespace palimpsest::kernels {

struct LaunchShape
{
    dim3 grid;
    unsigned threads = 0;
    std::size_t sharedBytes = 0;
    unsigned cluster = 1; ///< blocks along x
};

/// Launches a kernel that begins with ptx::beginDependent(), or calls its two halves itself: where the device can
/// (compute capability 9.0 and up), its blocks may start while the kernel before it in the stream is ending, which
/// hides launches and prologues. A kernel without that call must not be launched this way.
template <typename... Parameters, typename... Arguments>
[[nodiscard]] cudaError_t launchDependent(void (*kernel)(Parameters...), const LaunchShape &shape, cudaStream_t stream,
                                          Arguments &&...arguments)
{
    int device = 0;
    int major = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (status != cudaSuccess)
        return status;
    cudaLaunchAttribute attributes[2]{};
    unsigned count = 0;
    if (major >= 9 && hasCodeFor(major)) { // code for less waits for nothing
        attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (shape.cluster > 1) {
        attributes[count].id = cudaLaunchAttributeClusterDimension;
        attributes[count].val.clusterDim.x = shape.cluster;
        attributes[count].val.clusterDim.y = 1;
        attributes[count++].val.clusterDim.z = 1;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = shape.grid;
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.sharedBytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

} // namespace palimpsest::kernels
