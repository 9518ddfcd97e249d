// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_bench.h"
#include "kernels/attention_canvas.h"
#include "kernels/attention_causal.h"
#include "kernels/embed.h"
#include "kernels/qkv_norm_rope.h"
#include "kernels/rms_norm.h"

#include <cstring>
#include <numeric>

using namespace palimpsest;
using namespace palimpsest::gpu_bench;
using gpu_check::DeviceArray;
using kernels::Bf16;
using kernels::SequenceView;

/// The parts of a denoising step beside the products, the experts and what follows the head, at the 26B shapes: canvas
/// of 256 rows.
namespace {

constexpr std::int64_t kRows = 256;
constexpr std::int64_t kHidden = 2816;

std::vector<float> ones(std::int64_t count)
{
    return std::vector<float>(static_cast<std::size_t>(count), 1.0F);
}

void benchNorms()
{
    std::mt19937 random(1);
    const DeviceArray<float> x(gpu_check::randomFloats(kRows * kHidden, random));
    const DeviceArray<float> branch(gpu_check::randomFloats(6 * kRows * kHidden, random));
    const DeviceArray<float> weight(ones(kHidden));
    const DeviceArray<Bf16> out(kRows * kHidden);
    for (const int parts : {1, 6}) {
        const double time = microsecondsEach(20, [&](int, cudaStream_t stream) {
            kernels::ResidualNormArgs args{.rows = kRows,
                                           .columns = kHidden,
                                           .x = x.data(),
                                           .branch = branch.data(),
                                           .parts = parts,
                                           .branchWeight = weight.data()};
            args.norms[0] = {weight.data(), out.data()};
            return kernels::residualNorm(args, stream);
        });
        std::printf("residualNorm, %d parts: %.2f us\n", parts, time);
    }
}

struct Layer
{
    const char *name;
    std::int64_t kvHeads;
    std::int64_t headDim;
    std::int64_t pairs;
    bool hasValues;
    std::int64_t window;
};

void benchAttention(const Layer &layer, std::int64_t context)
{
    constexpr std::int64_t kHeads = 16;
    const std::int64_t pages = (context + kRows) / 64 + 2;
    std::vector<std::int32_t> table(static_cast<std::size_t>(pages));
    std::iota(table.begin(), table.end(), 0);
    const DeviceArray<std::int32_t> deviceTable(table);
    const std::int64_t visible = layer.window > 0 ? std::min(context, layer.window - 1) : context;
    const DeviceArray<SequenceView> view(
        std::vector<SequenceView>{{.pageTable = deviceTable.data(),
                                   .length = static_cast<std::int32_t>(context),
                                   .rows = static_cast<std::int32_t>(kRows),
                                   .firstVisible = static_cast<std::int32_t>(context - visible)}});
    const auto pageElements = static_cast<std::size_t>(kernels::pageElements(layer.kvHeads, layer.headDim));
    const auto cacheKeys = randomBf16(pageElements * static_cast<std::size_t>(pages), 0.1F);
    const auto cacheValues = randomBf16(pageElements * static_cast<std::size_t>(pages), 1.0F);
    const auto scratchKeys = randomBf16(pageElements * 4, 0.1F);
    const auto scratchValues = randomBf16(pageElements * 4, 1.0F);
    const std::int64_t width = (kHeads + (layer.hasValues ? 2 : 1) * layer.kvHeads) * layer.headDim;
    const auto qkv = randomBf16(static_cast<std::size_t>(kRows * width), 1.0F);
    const auto queries = randomBf16(static_cast<std::size_t>(kRows * kHeads * layer.headDim), 1.0F);
    const DeviceArray<Bf16> out(static_cast<std::size_t>(kRows * kHeads * layer.headDim));
    const DeviceArray<float> weight(ones(layer.headDim));
    const DeviceArray<float2> angles(static_cast<std::size_t>(kRows * layer.pairs));
    kernels::CanvasAttentionArgs args{.sequences = 1,
                                      .rowStride = kRows,
                                      .views = view.data(),
                                      .mostCached = context,
                                      .heads = kHeads,
                                      .kvHeads = layer.kvHeads,
                                      .headDim = layer.headDim,
                                      .queries = queries->data(),
                                      .cache = {cacheKeys->data(), cacheValues->data()},
                                      .scratch = {scratchKeys->data(), scratchValues->data()},
                                      .out = out.data()};
    const DeviceArray<unsigned char> workspace(
        std::max<std::size_t>(16, static_cast<std::size_t>(kernels::canvasAttentionWorkspace(args))));
    args.workspace = workspace.data();
    const double attention =
        microsecondsEach(20, [&](int, cudaStream_t stream) { return kernels::canvasAttention(args, stream); });
    const double rope = microsecondsEach(20, [&](int, cudaStream_t stream) {
        return kernels::qkvNormRope({.sequences = 1,
                                     .rowStride = kRows,
                                     .views = view.data(),
                                     .heads = kHeads,
                                     .kvHeads = layer.kvHeads,
                                     .headDim = layer.headDim,
                                     .pairs = layer.pairs,
                                     .qkv = qkv->data(),
                                     .hasValues = layer.hasValues,
                                     .queryWeight = weight.data(),
                                     .keyWeight = weight.data(),
                                     .angles = angles.data(),
                                     .queries = queries->data(),
                                     .pool = {scratchKeys->data(), scratchValues->data()}},
                                    stream);
    });
    const double operations = 4.0 * static_cast<double>(kRows * (visible + kRows) * kHeads * layer.headDim);
    std::printf("%s, context %lld: attention %.2f us (%.0f TFLOP/s), qkvNormRope %.2f us\n", layer.name,
                static_cast<long long>(context), attention, operations / attention * 1e-6, rope);
}

void benchCausal(const Layer &layer, std::int64_t context, std::int64_t rows)
{
    constexpr std::int64_t kHeads = 16;
    const std::int64_t pages = (context + rows) / 64 + 2;
    std::vector<std::int32_t> table(static_cast<std::size_t>(pages));
    std::iota(table.begin(), table.end(), 0);
    const DeviceArray<std::int32_t> deviceTable(table);
    const DeviceArray<SequenceView> view(std::vector<SequenceView>{{.pageTable = deviceTable.data(),
                                                                    .length = static_cast<std::int32_t>(context),
                                                                    .rows = static_cast<std::int32_t>(rows)}});
    const auto pageElements = static_cast<std::size_t>(kernels::pageElements(layer.kvHeads, layer.headDim));
    const auto keys = randomBf16(pageElements * static_cast<std::size_t>(pages), 0.1F);
    const auto values = randomBf16(pageElements * static_cast<std::size_t>(pages), 1.0F);
    const auto queries = randomBf16(static_cast<std::size_t>(rows * kHeads * layer.headDim), 1.0F);
    const DeviceArray<Bf16> out(static_cast<std::size_t>(rows * kHeads * layer.headDim));
    const double time = microsecondsEach(10, [&](int, cudaStream_t stream) {
        return kernels::causalAttention({.sequences = 1,
                                         .rowStride = rows,
                                         .views = view.data(),
                                         .window = layer.window,
                                         .heads = kHeads,
                                         .kvHeads = layer.kvHeads,
                                         .headDim = layer.headDim,
                                         .queries = queries->data(),
                                         .cache = {keys->data(), values->data()},
                                         .out = out.data()},
                                        stream);
    });
    std::printf("%s, %lld rows behind %lld: causal attention %.2f us\n", layer.name, static_cast<long long>(rows),
                static_cast<long long>(context), time);
}

} // namespace

/// Argument: "sustained" to repeat each part for a while and print its energy.
int main(int count, char **arguments)
{
    gpu_check::requireDevice();
    printCard();
    printsSustained() = count > 1 && std::strcmp(arguments[1], "sustained") == 0;
    const Layer sliding{"sliding layer", 8, 256, 128, true, 1024};
    const Layer full{"full layer", 2, 512, 64, false, 0};
    benchNorms();
    for (const std::int64_t context : {0, 512, 4096, 16384}) {
        benchAttention(sliding, context);
        benchAttention(full, context);
    }
    benchCausal(sliding, 3072, 1024);
    benchCausal(full, 3072, 1024);
    return 0;
}
