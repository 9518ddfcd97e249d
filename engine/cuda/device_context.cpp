// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/device_context.h"

#include <cstddef>
#include <cuda.h>

namespace palimpsest::cuda {

namespace {

/// What the kernels' machine code and local memory take, with room to spare.
constexpr std::size_t kKernelBytes = std::size_t{64} << 20U;

/// By way of the runtime, so that nothing links to the driver; null where it does not have it.
template <typename Function>
Function *driverFunction(const char *name)
{
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found) != cudaSuccess ||
        found != cudaDriverEntryPointSuccess)
        return nullptr;
    return reinterpret_cast<Function *>(entry);
}

struct Driver
{
    decltype(cuDevicePrimaryCtxGetState) *state = nullptr;
    decltype(cuDevicePrimaryCtxRetain) *retain = nullptr;
    decltype(cuDevicePrimaryCtxRelease) *release = nullptr;
    decltype(cuCtxPushCurrent) *push = nullptr;
    decltype(cuCtxPopCurrent) *pop = nullptr;
    decltype(cuMemGetInfo) *memory = nullptr;

    Driver()
    {
        find(state, "cuDevicePrimaryCtxGetState");
        find(retain, "cuDevicePrimaryCtxRetain");
        find(release, "cuDevicePrimaryCtxRelease");
        find(push, "cuCtxPushCurrent");
        find(pop, "cuCtxPopCurrent");
        find(memory, "cuMemGetInfo");
    }
    [[nodiscard]] bool complete() const noexcept
    {
        return state != nullptr && retain != nullptr && release != nullptr && push != nullptr && pop != nullptr &&
               memory != nullptr;
    }

private:
    template <typename Function>
    static void find(Function *&function, const char *name)
    {
        function = driverFunction<Function>(name);
    }
};

} // namespace

cudaError_t enterContext(int device)
{
    const Driver driver;
    unsigned flags = 0;
    int isActive = 0;
    if (!driver.complete() || driver.state(device, &flags, &isActive) != CUDA_SUCCESS || isActive != 0)
        return cudaSetDevice(device);
    CUcontext context = nullptr;
    const CUresult made = driver.retain(&context, device);
    if (made == CUDA_ERROR_OUT_OF_MEMORY)
        return cudaErrorMemoryAllocation;
    if (made != CUDA_SUCCESS)
        return cudaSetDevice(device); // which finds the same and has the words for it
    std::size_t available = 0;
    std::size_t total = 0;
    if (driver.push(context) == CUDA_SUCCESS) {
        if (driver.memory(&available, &total) != CUDA_SUCCESS)
            available = 0;
        (void)driver.pop(&context);
    }
    const cudaError_t status = available < kKernelBytes ? cudaErrorMemoryAllocation : cudaSetDevice(device);
    (void)driver.release(device); // the runtime holds the context by now
    return status;
}

} // namespace palimpsest::cuda
