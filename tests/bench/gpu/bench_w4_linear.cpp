// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_bench.h"
#include "kernels/w4_linear.h"

using namespace palimpsest;
using namespace palimpsest::gpu_bench;
using gpu_check::DeviceArray;
using gpu_check::ok;
using kernels::Bf16;

namespace {

constexpr std::int64_t kMostRows = 256;
constexpr std::pair<const char *, kernels::W4Variant> kVariants[] = {{"automatic", kernels::W4Variant::Automatic},
                                                                     {"warpgroup", kernels::W4Variant::Warpgroup}};

/// Copies of one matrix that take turns, so that the cache keeps nothing: the timing of a product depends on no value
/// but on where it lies.
class Weights
{
public:
    Weights(std::int64_t outputs, std::int64_t inputs, std::int64_t groupSize)
        : m_bytes(kernels::w4MatrixBytes(outputs, inputs, groupSize)),
          m_copies(1 + (std::int64_t{512} << 20) / m_bytes),
          m_memory(randomBf16(static_cast<std::size_t>(m_bytes * m_copies / 2), 0.02F))
    {
    }
    [[nodiscard]] std::int64_t bytes() const { return m_bytes; }
    [[nodiscard]] const std::uint8_t *turn(int call) const
    {
        return reinterpret_cast<const std::uint8_t *>(m_memory->data()) + call % m_copies * m_bytes;
    }

private:
    std::int64_t m_bytes;
    std::int64_t m_copies;
    std::unique_ptr<DeviceArray<Bf16>> m_memory;
};

void measure(std::int64_t outputs, std::int64_t inputs, std::int64_t groupSize, double copyTerabytes)
{
    const Weights weights(outputs, inputs, groupSize);
    const auto x = randomBf16(static_cast<std::size_t>(kMostRows * inputs), 1.0F);
    const DeviceArray<Bf16> out(static_cast<std::size_t>(kMostRows * outputs));
    const DeviceArray<std::uint8_t> workspace(
        static_cast<std::size_t>(kernels::w4LinearWorkspaceBytes(kMostRows, outputs, inputs, groupSize) + 16));
    std::printf("%lld x %lld, groups of %lld: %.1f MiB, %d parts\n", static_cast<long long>(outputs),
                static_cast<long long>(inputs), static_cast<long long>(groupSize),
                static_cast<double>(weights.bytes()) / 1048576.0, kernels::w4LinearParts(outputs, inputs, groupSize));
    for (const std::int64_t rows : {1, 8, 16, 32, 64, 256}) {
        const auto run = [&](void *space, kernels::W4Variant variant) {
            return microsecondsEach(24, [&, space, variant](int call, cudaStream_t stream) {
                return kernels::w4Linear({.rows = rows,
                                          .inputs = inputs,
                                          .outputs = outputs,
                                          .groupSize = groupSize,
                                          .x = x->data(),
                                          .weights = weights.turn(call),
                                          .outBf16 = out.data(),
                                          .workspace = space,
                                          .variant = variant},
                                         stream);
            });
        };
        const double bytes = static_cast<double>(weights.bytes() + rows * (inputs + outputs) * 2);
        const auto percent = [&](double time) {
            return 100.0 * bytes / (time * 1e6) / copyTerabytes;
        };
        double best = 0.0;
        std::printf("  %4lld rows:", static_cast<long long>(rows));
        for (const auto &[name, variant] : kVariants) {
            const double whole = run(nullptr, variant);
            const double cut = run(workspace.data(), variant);
            const double faster = std::min(whole, cut);
            best = best == 0.0 ? faster : std::min(best, faster);
            std::printf(" %s %7.1f us, %3.0f %% of the copy; in parts %7.1f us, %3.0f %%;", name, whole, percent(whole),
                        cut, percent(cut));
        }
        std::printf(" best %.0f TFLOP/s\n", 2e-6 * static_cast<double>(rows * inputs * outputs) / best);
    }
}

} // namespace

int main()
{
    gpu_check::requireDevice();
    printCard();
    const double copy = copyTerabytesPerSecond();
    measure(4096, 4096, 128, copy);
    measure(8192, 8192, 128, copy);
    measure(28672, 8192, 128, copy);
    measure(8192, 28672, 128, copy);
    measure(16384, 16384, 128, copy);
    measure(8192, 8192, 64, copy);
    return 0;
}
