// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace palimpsest::cuda {

/// The device that a model computes on, its one stream, and what becomes of errors.
///
/// An error that leaves the device unusable (a bad address, a lost card) marks it lost: every further call fails until
/// `restart`, which gives the device a new epoch. Memory of an earlier epoch is gone; its owners notice by the epoch.
class Device
{
public:
    /// Throws Error Backend in plain words if device `index` cannot be used.
    explicit Device(int index);
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    [[nodiscard]] cudaStream_t stream() const noexcept { return m_stream; }
    [[nodiscard]] const std::string &name() const noexcept { return m_name; }
    [[nodiscard]] bool lost() const noexcept { return m_lost; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return m_epoch; }

    /// Throws if `status` is an error: OutOfMemory where the device's memory did not suffice, else Backend. `doing`
    /// goes into the message: "could not <doing>".
    void check(cudaError_t status, const char *doing);
    void synchronise() { check(cudaStreamSynchronize(m_stream), "finish the work on the device"); }

    /// Bytes that may be allocated now.
    [[nodiscard]] std::int64_t freeBytes();

    /// Throws away everything in the device's memory and begins anew. Throws Error Backend if that does not help.
    void restart();

    /// For tests: the call of `check` after `calls` more ones finds `status` instead of success.
    void injectFault(int calls, cudaError_t status) noexcept;

private:
    void open();

    int m_index;
    std::string m_name = "the NVIDIA device";
    cudaStream_t m_stream = nullptr;
    std::uint64_t m_epoch = 0;
    bool m_lost = false;
    int m_callsToFault = 0;
    cudaError_t m_fault = cudaSuccess;
};

/// Why no device of this machine can be used, as a sentence for people; empty if one can. Starts nothing.
[[nodiscard]] std::string whyUnusable();

/// Bytes of the first device's memory that may be allocated now; nothing where it does not answer. Sets up the
/// process's context on it, which takes part of them and stays for the model that is loaded next. Any thread.
[[nodiscard]] std::optional<std::int64_t> freeDeviceBytes();

} // namespace palimpsest::cuda
