// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/cpu/cpu_bench.h"

#include "engine/checkpoint.h"
#include "tests/support/golden.h"

#include <cstddef>

namespace palimpsest::test {

using namespace palimpsest::cpu;

std::unique_ptr<CpuModel> loadModel(const std::filesystem::path &folder, int threads)
{
    return std::make_unique<CpuModel>(Checkpoint::open(goldenFolder() / "models" / folder),
                                      CpuBackendSettings{.threads = threads}, LoadProgress{});
}

std::unique_ptr<Sequence> encoded(CpuModel &model, std::span<const TokenId> ids,
                                  const std::vector<std::int64_t> &chunks)
{
    auto sequence = model.newSequence();
    std::size_t from = 0;
    for (const std::int64_t chunk : chunks) {
        model.encode(*sequence, ids.subspan(from, static_cast<std::size_t>(chunk)), {});
        from += static_cast<std::size_t>(chunk);
    }
    model.encode(*sequence, ids.subspan(from), {});
    return sequence;
}

std::vector<float> cachedKeys(const CpuSequence &sequence, std::int64_t layer, std::int64_t position)
{
    const KvLayout &layout = sequence.layout(layer);
    const KvBlock &block = sequence.block(layer, position / kBlockPositions);
    std::vector<float> out;
    for (std::int64_t head = 0; head < layout.kvHeads; ++head)
        for (std::int64_t i = 0; i < layout.headDim; ++i)
            out.push_back(block.keys(layout, head)[i * kBlockPositions + position % kBlockPositions]);
    return out;
}

std::vector<float> cachedValues(const CpuSequence &sequence, std::int64_t layer, std::int64_t position)
{
    const KvLayout &layout = sequence.layout(layer);
    const KvBlock &block = sequence.block(layer, position / kBlockPositions);
    std::vector<float> out;
    for (std::int64_t head = 0; head < layout.kvHeads; ++head)
        for (std::int64_t i = 0; i < layout.headDim; ++i)
            out.push_back(block.values(
                layout, head,
                i / layout.valueColumns)[position % kBlockPositions * layout.valueColumns + i % layout.valueColumns]);
    return out;
}

std::vector<float> wholeCache(const CpuSequence &sequence, std::int64_t layer,
                              std::vector<float> (*part)(const CpuSequence &, std::int64_t, std::int64_t))
{
    std::vector<float> all;
    for (std::int64_t position = 0; position < sequence.length(); ++position) {
        const std::vector<float> one = part(sequence, layer, position);
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

void Step::run(CpuModel &model, const Sequence &prefix, const std::vector<TokenId> &canvas,
               SelfConditioning *conditioning, float temperature, std::uint64_t seed)
{
    results.resize(canvas.size());
    const DenoiseJob job{.prefix = &prefix,
                         .canvas = canvas,
                         .conditioning = conditioning,
                         .temperature = temperature,
                         .noise = {.seed = seed, .canvas = 0, .step = 7},
                         .logitBias = {},
                         .results = results};
    model.denoise({&job, 1});
}

} // namespace palimpsest::test
