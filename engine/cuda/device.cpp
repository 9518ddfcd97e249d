// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/device.h"

#include "engine/cuda/device_context.h"
#include "engine/error.h"
#include "kernels/chip.h"

#include <array>
#include <dlfcn.h>

namespace palimpsest::cuda {

namespace {

constexpr int kLeastMajor = 8; // bf16 products and asynchronous copies

std::string versionText(int version)
{
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// What the driver itself says; 0 where there is none. The runtime gives 0 also for one that it finds too old to talk
/// to.
int driverVersion()
{
    int version = 0;
    if (cudaDriverGetVersion(&version) == cudaSuccess && version != 0)
        return version;
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        return 0;
    const auto ask = reinterpret_cast<int (*)(int *)>(dlsym(library, "cuDriverGetVersion"));
    if (ask == nullptr || ask(&version) != 0)
        version = 0;
    dlclose(library);
    return version;
}

std::string driverProblem()
{
    const int driver = driverVersion();
    if (driver == 0)
        return "no NVIDIA driver is installed";
    if (driver / 1000 < CUDART_VERSION / 1000)
        return "the NVIDIA driver is too old: it supports CUDA " + versionText(driver) + ", needed is CUDA " +
               std::to_string(CUDART_VERSION / 1000) + ".0 or later";
    return {};
}

std::string capabilityProblem(int index)
{
    int major = 0;
    int minor = 0;
    cudaDeviceProp properties{};
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, index) != cudaSuccess ||
        cudaGetDeviceProperties(&properties, index) != cudaSuccess)
        return std::string("the device does not answer: ") + cudaGetErrorString(cudaGetLastError());
    if (major < kLeastMajor)
        return std::string(properties.name) + " has compute capability " + std::to_string(major) + "." +
               std::to_string(minor) + ", needed is " + std::to_string(kLeastMajor) + ".0 or higher";
    if (!kernels::runsOn(major, minor))
        return std::string(properties.name) + " has compute capability " + std::to_string(major) + "." +
               std::to_string(minor) + ", for which this build has no code (it was made for " + kernels::builtFor() +
               ")";
    return {};
}

/// Errors after which the device can be used as before; whatever else happens to it, it does not recover from by
/// itself.
bool leavesDeviceUsable(cudaError_t status)
{
    constexpr std::array kHarmless{cudaErrorMemoryAllocation,
                                   cudaErrorInvalidValue,
                                   cudaErrorInvalidConfiguration,
                                   cudaErrorInvalidDeviceFunction,
                                   cudaErrorLaunchOutOfResources,
                                   cudaErrorNoKernelImageForDevice,
                                   cudaErrorNotSupported,
                                   cudaErrorStreamCaptureInvalidated,
                                   cudaErrorStreamCaptureUnsupported};
    for (const cudaError_t harmless : kHarmless)
        if (status == harmless)
            return true;
    return false;
}

/// Of the current device; nothing where it does not answer.
std::optional<std::int64_t> availableBytes()
{
    std::size_t available = 0;
    std::size_t total = 0;
    if (cudaMemGetInfo(&available, &total) == cudaSuccess)
        return static_cast<std::int64_t>(available);
    (void)cudaGetLastError();
    return std::nullopt;
}

} // namespace

std::string whyUnusable()
{
    if (std::string problem = driverProblem(); !problem.empty())
        return problem;
    int count = 0;
    if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
        (void)cudaGetLastError();
        return status == cudaErrorNoDevice ? "there is no NVIDIA device"
                                           : std::string("the NVIDIA driver reports: ") + cudaGetErrorString(status);
    }
    if (count == 0)
        return "there is no NVIDIA device";
    return capabilityProblem(0);
}

std::optional<std::int64_t> freeDeviceBytes()
{
    if (whyUnusable().empty() && enterContext(0) == cudaSuccess)
        return availableBytes();
    (void)cudaGetLastError();
    return std::nullopt;
}

Device::Device(int index) : m_index(index)
{
    if (const std::string problem = whyUnusable(); !problem.empty())
        throw Error(ErrorKind::Backend, problem);
    open();
}

Device::~Device()
{
    if (!m_lost)
        (void)cudaStreamDestroy(m_stream);
}

void Device::open()
{
    check(enterContext(m_index), "set up the device, which takes some 500 MiB of its memory");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, m_index), "read the device's properties");
    m_name = properties.name;
    check(cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking), "open a stream on the device");
}

void Device::check(cudaError_t status, const char *doing)
{
    if (m_callsToFault > 0 && --m_callsToFault == 0 && status == cudaSuccess)
        status = m_fault;
    if (status == cudaSuccess && !m_lost)
        return;
    (void)cudaGetLastError();
    if (m_lost)
        throw Error(ErrorKind::Backend, m_name + ": could not " + doing + ", the device failed before");
    const std::string text = m_name + ": could not " + doing + ": " + cudaGetErrorString(status);
    if (status == cudaErrorMemoryAllocation) {
        if (m_stream ==
            nullptr) // without a context: asking for the free memory would try to make one, see enterContext()
            throw Error(ErrorKind::OutOfMemory, text);
        throw Error(ErrorKind::OutOfMemory, text + " (" + std::to_string(freeBytes() >> 20) + " MiB free)");
    }
    m_lost = !leavesDeviceUsable(status);
    throw Error(ErrorKind::Backend, text);
}

std::int64_t Device::freeBytes()
{
    return m_lost ? 0 : availableBytes().value_or(0);
}

void Device::restart()
{
    ++m_epoch; // whatever comes of it, what was in memory is gone
    m_stream = nullptr;
    const cudaError_t status = cudaDeviceReset();
    if (status != cudaSuccess) {
        (void)cudaGetLastError();
        throw Error(ErrorKind::Backend, m_name + ": the device failed and could not be restarted: " +
                                            cudaGetErrorString(status) + "; start the program anew");
    }
    m_lost = false;
    open();
}

void Device::injectFault(int calls, cudaError_t status) noexcept
{
    m_callsToFault = calls + 1;
    m_fault = status;
}

} // namespace palimpsest::cuda
