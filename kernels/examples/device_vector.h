// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

/// Ends the program with a message where a call failed; with 77 where there is no device to try it on.
inline void check(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    std::printf("%s\n", cudaGetErrorString(status));
    std::exit(status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ? 77 : 1);
}

/// An array in device memory.
template <typename T>
class DeviceVector
{
public:
    explicit DeviceVector(std::size_t count) : m_count(count)
    {
        void *memory = nullptr;
        check(cudaMalloc(&memory, count * sizeof(T)));
        m_data = static_cast<T *>(memory);
    }
    explicit DeviceVector(const std::vector<T> &values) : DeviceVector(values.size())
    {
        check(cudaMemcpy(m_data, values.data(), m_count * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~DeviceVector() { cudaFree(m_data); }
    DeviceVector(const DeviceVector &) = delete;
    DeviceVector &operator=(const DeviceVector &) = delete;

    T *data() const { return m_data; }
    std::vector<T> host() const
    {
        std::vector<T> values(m_count);
        check(cudaMemcpy(values.data(), m_data, m_count * sizeof(T), cudaMemcpyDeviceToHost)); // waits for the kernels
        return values;
    }

private:
    T *m_data = nullptr;
    std::size_t m_count;
};

inline std::vector<float> randomFloats(std::size_t count, unsigned seed)
{
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float &value : values)
        value = normal(generator);
    return values;
}
