// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "kernels/bf16.h"

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

/// What the kernels' tests and benchmarks share: device memory, comparisons, random inputs. A test is a plain program:
/// main() calls requireDevice(), then its cases, and returns finish().
namespace palimpsest::gpu_check {

inline int &failureCount()
{
    static int count = 0;
    return count;
}

/// What a test draws its inputs from: fresh for each run, or what PALIMPSEST_TEST_SEED says, to repeat one.
[[nodiscard]] inline std::uint32_t testSeed()
{
    static const std::uint32_t seed = [] {
        const char *const wanted = std::getenv("PALIMPSEST_TEST_SEED");
        return wanted != nullptr ? static_cast<std::uint32_t>(std::strtoul(wanted, nullptr, 10))
                                 : static_cast<std::uint32_t>(std::random_device{}());
    }();
    return seed;
}

[[nodiscard]] inline std::mt19937 &testRandom()
{
    static std::mt19937 generator(testSeed());
    return generator;
}

/// Whether the next of a test's cases is for this run: PALIMPSEST_TEST_SHARD=1/4 (counted from 0) takes every fourth,
/// from the second on. For tools under which the whole takes minutes on one core of the host.
[[nodiscard]] inline bool inShard()
{
    static const char *const wanted = std::getenv("PALIMPSEST_TEST_SHARD");
    static unsigned next = 0;
    unsigned shard = 0;
    unsigned shards = 1;
    if (wanted != nullptr && (std::sscanf(wanted, "%u/%u", &shard, &shards) != 2 || shard >= shards)) {
        std::printf("FAIL PALIMPSEST_TEST_SHARD is K/N, K below N, not '%s'\n", wanted);
        std::exit(1);
    }
    return next++ % shards == shard;
}

inline void fail(const std::string &what)
{
    ++failureCount();
    std::printf("FAIL %s\n", what.c_str());
}

inline void require(bool holds, const std::string &what)
{
    if (!holds)
        fail(what);
}

/// Ends the program on a CUDA error: nothing after it would mean anything.
inline void ok(cudaError_t status, const std::string &what)
{
    if (status == cudaSuccess)
        return;
    std::printf("FAIL %s: %s\n", what.c_str(), cudaGetErrorString(status));
    std::exit(1);
}

/// Ends the program with 77, which ctest counts as skipped, where there is no device.
inline void requireDevice()
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::puts("no CUDA device");
        std::exit(77);
    }
}

[[nodiscard]] inline int finish(const char *name)
{
    ok(cudaDeviceSynchronize(), "last synchronisation");
    if (failureCount() > 0)
        std::printf("PALIMPSEST_TEST_SEED=%u draws the same inputs\n", static_cast<unsigned>(testSeed()));
    std::printf("%s %s (%d failures)\n", failureCount() == 0 ? "PASS" : "FAIL", name, failureCount());
    return failureCount() == 0 ? 0 : 1;
}

/// Device memory for `count` elements with 256 poisoned bytes behind them; starts poisoned (0xFF: NaN as fp32 and
/// bf16).
template <typename T>
class DeviceArray
{
public:
    explicit DeviceArray(std::size_t count) : m_count(count)
    {
        void *memory = nullptr;
        ok(cudaMalloc(&memory, bytes() + kGuard), "cudaMalloc");
        m_data = static_cast<T *>(memory);
        poison();
    }
    explicit DeviceArray(const std::vector<T> &values) : DeviceArray(values.size())
    {
        ok(cudaMemcpy(m_data, values.data(), bytes(), cudaMemcpyHostToDevice), "copy to the device");
    }
    ~DeviceArray() { ok(cudaFree(m_data), "cudaFree"); }
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;

    [[nodiscard]] T *data() const { return m_data; }
    [[nodiscard]] std::size_t count() const { return m_count; }
    [[nodiscard]] std::size_t bytes() const { return m_count * sizeof(T); }
    void poison() { ok(cudaMemset(m_data, 0xFF, bytes() + kGuard), "cudaMemset"); }

    /// Copies back; fails the test if something wrote behind the end.
    [[nodiscard]] std::vector<T> host(const std::string &what = "array") const
    {
        std::vector<T> values(m_count);
        ok(cudaDeviceSynchronize(), what);
        ok(cudaMemcpy(values.data(), m_data, bytes(), cudaMemcpyDeviceToHost), what);
        std::vector<unsigned char> guard(kGuard);
        ok(cudaMemcpy(guard.data(), reinterpret_cast<const unsigned char *>(m_data) + bytes(), kGuard,
                      cudaMemcpyDeviceToHost),
           what);
        require(std::all_of(guard.begin(), guard.end(), [](unsigned char byte) { return byte == 0xFF; }),
                what + ": written behind the end");
        return values;
    }

private:
    static constexpr std::size_t kGuard = 256;
    T *m_data = nullptr;
    std::size_t m_count;
};

[[nodiscard]] inline float fromBf16(kernels::Bf16 bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

[[nodiscard]] inline kernels::Bf16 toBf16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<kernels::Bf16>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

/// IEEE binary16, rounded to nearest.
[[nodiscard]] inline std::uint16_t toFp16(float value)
{
    return static_cast<__half_raw>(__float2half_rn(value)).x;
}

[[nodiscard]] inline float fromFp16(std::uint16_t bits)
{
    __half_raw raw;
    raw.x = bits;
    return __half2float(__half(raw));
}

[[nodiscard]] inline std::vector<float> randomFloats(std::size_t count, std::mt19937 &random, float deviation = 1.0F)
{
    std::normal_distribution<float> normal(0.0F, deviation);
    std::vector<float> values(count);
    for (float &value : values)
        value = normal(random);
    return values;
}

[[nodiscard]] inline std::vector<kernels::Bf16> roundedToBf16(const std::vector<float> &values)
{
    std::vector<kernels::Bf16> rounded(values.size());
    std::transform(values.begin(), values.end(), rounded.begin(), toBf16);
    return rounded;
}

[[nodiscard]] inline std::vector<float> widened(const std::vector<kernels::Bf16> &values)
{
    std::vector<float> wide(values.size());
    std::transform(values.begin(), values.end(), wide.begin(), fromBf16);
    return wide;
}

/// ||found - wanted|| / ||wanted||; NaN anywhere gives infinity.
template <typename Wanted>
[[nodiscard]] double relativeError(const std::vector<float> &found, const std::vector<Wanted> &wanted)
{
    if (found.size() != wanted.size())
        return std::numeric_limits<double>::infinity();
    double difference = 0.0;
    double norm = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double distance = static_cast<double>(found[i]) - static_cast<double>(wanted[i]);
        difference += distance * distance;
        norm += static_cast<double>(wanted[i]) * static_cast<double>(wanted[i]);
    }
    const double error = std::sqrt(difference / std::max(norm, 1e-300));
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

template <typename Wanted>
void requireClose(const std::vector<float> &found, const std::vector<Wanted> &wanted, double bound,
                  const std::string &what)
{
    const double error = relativeError(found, wanted);
    if (!(error <= bound))
        fail(what + ": relative error " + std::to_string(error) + ", at most " + std::to_string(bound) + " allowed");
}

template <typename T>
void requireSameBits(const std::vector<T> &found, const std::vector<T> &wanted, const std::string &what)
{
    require(found.size() == wanted.size() && std::memcmp(found.data(), wanted.data(), found.size() * sizeof(T)) == 0,
            what + ": other bits");
}

} // namespace palimpsest::gpu_check
