// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_bench.h"
#include "kernels/dense_gemm.h"
#include "kernels/dense_gemm_variants.h"
#include "library_gemm.h"

#include <cstring>

using namespace palimpsest;
using namespace palimpsest::gpu_bench;
using kernels::Bf16;
using kernels::DenseGemmArgs;
using kernels::GemmEpilogue;
using kernels::WeightLayout;

namespace {

struct Product
{
    const char *name;
    std::int64_t outputs;
    std::int64_t inputs;
    GemmEpilogue epilogue;
    WeightLayout layout;
    int perStep; ///< how often a denoising step of the 26B shapes does it
};

const Product kProducts[] = {
    {"qkv sliding", 8192, 2816, GemmEpilogue::HalfWidth, WeightLayout::OutputMajor, 25},
    {"o sliding", 2816, 4096, GemmEpilogue::Float, WeightLayout::OutputMajor, 25},
    {"qk full", 9216, 2816, GemmEpilogue::HalfWidth, WeightLayout::OutputMajor, 5},
    {"o full", 2816, 8192, GemmEpilogue::Float, WeightLayout::OutputMajor, 5},
    {"gate up", 4224, 2816, GemmEpilogue::GatedGelu, WeightLayout::OutputMajor, 31},
    {"down", 2816, 2112, GemmEpilogue::Float, WeightLayout::OutputMajor, 31},
    {"head", 262144, 2816, GemmEpilogue::Fp16, WeightLayout::OutputMajor, 1},
    {"soft embedding", 2816, 262144, GemmEpilogue::Float, WeightLayout::InputMajor, 1},
};

} // namespace

/// Arguments: rows (256); then "all" to try every tile choice of the Hopper kernel, "sustained" to repeat each product
/// for a while and print its energy, "alone" to leave the vendor's library out.
int main(int count, char **arguments)
{
    gpu_check::requireDevice();
    printCard();
    const std::int64_t rows = count > 1 ? std::atoll(arguments[1]) : 256;
    const auto wants = [&](const char *word) {
        return std::any_of(arguments + std::min(count, 2), arguments + count,
                           [&](const char *argument) { return std::strcmp(argument, word) == 0; });
    };
    const bool all = wants("all");
    printsSustained() = wants("sustained");
    const std::unique_ptr<LibraryGemm> library = wants("alone") ? nullptr : LibraryGemm::open();
    if (library == nullptr && !wants("alone"))
        std::puts("cuBLASLt is not there");
    double step = 0.0;
    double stepBytes = 0.0;
    for (const Product &product : kProducts) {
        const auto weightCount = static_cast<std::size_t>(product.outputs * product.inputs);
        // Enough copies of the weight to exceed the cache.
        const std::size_t copies = weightCount > (std::size_t{1} << 28U) ? 1 : 8;
        const auto weights = randomBf16(weightCount * copies, 0.02F);
        const auto x = randomBf16(static_cast<std::size_t>(rows * product.inputs), 1.0F);
        const int wantedParts = product.epilogue == GemmEpilogue::Float
                                    ? kernels::denseGemmParts(product.outputs, product.inputs, product.layout)
                                    : 1;
        const gpu_check::DeviceArray<float> out(static_cast<std::size_t>(rows * product.outputs * wantedParts));
        DenseGemmArgs args{.rows = rows,
                           .outputs = product.outputs,
                           .inputs = product.inputs,
                           .x = x->data(),
                           .layout = product.layout,
                           .epilogue = product.epilogue,
                           .out = out.data(),
                           .parts = wantedParts};
        const double operations = 2.0 * static_cast<double>(rows) * static_cast<double>(weightCount);
        const auto report = [&](const char *label, const std::function<cudaError_t(cudaStream_t)> &launch) {
            const double time = microsecondsEach(copies == 1 ? 3 : 24, [&](int call, cudaStream_t stream) {
                args.weight = weights->data() + static_cast<std::size_t>(call) % copies * weightCount;
                return launch(stream);
            });
            std::printf("%-15s %-22s parts %d %9.1f us %7.1f TFLOP/s %6.2f TB/s of weights, %.0f MHz\n", product.name,
                        label, args.parts, time, operations / time * 1e-6,
                        2.0 * static_cast<double>(weightCount) / time * 1e-6, clockMegahertz());
            return time;
        };
        if (all) {
            for (const int parts : {1, wantedParts}) {
                args.parts = parts;
                for (const auto &[weightRows, tileRows] :
                     {std::pair{64, 128}, {64, 256}, {128, 128}, {128, 256}, {192, 128}}) {
                    const std::string label = "hopper " + std::to_string(weightRows) + "x" + std::to_string(tileRows);
                    report(label.c_str(), [&, weight = weightRows, tile = tileRows](cudaStream_t stream) {
                        return kernels::denseGemmHopper(args, {.weightRows = weight, .tileRows = tile}, stream);
                    });
                }
                if (wantedParts == 1)
                    break;
            }
            args.parts = wantedParts;
        }
        const double best = report("best", [&](cudaStream_t stream) { return kernels::denseGemm(args, stream); });
        if (args.parts > 1) {
            args.addParts = true;
            report("parts added", [&](cudaStream_t stream) { return kernels::denseGemm(args, stream); });
            args.addParts = false;
        }
        double theirs = 0.0;
        const int algorithms = library == nullptr ? 0 : library->prepare(args);
        for (int algorithm = 0; algorithm < algorithms; ++algorithm) {
            const double time =
                report("cuBLASLt", [&](cudaStream_t stream) { return library->run(args, algorithm, stream); });
            theirs = algorithm == 0 ? time : std::min(theirs, time);
        }
        if (algorithms > 0)
            std::printf("%-15s ours %.1f us, cuBLASLt's best of %d %.1f us\n", product.name, best, algorithms, theirs);
        if (product.outputs < 100000 && product.inputs < 100000) {
            step += best * product.perStep;
            stepBytes += 2.0 * static_cast<double>(weightCount) * product.perStep;
        }
    }
    std::printf("dense products of a step at %lld rows: %.3f ms, %.2f GB of weights\n", static_cast<long long>(rows),
                step * 1e-3, stepBytes * 1e-9);
    return 0;
}
