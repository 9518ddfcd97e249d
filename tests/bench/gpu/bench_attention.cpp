// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_bench.h"
#include "kernels/attention_canvas.h"
#include "kernels/attention_causal.h"

#include <cstring>
#include <numeric>
#include <string>

using namespace palimpsest;
using namespace palimpsest::gpu_bench;
using gpu_check::DeviceArray;
using kernels::Bf16;
using kernels::SequenceView;

/// Attention of canvases and of prompts at the 26B shapes. Time beside the floor that the matrix units set.
namespace {

constexpr std::int64_t kHeads = 16;
constexpr std::int64_t kRows = 256;
constexpr double kTeraflops = 777.0; ///< a large product on an H200

struct Layer
{
    const char *name;
    std::int64_t kvHeads;
    std::int64_t headDim;
    std::int64_t window;
};

constexpr Layer kSliding{"sliding", 8, 256, 1024};
constexpr Layer kFull{"full", 2, 512, 0};

void print(const Layer &layer, const std::string &what, double microseconds, double operations)
{
    std::printf("%-8s %-34s %8.2f us, floor %7.2f, %4.0f TFLOP/s\n", layer.name, what.c_str(), microseconds,
                operations / kTeraflops * 1e-6, operations / microseconds * 1e-6);
}

/// Keys, values and page tables of some sequences, each with pages of its own.
struct Pages
{
    Pages(const Layer &layer, std::int64_t sequences, std::int64_t pagesEach)
        : table(numbered(sequences * pagesEach)),
          elements(
              static_cast<std::size_t>(kernels::pageElements(layer.kvHeads, layer.headDim) * sequences * pagesEach)),
          keys(randomBf16(elements, 0.1F)),
          values(randomBf16(elements, 1.0F))
    {
    }
    static std::vector<std::int32_t> numbered(std::int64_t count)
    {
        std::vector<std::int32_t> pages(static_cast<std::size_t>(count));
        std::iota(pages.begin(), pages.end(), 0);
        return pages;
    }
    [[nodiscard]] kernels::KvPool pool() const { return {keys->data(), values->data()}; }

    DeviceArray<std::int32_t> table;
    std::size_t elements;
    std::unique_ptr<DeviceArray<Bf16>> keys;
    std::unique_ptr<DeviceArray<Bf16>> values;
};

void benchCanvases(const Layer &layer, std::int64_t canvases, std::int64_t context)
{
    const std::int64_t pagesEach = context / kernels::kPagePositions + 1;
    const std::int64_t visible = layer.window > 0 ? std::min(context, layer.window - 1) : context;
    const Pages cache(layer, canvases, pagesEach);
    const Pages scratch(layer, canvases, kernels::scratchPages(kRows));
    std::vector<SequenceView> views;
    for (std::int64_t i = 0; i < canvases; ++i)
        views.push_back({.pageTable = cache.table.data() + i * pagesEach,
                         .length = static_cast<std::int32_t>(context),
                         .rows = static_cast<std::int32_t>(kRows),
                         .firstVisible = static_cast<std::int32_t>(context - visible)});
    const DeviceArray<SequenceView> deviceViews(views);
    const auto count = static_cast<std::size_t>(canvases * kRows * kHeads * layer.headDim);
    const auto queries = randomBf16(count, 1.0F);
    const DeviceArray<Bf16> out(count);
    kernels::CanvasAttentionArgs args{.sequences = canvases,
                                      .rowStride = kRows,
                                      .views = deviceViews.data(),
                                      .mostCached = visible,
                                      .heads = kHeads,
                                      .kvHeads = layer.kvHeads,
                                      .headDim = layer.headDim,
                                      .queries = queries->data(),
                                      .cache = cache.pool(),
                                      .scratch = scratch.pool(),
                                      .out = out.data()};
    const DeviceArray<unsigned char> workspace(
        std::max<std::size_t>(16, static_cast<std::size_t>(kernels::canvasAttentionWorkspace(args))));
    args.workspace = workspace.data();
    const double time =
        microsecondsEach(20, [&](int, cudaStream_t stream) { return kernels::canvasAttention(args, stream); });
    print(layer, std::to_string(canvases) + " canvases behind " + std::to_string(context), time,
          4.0 * static_cast<double>(canvases * kRows * (visible + kRows) * kHeads * layer.headDim));
}

void benchPrompt(const Layer &layer, std::int64_t rows, std::int64_t context)
{
    const Pages cache(layer, 1, (context + rows) / kernels::kPagePositions + 1);
    const DeviceArray<SequenceView> view(std::vector<SequenceView>{{.pageTable = cache.table.data(),
                                                                    .length = static_cast<std::int32_t>(context),
                                                                    .rows = static_cast<std::int32_t>(rows)}});
    const auto count = static_cast<std::size_t>(rows * kHeads * layer.headDim);
    const auto queries = randomBf16(count, 1.0F);
    const DeviceArray<Bf16> out(count);
    const double time = microsecondsEach(10, [&](int, cudaStream_t stream) {
        return kernels::causalAttention({.sequences = 1,
                                         .rowStride = rows,
                                         .views = view.data(),
                                         .window = layer.window,
                                         .heads = kHeads,
                                         .kvHeads = layer.kvHeads,
                                         .headDim = layer.headDim,
                                         .queries = queries->data(),
                                         .cache = cache.pool(),
                                         .out = out.data()},
                                        stream);
    });
    double seen = 0.0;
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t before = context + row + 1;
        seen += static_cast<double>(layer.window > 0 ? std::min(before, layer.window) : before);
    }
    print(layer, std::to_string(rows) + " rows of a prompt behind " + std::to_string(context), time,
          4.0 * seen * static_cast<double>(kHeads * layer.headDim));
}

} // namespace

/// Argument: "sustained" to repeat each for a while and print its energy.
int main(int count, char **arguments)
{
    gpu_check::requireDevice();
    printCard();
    printsSustained() = count > 1 && std::strcmp(arguments[1], "sustained") == 0;
    for (const std::int64_t canvases : {4, 1, 2, 8})
        for (const Layer &layer : {kSliding, kFull})
            benchCanvases(layer, canvases, 512);
    for (const std::int64_t canvases : {1, 4})
        for (const std::int64_t context : {0, 4096, 16384})
            for (const Layer &layer : {kSliding, kFull})
                benchCanvases(layer, canvases, context);
    for (const std::int64_t rows : {512, 1024, 2048})
        for (const Layer &layer : {kSliding, kFull})
            benchPrompt(layer, rows, rows == 1024 ? 3072 : 0);
    return 0;
}
