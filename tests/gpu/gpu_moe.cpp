// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "kernels/moe.h"

#include "gpu_check.h"
#include "w4_random.h"

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::MoeArgs;
using kernels::W4Variant;

namespace {

// Inner activations are rounded to bf16 once, at most 2^-8 of each; fp32 sums add some tens of 2^-24.
constexpr double kRounding = 0x1p-8 + 1e-5;

struct Shape
{
    std::int64_t tokens;
    std::int64_t slotsPerToken;
    std::int64_t experts;
    std::int64_t hidden;
    std::int64_t inner;
    std::int64_t usedExperts; ///< the choice falls on the first of them
};

double geluTanh(double x)
{
    return 0.5 * x * (1.0 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

class Mixture
{
public:
    explicit Mixture(const Shape &shape)
        : m_shape(shape),
          m_what("moe " + std::to_string(shape.tokens) + " x " + std::to_string(shape.slotsPerToken) + " of " +
                 std::to_string(shape.experts) + ", " + std::to_string(shape.hidden) + " x " +
                 std::to_string(shape.inner)),
          m_input(roundedToBf16(randomFloats(static_cast<std::size_t>(shape.tokens * shape.hidden), testRandom()))),
          m_weights(randomFloats(static_cast<std::size_t>(shape.tokens * shape.slotsPerToken), testRandom())),
          m_gateUp(shape.experts, 2 * shape.inner, shape.hidden, 128, testRandom()),
          m_down(shape.experts, shape.hidden, shape.inner, 64, testRandom()),
          m_gateUpBlocks(m_gateUp.blocks(kernels::W4RowOrder::GateUp)),
          m_downBlocks(m_down.blocks(kernels::W4RowOrder::Plain))
    {
        for (std::int64_t slot = 0; slot < shape.tokens * shape.slotsPerToken; ++slot)
            m_ids.push_back(static_cast<std::int32_t>(testRandom()() % static_cast<std::uint32_t>(shape.usedExperts)));
    }

    void check()
    {
        const std::vector<float> found = run(m_shape.tokens, 0, W4Variant::Automatic);
        for (std::int64_t token = 0; token < m_shape.tokens; token += std::max<std::int64_t>(1, m_shape.tokens / 8)) {
            const Reference row = reference(token);
            for (std::size_t column = 0; column < row.sum.size(); ++column) {
                const auto value =
                    static_cast<double>(found[static_cast<std::size_t>(token * m_shape.hidden) + column]);
                if (!(std::abs(value - row.sum[column]) <= kRounding * row.magnitude[column]))
                    fail(m_what + ", token " + std::to_string(token) + ", column " + std::to_string(column) + ": " +
                         std::to_string(value) + ", wanted " + std::to_string(row.sum[column]));
            }
        }
        requireSameBits(run(m_shape.tokens, 0, W4Variant::Portable), found, m_what + ", portable");
        requireSameBits(run(m_shape.tokens, 0, W4Variant::Automatic), found, m_what + ", again");
        if (m_shape.tokens > 1)
            requireSameBits(run(1, m_shape.tokens - 1, W4Variant::Automatic),
                            {found.end() - m_shape.hidden, found.end()}, m_what + ", the last token alone");
    }

    /// Ids that are no expert's leave the other tokens alone and write nowhere else.
    void checkStrayIds()
    {
        const std::vector<float> wanted = run(m_shape.tokens, 0, W4Variant::Automatic);
        const auto k = static_cast<std::size_t>(m_shape.slotsPerToken);
        m_ids[0] = static_cast<std::int32_t>(m_shape.experts);
        m_ids[2 * k] = -1;
        std::vector<float> found = run(m_shape.tokens, 0, W4Variant::Automatic);
        for (const std::int64_t token : {0, 2})
            std::copy_n(wanted.begin() + token * m_shape.hidden, m_shape.hidden,
                        found.begin() + token * m_shape.hidden);
        requireSameBits(found, wanted, m_what + ", with ids of no expert");
    }

private:
    std::vector<float> run(std::int64_t tokens, std::int64_t first, W4Variant variant)
    {
        const DeviceArray<kernels::Bf16> input(
            std::vector<kernels::Bf16>(m_input.begin() + first * m_shape.hidden, m_input.end()));
        const std::int64_t firstSlot = first * m_shape.slotsPerToken;
        const DeviceArray<std::int32_t> ids(std::vector<std::int32_t>(m_ids.begin() + firstSlot, m_ids.end()));
        const DeviceArray<float> weights(std::vector<float>(m_weights.begin() + firstSlot, m_weights.end()));
        const DeviceArray<float> out(static_cast<std::size_t>(tokens * m_shape.hidden));
        MoeArgs args{.tokens = tokens,
                     .slotsPerToken = m_shape.slotsPerToken,
                     .experts = m_shape.experts,
                     .hidden = m_shape.hidden,
                     .inner = m_shape.inner,
                     .input = input.data(),
                     .expertIds = ids.data(),
                     .slotWeights = weights.data(),
                     .gateUp = m_gateUpBlocks->data(),
                     .down = m_downBlocks->data(),
                     .out = out.data(),
                     .variant = variant};
        const DeviceArray<std::uint8_t> workspace(static_cast<std::size_t>(kernels::moeWorkspaceBytes(args)));
        args.workspace = workspace.data();
        ok(kernels::moe(args, nullptr), m_what);
        (void)workspace.host(m_what + ", workspace");
        return out.host(m_what);
    }

    struct Reference
    {
        std::vector<double> sum;
        std::vector<double>
            magnitude; ///< the same of absolute values: what a relative error of an inner activation moves
    };

    [[nodiscard]] Reference reference(std::int64_t token) const
    {
        const std::vector<float> x =
            widened({m_input.begin() + token * m_shape.hidden, m_input.begin() + (token + 1) * m_shape.hidden});
        const auto hidden = static_cast<std::size_t>(m_shape.hidden);
        Reference made{std::vector<double>(hidden), std::vector<double>(hidden)};
        for (std::int64_t j = 0; j < m_shape.slotsPerToken; ++j) {
            const auto slot = static_cast<std::size_t>(token * m_shape.slotsPerToken + j);
            for (std::int64_t i = 0; i < m_shape.inner; ++i) {
                const double inner = geluTanh(m_gateUp.product(m_ids[slot], i, x.data())) *
                                     m_gateUp.product(m_ids[slot], m_shape.inner + i, x.data());
                for (std::size_t column = 0; column < hidden; ++column) {
                    const double part = static_cast<double>(m_weights[slot]) * inner *
                                        m_down.weight(m_ids[slot], static_cast<std::int64_t>(column), i);
                    made.sum[column] += part;
                    made.magnitude[column] += std::abs(part);
                }
            }
        }
        return made;
    }

    Shape m_shape;
    std::string m_what;
    std::vector<kernels::Bf16> m_input;
    std::vector<std::int32_t> m_ids;
    std::vector<float> m_weights;
    RandomW4 m_gateUp;
    RandomW4 m_down;
    std::unique_ptr<DeviceArray<std::uint8_t>> m_gateUpBlocks;
    std::unique_ptr<DeviceArray<std::uint8_t>> m_downBlocks;
};

} // namespace

int main()
{
    requireDevice();
    for (const Shape &shape : {Shape{1, 1, 1, 128, 64, 1}, Shape{1, 8, 128, 256, 64, 128}, Shape{17, 2, 8, 128, 64, 8},
                               Shape{40, 4, 6, 384, 192, 6}, Shape{300, 4, 32, 256, 128, 1},
                               Shape{129, 3, 512, 128, 64, 512}, Shape{1000, 8, 128, 256, 64, 100}}) {
        Mixture mixture(shape);
        mixture.check();
        if (shape.tokens > 2)
            mixture.checkStrayIds();
    }
    MoeArgs none;
    require(kernels::moe(none, nullptr) == cudaErrorInvalidValue, "moe: no experts");
    none = {.tokens = 0, .slotsPerToken = 2, .experts = 8, .hidden = 128, .inner = 64};
    require(kernels::moe(none, nullptr) == cudaSuccess, "moe: no tokens");
    none.hidden = 64;
    require(kernels::moe(none, nullptr) == cudaErrorInvalidValue, "moe: a hidden size of 64");
    return finish("moe");
}
