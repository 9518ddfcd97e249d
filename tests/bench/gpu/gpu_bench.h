// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "../../gpu/gpu_check.h"
#include "card_power.h"
#include "gpu_floors.h"

#include <cstdio>
#include <functional>

/// Timing for the kernels' benchmarks: graph replay between events, medians, and the floors of the card.
namespace palimpsest::gpu_bench {

/// Whether microsecondsEach() prints what the call takes and costs when it is repeated for a while (card_power.h).
inline bool &printsSustained()
{
    static bool prints = false;
    return prints;
}

inline void printSustained(const std::function<void()> &call, int calls)
{
    constexpr double kSeconds = 0.4;
    const auto found = sustained(kSeconds, call);
    if (found)
        std::printf("  repeated: %.2f us, %.3f mJ, %.0f W, %u MHz\n", found->milliseconds * 1e3 / calls,
                    found->millijoules / calls, found->watts, found->megahertz);
    else
        std::puts("  repeated: the driver does not tell the card's energy");
}

/// Median time of one call in microseconds: `calls` calls (numbered, so that they can rotate among inputs that together
/// exceed the cache) are captured into a graph, which is replayed `repeats` times after one warm-up.
[[nodiscard]] inline double microsecondsEach(int calls, const std::function<cudaError_t(int, cudaStream_t)> &call,
                                             int repeats = 5)
{
    using gpu_check::ok;
    cudaStream_t stream = nullptr;
    ok(cudaStreamCreate(&stream), "stream");
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin capture");
    for (int i = 0; i < calls; ++i)
        ok(call(i, stream), "captured call");
    ok(cudaStreamEndCapture(stream, &graph), "end capture");
    ok(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
    cudaEvent_t before = nullptr;
    cudaEvent_t after = nullptr;
    ok(cudaEventCreate(&before), "event");
    ok(cudaEventCreate(&after), "event");
    ok(cudaGraphLaunch(exec, stream), "warm-up");
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
        ok(cudaEventRecord(before, stream), "record");
        ok(cudaGraphLaunch(exec, stream), "launch");
        ok(cudaEventRecord(after, stream), "record");
        ok(cudaEventSynchronize(after), "synchronise");
        float milliseconds = 0.0F;
        ok(cudaEventElapsedTime(&milliseconds, before, after), "elapsed");
        times.push_back(static_cast<double>(milliseconds) * 1000.0 / calls);
    }
    std::sort(times.begin(), times.end());
    if (printsSustained())
        printSustained(
            [&] {
                ok(cudaGraphLaunch(exec, stream), "launch");
                ok(cudaStreamSynchronize(stream), "synchronise");
            },
            calls);
    ok(cudaEventDestroy(before), "event");
    ok(cudaEventDestroy(after), "event");
    ok(cudaGraphExecDestroy(exec), "graph");
    ok(cudaGraphDestroy(graph), "graph");
    ok(cudaStreamDestroy(stream), "stream");
    return times[times.size() / 2];
}

/// Device-to-device copy of 1 GiB, bytes read plus bytes written, in TB/s.
[[nodiscard]] inline double copyTerabytesPerSecond()
{
    const std::size_t bytes = std::size_t{1} << 30U;
    const gpu_check::DeviceArray<unsigned char> from(bytes);
    const gpu_check::DeviceArray<unsigned char> to(bytes);
    const double time =
        microsecondsEach(4, [&](int, cudaStream_t stream) { return copy(to.data(), from.data(), bytes, stream); });
    return 2.0 * static_cast<double>(bytes) / time * 1e-6;
}

/// Clock of the multiprocessors right after what the device did before, in MHz.
[[nodiscard]] inline double clockMegahertz()
{
    const gpu_check::DeviceArray<std::uint64_t> counts(2);
    gpu_check::ok(measureClock(counts.data(), nullptr), "clock");
    const auto values = counts.host("clock");
    return static_cast<double>(values[0]) / static_cast<double>(values[1]) * 1000.0;
}

/// Keeps the device busy until its clocks have risen (they follow the load with a delay).
inline void warmUp()
{
    const std::size_t bytes = std::size_t{1} << 30U;
    const gpu_check::DeviceArray<unsigned char> from(bytes);
    const gpu_check::DeviceArray<unsigned char> to(bytes);
    for (int i = 0; i < 600; ++i)
        gpu_check::ok(copy(to.data(), from.data(), bytes, nullptr), "copy");
    gpu_check::ok(cudaDeviceSynchronize(), "copy");
}

inline void printCard()
{
    warmUp();
    cudaDeviceProp properties{};
    gpu_check::ok(cudaGetDeviceProperties(&properties, 0), "properties");
    std::printf("card %s, %d multiprocessors, L2 %d MB, copy %.2f TB/s, %.0f MHz\n", properties.name,
                properties.multiProcessorCount, properties.l2CacheSize >> 20, copyTerabytesPerSecond(),
                clockMegahertz());
}

/// Random bf16 in device memory without a copy for each: one block of random numbers, repeated.
[[nodiscard]] inline std::unique_ptr<gpu_check::DeviceArray<kernels::Bf16>> randomBf16(std::size_t count,
                                                                                       float deviation)
{
    std::mt19937 random(std::random_device{}());
    const auto block =
        gpu_check::roundedToBf16(gpu_check::randomFloats(std::min<std::size_t>(count, 1U << 20U), random, deviation));
    auto made = std::make_unique<gpu_check::DeviceArray<kernels::Bf16>>(count);
    gpu_check::ok(cudaMemcpy(made->data(), block.data(), block.size() * 2, cudaMemcpyHostToDevice), "copy");
    for (std::size_t filled = block.size(); filled < count; filled *= 2)
        gpu_check::ok(cudaMemcpy(made->data() + filled, made->data(), std::min(filled, count - filled) * 2,
                                 cudaMemcpyDeviceToDevice),
                      "copy");
    return made;
}

} // namespace palimpsest::gpu_bench
