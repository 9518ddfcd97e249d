// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_bench.h"
#include "kernels/moe_combine.h"
#include "kernels/moe_route.h"
#include "kernels/moe_w4_gemm.h"
#include "kernels/w4_repack.h"

#include <cstring>

using namespace palimpsest;
using namespace palimpsest::gpu_bench;
using gpu_check::DeviceArray;
using gpu_check::ok;
using kernels::Bf16;
using kernels::W4Variant;

namespace {

// The 26B shapes. A layer's experts are 412 MB; enough layers take turns that the cache keeps nothing of one.
constexpr std::int64_t kHidden = 2816;
constexpr std::int64_t kInner = 704;
constexpr std::int64_t kExperts = 128;
constexpr std::int64_t kSlotsPerToken = 8;
constexpr int kLayers = 6;

std::mt19937 &random()
{
    static std::mt19937 generator(1);
    return generator;
}

template <typename T>
std::unique_ptr<DeviceArray<T>> onDevice(const std::vector<T> &values)
{
    return std::make_unique<DeviceArray<T>>(values);
}

/// Random experts through w4Repack(), whose rate it prints.
std::unique_ptr<DeviceArray<std::uint8_t>> randomExperts(std::int64_t rows, std::int64_t columns, std::int64_t group,
                                                         kernels::W4RowOrder order)
{
    const auto count = static_cast<std::size_t>(kExperts * rows * columns);
    const auto packed = randomBf16(count / 4, 1.0F);
    std::vector<std::uint16_t> scales(count / static_cast<std::size_t>(group));
    std::vector<std::uint16_t> zeros(scales.size());
    for (std::size_t i = 0; i < scales.size(); ++i) {
        scales[i] = static_cast<std::uint16_t>(0x1800U + random()() % 0x400U);      // 0.002 to 0.004
        zeros[i] = static_cast<std::uint16_t>(0x4700U + (random()() % 2) * 0x100U); // 7 or 8
    }
    const auto scale = onDevice(scales);
    const auto zero = onDevice(zeros);
    auto blocks = std::make_unique<DeviceArray<std::uint8_t>>(
        static_cast<std::size_t>(kExperts * kernels::w4MatrixBytes(rows, columns, group)));
    const double time = microsecondsEach(1, [&](int, cudaStream_t stream) {
        return kernels::w4Repack({.packed = reinterpret_cast<const std::uint8_t *>(packed->data()),
                                  .scale = scale->data(),
                                  .zero = zero->data(),
                                  .blocks = blocks->data(),
                                  .matrices = kExperts,
                                  .rows = rows,
                                  .columns = columns,
                                  .groupSize = group,
                                  .order = order},
                                 stream);
    });
    std::printf("repack %lld x %lld: %.0f GB/s of packed weights\n", static_cast<long long>(rows),
                static_cast<long long>(columns), static_cast<double>(blocks->count()) / time * 1e-3);
    return blocks;
}

std::unique_ptr<DeviceArray<std::uint8_t>> copyOf(const DeviceArray<std::uint8_t> &source)
{
    auto made = std::make_unique<DeviceArray<std::uint8_t>>(source.count());
    ok(cudaMemcpy(made->data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice), "copy");
    return made;
}

struct Model
{
    std::unique_ptr<DeviceArray<std::uint8_t>> gateUp[kLayers];
    std::unique_ptr<DeviceArray<std::uint8_t>> down[kLayers];
    std::unique_ptr<DeviceArray<float>> vector = onDevice(gpu_check::randomFloats(kHidden, random()));
    std::unique_ptr<DeviceArray<Bf16>> router;
    std::unique_ptr<DeviceArray<float>> perExpertScale = onDevice(std::vector<float>(kExperts, 1.0F));

    Model()
    {
        gateUp[0] = randomExperts(2 * kInner, kHidden, 128, kernels::W4RowOrder::GateUp);
        down[0] = randomExperts(kHidden, kInner, 64, kernels::W4RowOrder::Plain);
        for (int layer = 1; layer < kLayers; ++layer) {
            gateUp[layer] = copyOf(*gateUp[0]);
            down[layer] = copyOf(*down[0]);
        }
        // Experts of unequal popularity, as trained routers have.
        auto weights = gpu_check::randomFloats(kExperts * kHidden, random(), 2.0F);
        for (std::size_t expert = 0; expert < kExperts; ++expert) {
            const float popularity = std::exp(gpu_check::randomFloats(1, random(), 0.15F)[0]);
            for (std::size_t i = 0; i < kHidden; ++i)
                weights[expert * kHidden + i] *= popularity;
        }
        router = onDevice(gpu_check::roundedToBf16(weights));
    }
};

/// All buffers of one batch size, and a launch of each part.
class Layer
{
public:
    Layer(const Model &model, std::int64_t tokens) : m_model(model), m_tokens(tokens) {}

    cudaError_t route(cudaStream_t stream) const
    {
        return kernels::moeRoute({.tokens = m_tokens,
                                  .hidden = kHidden,
                                  .experts = kExperts,
                                  .slotsPerToken = kSlotsPerToken,
                                  .x = m_x.data(),
                                  .scale = m_model.vector->data(),
                                  .weights = m_model.router->data(),
                                  .perExpertScale = m_model.perExpertScale->data(),
                                  .workspace = m_workspace.data(),
                                  .expertIds = m_expertIds.data(),
                                  .slotWeights = m_slotWeights.data(),
                                  .expertOffsets = m_offsets.data(),
                                  .slots = m_slots.data()},
                                 stream);
    }

    cudaError_t gateUp(int layer, W4Variant variant, cudaStream_t stream) const
    {
        return kernels::moeGateUp({.tokens = m_tokens,
                                   .slotsPerToken = kSlotsPerToken,
                                   .experts = kExperts,
                                   .hidden = kHidden,
                                   .inner = kInner,
                                   .input = m_input->data(),
                                   .weights = m_model.gateUp[layer % kLayers]->data(),
                                   .expertOffsets = m_offsets.data(),
                                   .slots = m_slots.data(),
                                   .out = m_inner.data(),
                                   .variant = variant},
                                  stream);
    }

    cudaError_t down(int layer, W4Variant variant, bool followsGateUp, cudaStream_t stream) const
    {
        return kernels::moeDown({.tokens = m_tokens,
                                 .slotsPerToken = kSlotsPerToken,
                                 .experts = kExperts,
                                 .hidden = kHidden,
                                 .inner = kInner,
                                 .input = m_inner.data(),
                                 .weights = m_model.down[layer % kLayers]->data(),
                                 .expertOffsets = m_offsets.data(),
                                 .slots = m_slots.data(),
                                 .outBf16 = m_slotOutputs.data(),
                                 .followsGateUp = followsGateUp,
                                 .variant = variant},
                                stream);
    }

    cudaError_t combine(cudaStream_t stream) const
    {
        kernels::MoeCombineArgs args{.tokens = m_tokens,
                                     .hidden = kHidden,
                                     .slotsPerToken = kSlotsPerToken,
                                     .dense = m_dense.data(),
                                     .denseWeight = m_model.vector->data(),
                                     .slotsBf16 = m_slotOutputs.data(),
                                     .slotWeights = m_slotWeights.data(),
                                     .expertWeight = m_model.vector->data(),
                                     .sumWeight = m_model.vector->data(),
                                     .x = m_x.data(),
                                     .scale = 1.0F};
        args.norms[0] = {m_model.vector->data(), m_normed.data()};
        return kernels::moeCombine(args, stream);
    }

    /// Largest number of tokens of an expert, and how many experts have none.
    void printSpread() const
    {
        const auto offsets = m_offsets.host("offsets");
        int largest = 0;
        int empty = 0;
        for (std::size_t e = 0; e < kExperts; ++e) {
            largest = std::max(largest, offsets[e + 1] - offsets[e]);
            empty += offsets[e + 1] == offsets[e] ? 1 : 0;
        }
        std::printf("%5lld tokens: at most %d of an expert, %d experts without\n", static_cast<long long>(m_tokens),
                    largest, empty);
    }

private:
    const Model &m_model;
    std::int64_t m_tokens;
    std::size_t m_slotCount = static_cast<std::size_t>(m_tokens * kSlotsPerToken);
    DeviceArray<float> m_x{gpu_check::randomFloats(static_cast<std::size_t>(m_tokens * kHidden), random())};
    std::unique_ptr<DeviceArray<Bf16>> m_input = randomBf16(static_cast<std::size_t>(m_tokens * kHidden), 1.0F);
    DeviceArray<std::uint8_t> m_workspace{
        static_cast<std::size_t>(kernels::moeRouteWorkspaceBytes(m_tokens, kHidden, kExperts))};
    DeviceArray<std::int32_t> m_expertIds{m_slotCount};
    DeviceArray<float> m_slotWeights{m_slotCount};
    DeviceArray<std::int32_t> m_offsets{static_cast<std::size_t>(kExperts + 1)};
    DeviceArray<std::int32_t> m_slots{m_slotCount};
    DeviceArray<Bf16> m_inner{m_slotCount * kInner};
    DeviceArray<Bf16> m_slotOutputs{m_slotCount * kHidden};
    DeviceArray<float> m_dense{gpu_check::randomFloats(static_cast<std::size_t>(m_tokens * kHidden), random())};
    DeviceArray<Bf16> m_normed{static_cast<std::size_t>(m_tokens * kHidden)};
};

void measure(const Model &model, std::int64_t tokens, W4Variant variant)
{
    const Layer layer(model, tokens);
    ok(layer.route(nullptr), "route");
    layer.printSpread();
    const double gateUpBytes = static_cast<double>(model.gateUp[0]->count());
    const double downBytes = static_cast<double>(model.down[0]->count());
    const double operations =
        2.0 * static_cast<double>(tokens * kSlotsPerToken) * static_cast<double>(kHidden * kInner);
    const auto line = [&](const char *name, double time, double bytes, double flops) {
        std::printf("  %-10s %8.1f us  %5.2f TB/s of weights  %6.1f TFLOP/s\n", name, time, bytes / time * 1e-6,
                    flops / time * 1e-6);
    };
    const int calls = 2 * kLayers;
    const double route = microsecondsEach(calls, [&](int, cudaStream_t stream) { return layer.route(stream); });
    const double gateUp =
        microsecondsEach(calls, [&](int call, cudaStream_t stream) { return layer.gateUp(call, variant, stream); });
    const double down = microsecondsEach(
        calls, [&](int call, cudaStream_t stream) { return layer.down(call, variant, false, stream); });
    const double both = microsecondsEach(calls, [&](int call, cudaStream_t stream) {
        const cudaError_t status = layer.gateUp(call, variant, stream);
        return status == cudaSuccess ? layer.down(call, variant, true, stream) : status;
    });
    const double combine = microsecondsEach(calls, [&](int, cudaStream_t stream) { return layer.combine(stream); });
    const double all = microsecondsEach(calls, [&](int call, cudaStream_t stream) {
        cudaError_t status = layer.route(stream);
        if (status == cudaSuccess)
            status = layer.gateUp(call, variant, stream);
        if (status == cudaSuccess)
            status = layer.down(call, variant, true, stream);
        return status == cudaSuccess ? layer.combine(stream) : status;
    });
    line("route", route, 0.0, 0.0);
    line("gate, up", gateUp, gateUpBytes, 2.0 * operations);
    line("down", down, downBytes, operations);
    line("both", both, gateUpBytes + downBytes, 3.0 * operations);
    line("combine", combine, 0.0, 0.0);
    line("all four", all, gateUpBytes + downBytes, 3.0 * operations);
}

} // namespace

/// Arguments: numbers of tokens (default 256, 1024, 2048, 4096); "portable", "copy-engine" or
/// "warpgroup" for one variant; "sustained" to repeat each for a while and print its energy.
int main(int count, char **arguments)
{
    gpu_check::requireDevice();
    printCard();
    std::vector<std::int64_t> tokens;
    W4Variant variant = W4Variant::Automatic;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(arguments[i], "portable") == 0)
            variant = W4Variant::Portable;
        else if (std::strcmp(arguments[i], "copy-engine") == 0)
            variant = W4Variant::CopyEngine;
        else if (std::strcmp(arguments[i], "warpgroup") == 0)
            variant = W4Variant::Warpgroup;
        else if (std::strcmp(arguments[i], "sustained") == 0)
            printsSustained() = true;
        else
            tokens.push_back(std::atoll(arguments[i]));
    }
    if (tokens.empty())
        tokens = {256, 1024, 2048, 4096};
    const Model model;
    for (const std::int64_t each : tokens)
        measure(model, each, variant);
    return 0;
}
