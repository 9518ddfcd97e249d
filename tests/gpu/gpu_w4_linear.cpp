// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "kernels/w4_linear.h"

#include "gpu_check.h"
#include "w4_random.h"

using namespace palimpsest;
using namespace palimpsest::gpu_check;

namespace {

constexpr double kFloatBound = 1e-5; // fp32 sums of at most 4096 products, rounded once for 16
constexpr double kBf16Bound = 4e-3;  // one rounding to bf16: at most 2^-8 = 3.9e-3 of the value

class Linear
{
public:
    Linear(std::int64_t outputs, std::int64_t inputs, std::int64_t groupSize)
        : m_weights(1, outputs, inputs, groupSize, testRandom()), m_blocks(m_weights.blocks(kernels::W4RowOrder::Plain))
    {
    }

    [[nodiscard]] bool wasCut() const { return m_cut; }

    void matchesTheReference(std::int64_t rows)
    {
        const std::string what = "w4Linear " + std::to_string(rows) + " x " + std::to_string(m_weights.columns) +
                                 " -> " + std::to_string(m_weights.rows) + ", groups of " +
                                 std::to_string(m_weights.groupSize);
        const auto x = roundedToBf16(randomFloats(static_cast<std::size_t>(rows * m_weights.columns), testRandom()));
        const std::vector<float> wide = widened(x);
        const auto found = run(x, rows, kernels::W4Variant::Automatic, what);
        std::vector<double> wanted;
        std::vector<float> sampled;
        const std::size_t stride = found.size() < 4000 ? 1 : found.size() / 4000 | 1U;
        for (std::size_t at = 0; at < found.size(); at += stride) {
            const auto row = static_cast<std::int64_t>(at) / m_weights.rows;
            wanted.push_back(m_weights.product(0, static_cast<std::int64_t>(at) % m_weights.rows,
                                               wide.data() + row * m_weights.columns));
            sampled.push_back(found[at]);
        }
        requireClose(sampled, wanted, kFloatBound, what);
        require(std::all_of(found.begin(), found.end(), [](float value) { return std::isfinite(value); }),
                what + ": not finite, or not written");
        requireSameBits(run(x, rows, kernels::W4Variant::Portable, what), found, what + ", portable");

        const DeviceArray<kernels::Bf16> input(x);
        const DeviceArray<kernels::Bf16> out(found.size());
        ok(kernels::w4Linear({.rows = rows,
                              .inputs = m_weights.columns,
                              .outputs = m_weights.rows,
                              .groupSize = m_weights.groupSize,
                              .x = input.data(),
                              .weights = m_blocks->data(),
                              .outBf16 = out.data()},
                             nullptr),
           what);
        requireSameBits(out.host(what), roundedToBf16(found), what + ", rounded");
        inParts(x, rows, sampled.size() == found.size() ? wanted : std::vector<double>{}, what);
        if (rows > 1) {
            std::vector<float> last =
                run({x.end() - m_weights.columns, x.end()}, 1, kernels::W4Variant::Automatic, what);
            requireSameBits(last, {found.end() - m_weights.rows, found.end()}, what + ", last row alone");
        }
    }

private:
    /// The same with a workspace, where that cuts the product.
    void inParts(const std::vector<kernels::Bf16> &x, std::int64_t rows, const std::vector<double> &wanted,
                 const std::string &what)
    {
        const int parts = kernels::w4LinearParts(m_weights.rows, m_weights.columns, m_weights.groupSize);
        if (parts == 1)
            return;
        m_cut = true;
        const std::string name = what + " in " + std::to_string(parts) + " parts";
        const DeviceArray<kernels::Bf16> input(x);
        const DeviceArray<unsigned char> workspace(static_cast<std::size_t>(
            kernels::w4LinearWorkspaceBytes(rows, m_weights.rows, m_weights.columns, m_weights.groupSize)));
        const DeviceArray<float> out(static_cast<std::size_t>(rows * m_weights.rows));
        const DeviceArray<kernels::Bf16> narrow(out.count());
        kernels::W4LinearArgs args{.rows = rows,
                                   .inputs = m_weights.columns,
                                   .outputs = m_weights.rows,
                                   .groupSize = m_weights.groupSize,
                                   .x = input.data(),
                                   .weights = m_blocks->data(),
                                   .outFloat = out.data(),
                                   .workspace = workspace.data()};
        ok(kernels::w4Linear(args, nullptr), name);
        (void)workspace.host(name + ", workspace");
        const auto found = out.host(name);
        if (!wanted.empty())
            requireClose(found, wanted, kFloatBound, name);
        args.outFloat = nullptr;
        args.outBf16 = narrow.data();
        ok(kernels::w4Linear(args, nullptr), name);
        requireSameBits(narrow.host(name), roundedToBf16(found), name + ", rounded");
        args.rows = 1; // the first row alone
        ok(kernels::w4Linear(args, nullptr), name);
        const auto alone = narrow.host(name);
        requireSameBits(std::vector<kernels::Bf16>(alone.begin(), alone.begin() + m_weights.rows),
                        roundedToBf16({found.begin(), found.begin() + m_weights.rows}), name + ", a row alone");
    }

    std::vector<float> run(const std::vector<kernels::Bf16> &x, std::int64_t rows, kernels::W4Variant variant,
                           const std::string &what)
    {
        const DeviceArray<kernels::Bf16> input(x);
        const DeviceArray<float> out(static_cast<std::size_t>(rows * m_weights.rows));
        ok(kernels::w4Linear({.rows = rows,
                              .inputs = m_weights.columns,
                              .outputs = m_weights.rows,
                              .groupSize = m_weights.groupSize,
                              .x = input.data(),
                              .weights = m_blocks->data(),
                              .outFloat = out.data(),
                              .variant = variant},
                             nullptr),
           what);
        return out.host(what);
    }

    RandomW4 m_weights;
    std::unique_ptr<DeviceArray<std::uint8_t>> m_blocks;
    bool m_cut = false;
};

} // namespace

int main()
{
    requireDevice();
    for (const std::int64_t group : {64, 128})
        for (const std::int64_t outputs : {1, 33, 128, 1000})
            for (const std::int64_t groups : {1, 3, 8}) {
                Linear linear(outputs, groups * group, group);
                for (const std::int64_t rows : {1, 7, 17, 64, 65, 96, 97, 200})
                    linear.matchesTheReference(rows);
            }
    Linear large(4096, 4096, 128);
    for (const std::int64_t rows : {1, 40, 1000})
        large.matchesTheReference(rows);
    for (const std::int64_t outputs : {33, 1001}) // cut, compared whole
        for (const std::int64_t group : {64, 128}) {
            Linear cut(outputs, 1536, group);
            for (const std::int64_t rows : {1, 7, 16, 70})
                cut.matchesTheReference(rows);
            require(cut.wasCut(), "a narrow product was not cut");
        }
    return finish("w4_linear");
}
