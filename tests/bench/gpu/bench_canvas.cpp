// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_bench.h"
#include "kernels/embed.h"
#include "kernels/qkv_norm_rope.h"
#include "kernels/rms_norm.h"

#include <cstring>

using namespace palimpsest;
using namespace palimpsest::gpu_bench;
using gpu_check::DeviceArray;
using kernels::Bf16;
using kernels::SequenceView;

/// The small launches of a denoising step at the 26B shapes: canvas of 256 rows.
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
};

void benchHeadNorms(const Layer &layer)
{
    constexpr std::int64_t kHeads = 16;
    const DeviceArray<SequenceView> view(std::vector<SequenceView>{{.rows = static_cast<std::int32_t>(kRows)}});
    const auto pageElements = static_cast<std::size_t>(kernels::pageElements(layer.kvHeads, layer.headDim));
    const DeviceArray<Bf16> keys(pageElements * 4);
    const DeviceArray<Bf16> values(pageElements * 4);
    const std::int64_t width = (kHeads + (layer.hasValues ? 2 : 1) * layer.kvHeads) * layer.headDim;
    const auto qkv = randomBf16(static_cast<std::size_t>(kRows * width), 1.0F);
    const DeviceArray<Bf16> queries(static_cast<std::size_t>(kRows * kHeads * layer.headDim));
    const DeviceArray<float> weight(ones(layer.headDim));
    const DeviceArray<float2> angles(static_cast<std::size_t>(kRows * layer.pairs));
    const double time = microsecondsEach(20, [&](int, cudaStream_t stream) {
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
                                     .queries = queries.data(),
                                     .pool = {keys.data(), values.data()}},
                                    stream);
    });
    std::printf("%s: qkvNormRope %.2f us\n", layer.name, time);
}

} // namespace

/// Argument: "sustained" to repeat each part for a while and print its energy.
int main(int count, char **arguments)
{
    gpu_check::requireDevice();
    printCard();
    printsSustained() = count > 1 && std::strcmp(arguments[1], "sustained") == 0;
    benchNorms();
    benchHeadNorms({"sliding layer", 8, 256, 128, true});
    benchHeadNorms({"full layer", 2, 512, 64, false});
    return 0;
}
