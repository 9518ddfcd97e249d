// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_check.h"
#include "kernels/dense_gemm.h"
#include "kernels/dense_gemm_variants.h"

#include <bit>
#include <functional>

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::Bf16;
using kernels::DenseGemmArgs;
using kernels::GemmEpilogue;
using kernels::GemmVariant;
using kernels::WeightLayout;

namespace {

using Launch = std::function<cudaError_t(const DenseGemmArgs &)>;

struct Case
{
    std::int64_t rows;
    std::int64_t outputs;
    std::int64_t inputs;
    bool operator==(const Case &) const = default;
};

/// Outputs and rows of the Hopper kernel's tiles.
constexpr std::pair<int, int> kTiles[] = {{64, 128}, {64, 256}, {128, 128}, {128, 256}, {192, 128}};

struct Operands
{
    std::vector<Bf16> x;
    std::vector<Bf16> weight; ///< as OutputMajor
};

/// Fresh for every shape; its many variants share them, or drawing them would take longer than all else.
const Operands &operandsOf(const Case &shape)
{
    static Case drawnFor{};
    static Operands drawn;
    if (shape == drawnFor)
        return drawn;
    drawnFor = shape;
    const float deviation = 1.0F / std::sqrt(static_cast<float>(shape.inputs));
    drawn = {
        roundedToBf16(randomFloats(static_cast<std::size_t>(shape.rows * shape.inputs), testRandom())),
        roundedToBf16(randomFloats(static_cast<std::size_t>(shape.outputs * shape.inputs), testRandom(), deviation))};
    return drawn;
}

std::vector<Bf16> transposed(const std::vector<Bf16> &weight, const Case &shape)
{
    std::vector<Bf16> out(weight.size());
    for (std::int64_t n = 0; n < shape.outputs; ++n)
        for (std::int64_t k = 0; k < shape.inputs; ++k)
            out[static_cast<std::size_t>(k * shape.outputs + n)] =
                weight[static_cast<std::size_t>(n * shape.inputs + k)];
    return out;
}

/// The operands of a shape on the device, and what a product of them is asked with.
struct DeviceOperands
{
    Case shape;
    WeightLayout layout;
    DeviceArray<Bf16> x;
    DeviceArray<Bf16> weight;

    DeviceOperands(const Case &itsShape, WeightLayout itsLayout)
        : shape(itsShape),
          layout(itsLayout),
          x(operandsOf(shape).x),
          weight(layout == WeightLayout::OutputMajor ? operandsOf(shape).weight
                                                     : transposed(operandsOf(shape).weight, shape))
    {
    }

    [[nodiscard]] DenseGemmArgs args(GemmEpilogue epilogue, int parts) const
    {
        return {.rows = shape.rows,
                .outputs = shape.outputs,
                .inputs = shape.inputs,
                .x = x.data(),
                .weight = weight.data(),
                .layout = layout,
                .epilogue = epilogue,
                .parts = parts};
    }
};

/// A product's summands of `count` elements each, added in their order.
std::vector<float> addedParts(const std::vector<float> &summands, std::size_t count)
{
    std::vector<float> sum(summands.begin(), summands.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = count; i < summands.size(); ++i)
        sum[i % count] += summands[i];
    return sum;
}

double product(const Operands &operands, const Case &shape, std::int64_t row, std::int64_t output)
{
    double sum = 0.0;
    for (std::int64_t k = 0; k < shape.inputs; ++k)
        sum += static_cast<double>(fromBf16(operands.x[static_cast<std::size_t>(row * shape.inputs + k)])) *
               static_cast<double>(fromBf16(operands.weight[static_cast<std::size_t>(output * shape.inputs + k)]));
    return sum;
}

double gelu(double x)
{
    return 0.5 * x * (1.0 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

// What the kernel should store at (row, column), and whether that was stored: every element is compared where the
// product is small, otherwise a random sample and the last row and column.
void compare(const std::vector<float> &found, const Operands &operands, const Case &shape, GemmEpilogue epilogue,
             const std::string &what)
{
    const bool gated = epilogue == GemmEpilogue::GatedGelu;
    const std::int64_t width = gated ? shape.outputs / 2 : shape.outputs;
    const auto wantedAt = [&](std::int64_t row, std::int64_t column) {
        const double first = product(operands, shape, row, column);
        return gated ? gelu(first) * product(operands, shape, row, column + width) : first;
    };
    std::vector<float> some;
    std::vector<double> wanted;
    const auto take = [&](std::int64_t row, std::int64_t column) {
        some.push_back(found[static_cast<std::size_t>(row * width + column)]);
        wanted.push_back(wantedAt(row, column));
    };
    if (shape.rows * shape.outputs * shape.inputs < 20'000'000) {
        for (std::int64_t row = 0; row < shape.rows; ++row)
            for (std::int64_t column = 0; column < width; ++column)
                take(row, column);
    } else {
        for (int i = 0; i < 3000; ++i)
            take(static_cast<std::int64_t>(testRandom()()) % shape.rows,
                 static_cast<std::int64_t>(testRandom()()) % width);
        for (std::int64_t column = 0; column < width; column += 7)
            take(shape.rows - 1, column);
        for (std::int64_t row = 0; row < shape.rows; ++row)
            take(row, width - 1);
        require(std::none_of(found.begin(), found.end(), [](float value) { return std::isnan(value); }),
                what + ": elements were not written");
    }
    // Exact products, sums of n terms in fp32: sqrt(n) 2^-24 at most of the terms' norm. bf16 results add 2^-9 /
    // sqrt(3), binary16 2^-12.
    const double bound = epilogue == GemmEpilogue::Float ? 1e-5 : epilogue == GemmEpilogue::Fp16 ? 0x1p-11 : 0x1p-8;
    requireClose(some, wanted, bound, what);
}

/// A product whose result is rounded to 16 bits.
void runRounded(const DeviceOperands &onDevice, GemmEpilogue epilogue, const std::string &what, const Launch &launch)
{
    const Case &shape = onDevice.shape;
    const auto width =
        static_cast<std::size_t>(epilogue == GemmEpilogue::GatedGelu ? shape.outputs / 2 : shape.outputs);
    const std::size_t count = static_cast<std::size_t>(shape.rows) * width;
    DenseGemmArgs args = onDevice.args(epilogue, 1);
    const DeviceArray<std::uint16_t> out(count);
    args.out = out.data();
    ok(launch(args), what);
    const auto found = out.host(what);
    std::vector<float> wide(count);
    std::transform(found.begin(), found.end(), wide.begin(), [&](std::uint16_t bits) {
        return epilogue == GemmEpilogue::Fp16 ? fromFp16(bits) : fromBf16(bits);
    });
    compare(wide, operandsOf(shape), shape, epilogue, what);

    // Fewer rows: the same bits, and those behind stay as they were.
    const std::int64_t fewer = (shape.rows + 1) / 2;
    const DeviceArray<std::uint16_t> again(count);
    args.out = again.data();
    args.rows = fewer;
    ok(launch(args), what);
    auto wanted = found;
    std::fill(wanted.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(fewer) * width), wanted.end(),
              std::uint16_t{0xFFFF});
    requireSameBits(again.host(what), wanted, what + ", fewer rows");
}

/// A count in device memory: rows behind it stay as they were, the others are as in `found`, the whole product.
void runActiveRows(DenseGemmArgs args, const std::vector<float> &found, const std::string &what, const Launch &launch)
{
    const auto count = static_cast<std::size_t>(args.rows * args.outputs);
    const auto active = static_cast<std::int32_t>(args.rows / 3);
    const DeviceArray<std::int32_t> activeRows(std::vector<std::int32_t>{active});
    const DeviceArray<float> limited(found.size());
    args.out = limited.data();
    args.activeRows = activeRows.data();
    ok(launch(args), what);
    const auto part = limited.host(what);
    for (std::size_t i = 0; i < part.size(); ++i) {
        const bool wanted = static_cast<std::int64_t>(i % count) / args.outputs < active;
        if (wanted ? std::bit_cast<std::uint32_t>(part[i]) != std::bit_cast<std::uint32_t>(found[i])
                   : !std::isnan(part[i]))
            return fail(what + ": active rows");
    }
}

/// A product in fp32, in parts or whole.
void runFloat(const DeviceOperands &onDevice, int parts, const std::string &what, const Launch &launch)
{
    const Case &shape = onDevice.shape;
    const auto count = static_cast<std::size_t>(shape.rows * shape.outputs);
    DenseGemmArgs args = onDevice.args(GemmEpilogue::Float, parts);
    const DeviceArray<float> out(count * static_cast<std::size_t>(parts));
    args.out = out.data();
    ok(launch(args), what);
    const auto found = out.host(what);
    compare(addedParts(found, count), operandsOf(shape), shape, GemmEpilogue::Float, what);
    runActiveRows(args, found, what, launch);

    // Fewer rows, the same bits.
    args.rows = (shape.rows + 1) / 2;
    const DeviceArray<float> again(count * static_cast<std::size_t>(parts));
    args.out = again.data();
    ok(launch(args), what);
    const auto other = again.host(what);
    const auto rowFloats = static_cast<std::size_t>(args.rows * shape.outputs);
    bool same = true;
    for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part)
        same = same && std::memcmp(other.data() + part * rowFloats, found.data() + part * count, rowFloats * 4) == 0;
    require(same, what + ": the bits depend on the number of rows");
}

void run(const Case &shape, GemmEpilogue epilogue, WeightLayout layout, int parts, const std::string &variant,
         const Launch &launch)
{
    const std::string what =
        variant + " " + std::to_string(shape.rows) + " x " + std::to_string(shape.outputs) + " x " +
        std::to_string(shape.inputs) + " epilogue " + std::to_string(static_cast<int>(epilogue)) +
        (layout == WeightLayout::InputMajor ? " input-major" : "") + " parts " + std::to_string(parts);
    const DeviceOperands onDevice(shape, layout);
    if (epilogue == GemmEpilogue::Float)
        runFloat(onDevice, parts, what, launch);
    else
        runRounded(onDevice, epilogue, what, launch);
}

void refusals()
{
    const DeviceArray<Bf16> memory(4096);
    const DenseGemmArgs good{.rows = 4,
                             .outputs = 32,
                             .inputs = 32,
                             .x = memory.data(),
                             .weight = memory.data(),
                             .epilogue = GemmEpilogue::HalfWidth,
                             .out = memory.data() + 2048};
    const auto refused = [&](const std::string &what, const std::function<void(DenseGemmArgs &)> &change) {
        DenseGemmArgs args = good;
        change(args);
        require(kernels::denseGemm(args, nullptr) == cudaErrorInvalidValue, "refused: " + what);
    };
    refused("12 inputs", [](DenseGemmArgs &args) { args.inputs = 12; });
    refused("12 outputs", [](DenseGemmArgs &args) { args.outputs = 12; });
    refused("24 gated outputs", [](DenseGemmArgs &args) {
        args.outputs = 24;
        args.epilogue = GemmEpilogue::GatedGelu;
    });
    refused("parts of a rounded product", [](DenseGemmArgs &args) { args.parts = 2; });
    refused("added parts of a rounded product", [](DenseGemmArgs &args) { args.addParts = true; });
    refused("active rows of a rounded product",
            [](DenseGemmArgs &args) { args.activeRows = reinterpret_cast<const std::int32_t *>(args.x); });
    refused("binary16 of an input-major weight", [](DenseGemmArgs &args) {
        args.epilogue = GemmEpilogue::Fp16;
        args.layout = WeightLayout::InputMajor;
    });
    refused("x between vectors", [](DenseGemmArgs &args) { ++args.x; });
    refused("a weight between vectors", [](DenseGemmArgs &args) { ++args.weight; });
    refused("a result between vectors", [&](DenseGemmArgs &args) { args.out = memory.data() + 2049; });
    refused("no weight", [](DenseGemmArgs &args) { args.weight = nullptr; });
    DenseGemmArgs empty = good;
    empty.rows = 0;
    require(kernels::denseGemm(empty, nullptr) == cudaSuccess, "no rows are nothing to do");
}

void allOf(const Case &shape, const std::string &variant, const Launch &launch)
{
    if (!inShard())
        return;
    for (const GemmEpilogue epilogue : {GemmEpilogue::Float, GemmEpilogue::HalfWidth})
        for (const WeightLayout layout : {WeightLayout::OutputMajor, WeightLayout::InputMajor})
            run(shape, epilogue, layout, 1, variant, launch);
    run(shape, GemmEpilogue::Fp16, WeightLayout::OutputMajor, 1, variant, launch);
    if (shape.outputs % 16 == 0)
        run(shape, GemmEpilogue::GatedGelu, WeightLayout::OutputMajor, 1, variant, launch);
    for (const WeightLayout layout : {WeightLayout::OutputMajor, WeightLayout::InputMajor}) {
        const int parts = kernels::denseGemmParts(shape.outputs, shape.inputs, layout);
        if (parts > 1)
            run(shape, GemmEpilogue::Float, layout, parts, variant, launch);
    }
}

/// Whatever tile a product is given by its number of rows or by what runs beside it, a row's bits are the same.
void tilesDoNotMatter(const Case &shape)
{
    if (!inShard())
        return;
    const DeviceOperands onDevice(shape, WeightLayout::OutputMajor);
    const int parts = kernels::denseGemmParts(shape.outputs, shape.inputs, WeightLayout::OutputMajor);
    const auto count = static_cast<std::size_t>(shape.rows * shape.outputs * parts);
    const auto bits = [&](const Launch &launch, bool besideNext) {
        const DeviceArray<float> out(count);
        DenseGemmArgs args = onDevice.args(GemmEpilogue::Float, parts);
        args.out = out.data();
        args.besideNext = besideNext;
        ok(launch(args), "any tile");
        return out.host("any tile");
    };
    const auto best = [](const DenseGemmArgs &args) {
        return kernels::denseGemm(args, nullptr);
    };
    const std::vector<float> wanted = bits(best, false);
    requireSameBits(bits(best, true), wanted, "a tile that leaves room to the next launch");
    for (const auto &[weightRows, tileRows] : kTiles)
        requireSameBits(bits(
                            [&](const DenseGemmArgs &args) {
                                return kernels::denseGemmHopper(args, {weightRows, tileRows}, nullptr);
                            },
                            false),
                        wanted, "tile " + std::to_string(weightRows) + " x " + std::to_string(tileRows));
}

/// Parts added by the product are what adding them afterwards in their order gives, bit for bit.
void addedPartsAreTheSame(const Case &shape, WeightLayout layout, const std::string &variant, const Launch &launch)
{
    if (!inShard())
        return;
    const std::string what = variant + ", added parts, inputs " + std::to_string(shape.inputs) +
                             (layout == WeightLayout::InputMajor ? " input-major" : "");
    const DeviceOperands onDevice(shape, layout);
    const int parts = kernels::denseGemmParts(shape.outputs, shape.inputs, layout);
    require(parts > 1, what + ": a shape with parts");
    const auto count = static_cast<std::size_t>(shape.rows * shape.outputs);
    const DeviceArray<float> apart(count * static_cast<std::size_t>(parts));
    DenseGemmArgs args = onDevice.args(GemmEpilogue::Float, parts);
    args.out = apart.data();
    ok(launch(args), what);
    const auto wanted = addedParts(apart.host(what), count);
    const DeviceArray<float> together(count);
    args.out = together.data();
    args.addParts = true;
    ok(launch(args), what);
    requireSameBits(together.host(what), wanted, what);
}

/// What binary16 has no room for becomes its largest finite number.
void saturates(const std::string &variant, const Launch &launch)
{
    constexpr std::int64_t kSize = 8;
    std::vector<Bf16> x(kSize * kSize);
    const std::vector<float> rows = {1.0F, -1.0F, 300.0F, -300.0F, 1e30F, -1e30F, 0.0F, 1e-9F};
    for (std::size_t row = 0; row < rows.size(); ++row)
        x[row * kSize] = toBf16(rows[row]);
    const DeviceArray<Bf16> onDevice(x);
    const DeviceArray<Bf16> weight(std::vector<Bf16>(kSize * kSize, toBf16(512.0F)));
    const DeviceArray<std::uint16_t> out(kSize * kSize);
    ok(launch({.rows = kSize,
               .outputs = kSize,
               .inputs = kSize,
               .x = onDevice.data(),
               .weight = weight.data(),
               .epilogue = GemmEpilogue::Fp16,
               .out = out.data()}),
       variant);
    const auto found = out.host(variant);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const float exact = fromBf16(x[i / kSize * kSize]) * 512.0F;
        require(found[i] == toFp16(std::clamp(exact, -65504.0F, 65504.0F)),
                variant + ", binary16 of " + std::to_string(exact) + ": " + std::to_string(fromFp16(found[i])));
    }
}

} // namespace

int main()
{
    requireDevice();
    refusals();
    saturates("best", [](const DenseGemmArgs &args) { return kernels::denseGemm(args, nullptr); });
    saturates("portable",
              [](const DenseGemmArgs &args) { return kernels::denseGemm(args, GemmVariant::Portable, nullptr); });
    // Tails of every tile: rows of 128 and 256, outputs of 64 and 128, inputs of 32 and 64.
    const std::vector<Case> shapes = {{1, 8, 8},        {17, 48, 40},     {256, 256, 128},   {257, 136, 72},
                                      {64, 320, 192},   {300, 528, 1096}, {100, 2816, 2112}, {256, 4224, 2816},
                                      {1500, 3080, 136}}; // the last: more tiles than multiprocessors
    const Case parted[] = {{130, 200, 4104}, {700, 1416, 2568}, {2100, 1600, 2568}}; // the last: more than a round
    cudaDeviceProp properties{};
    ok(cudaGetDeviceProperties(&properties, 0), "properties");
    for (const Case &shape : shapes) {
        allOf(shape, "portable",
              [](const DenseGemmArgs &args) { return kernels::denseGemm(args, GemmVariant::Portable, nullptr); });
        if (properties.major != 9 || properties.minor != 0)
            continue;
        tilesDoNotMatter(shape);
        for (const auto &[weightRows, tileRows] : kTiles)
            allOf(shape, "hopper " + std::to_string(weightRows) + "x" + std::to_string(tileRows),
                  [&](const DenseGemmArgs &args) {
                      return kernels::denseGemmHopper(args, {weightRows, tileRows}, nullptr);
                  });
    }
    for (const Case &shape : parted)
        for (const WeightLayout layout : {WeightLayout::OutputMajor, WeightLayout::InputMajor}) {
            addedPartsAreTheSame(shape, layout, "portable", [](const DenseGemmArgs &args) {
                return kernels::denseGemm(args, GemmVariant::Portable, nullptr);
            });
            addedPartsAreTheSame(shape, layout, "best",
                                 [](const DenseGemmArgs &args) { return kernels::denseGemm(args, nullptr); });
        }
    return finish("dense_gemm");
}
