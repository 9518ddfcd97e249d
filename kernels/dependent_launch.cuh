// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda_runtime_api.h>

/// Programmatic dependent launch (compute capability 9.0 and up): a launch may begin while the one before it in the
/// stream still runs, as far as there is room. A kernel that is launched so calls waitForPredecessor() in every thread
/// before it touches what another launch may read or write; one that wants the next to come early calls
/// allowDependents() once it has itself waited or has nothing to wait for.
namespace palimpsest::kernels {

__device__ __forceinline__ void allowDependents()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until the launch before this one has ended and its writes are visible; at once if this one was not begun
/// early.
__device__ __forceinline__ void waitForPredecessor()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// kernel<<<grid, block, sharedBytes, stream>>>(arguments...), begun early where the device can.
template <typename... Parameters, typename... Arguments>
[[nodiscard]] cudaError_t launchDependent(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t sharedBytes,
                                          cudaStream_t stream, const Arguments &...arguments)
{
    int device = 0;
    int computeMajor = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&computeMajor, cudaDevAttrComputeCapabilityMajor, device);
    if (status != cudaSuccess)
        return status;
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = sharedBytes;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = computeMajor >= 9 ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

} // namespace palimpsest::kernels
