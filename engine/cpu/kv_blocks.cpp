// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/kv_blocks.h"

#include <algorithm>

namespace palimpsest::cpu {

namespace {

std::int64_t blocksFor(std::int64_t positions)
{
    return (positions + kBlockPositions - 1) / kBlockPositions;
}

} // namespace

KvLayout::KvLayout(const LayerConfig &layer)
    : kvHeads(layer.kvHeads),
      headDim(layer.headDim),
      valueColumns(std::min(layer.headDim, kPanelColumns)),
      valuePanels((layer.headDim + valueColumns - 1) / valueColumns)
{
}

KvBlock::KvBlock(const KvLayout &layout)
    : m_keys(static_cast<std::size_t>(layout.keyFloats())), m_values(static_cast<std::size_t>(layout.valueFloats()))
{
}

void KvBlock::write(const KvLayout &layout, std::int64_t slot, const float *keys, const float *values)
{
    for (std::int64_t i = 0; i < layout.kvHeads * layout.headDim; ++i)
        m_keys[static_cast<std::size_t>(i * kBlockPositions + slot)] = keys[i];
    for (std::int64_t head = 0; head < layout.kvHeads; ++head) {
        for (std::int64_t panel = 0; panel < layout.valuePanels; ++panel) {
            const std::int64_t first = panel * layout.valueColumns;
            const std::int64_t count = std::min(layout.valueColumns, layout.headDim - first);
            const std::int64_t row = (head * layout.valuePanels + panel) * kBlockPositions + slot;
            std::copy_n(values + head * layout.headDim + first, count, m_values.data() + row * layout.valueColumns);
        }
    }
}

CpuSequence::CpuSequence(const ModelConfig &config) : m_config(&config), m_blocks(config.layers.size())
{
    for (const LayerConfig &layer : config.layers)
        m_layouts.emplace_back(layer);
}

std::int64_t CpuSequence::cacheBytes() const noexcept
{
    std::int64_t floats = 0;
    for (std::size_t layer = 0; layer < m_blocks.size(); ++layer) {
        const auto held = std::ranges::count_if(m_blocks[layer], [](const auto &block) { return block != nullptr; });
        floats += held * (m_layouts[layer].keyFloats() + m_layouts[layer].valueFloats());
    }
    return floats * static_cast<std::int64_t>(sizeof(float));
}

std::unique_ptr<CpuSequence> CpuSequence::fork(std::int64_t length) const
{
    if (length < 0 || length > m_length)
        return nullptr;
    auto made = std::make_unique<CpuSequence>(*m_config);
    made->m_length = length;
    for (std::size_t layer = 0; layer < m_blocks.size(); ++layer) {
        const bool sliding = m_config->layers[layer].kind == LayerKind::Sliding;
        // The next encoder position looks back window - 1 positions, as the decoder does.
        const std::int64_t oldest = sliding ? std::max<std::int64_t>(0, length - (m_config->slidingWindow - 1)) : 0;
        for (std::int64_t index = 0; index < blocksFor(length); ++index) {
            const auto &block = m_blocks[layer][static_cast<std::size_t>(index)];
            if (block == nullptr && (index + 1) * kBlockPositions > oldest)
                return nullptr;
            made->m_blocks[layer].push_back(block);
        }
    }
    return made;
}

void CpuSequence::reserve(std::int64_t count)
{
    const std::int64_t wanted = blocksFor(m_length + count);
    for (std::size_t layer = 0; layer < m_blocks.size(); ++layer) {
        auto &blocks = m_blocks[layer];
        const std::int64_t firstWritten = m_length / kBlockPositions;
        if (firstWritten < static_cast<std::int64_t>(blocks.size())) {
            auto &partial = blocks[static_cast<std::size_t>(firstWritten)];
            if (partial != nullptr && partial.use_count() > 1) // shared with a fork: theirs must not change
                partial = std::make_shared<KvBlock>(*partial);
        }
        while (static_cast<std::int64_t>(blocks.size()) < wanted)
            blocks.push_back(std::make_shared<KvBlock>(m_layouts[layer]));
    }
}

void CpuSequence::write(std::int64_t layer, std::int64_t position, const float *keys, const float *values)
{
    auto &block = m_blocks[static_cast<std::size_t>(layer)][static_cast<std::size_t>(position / kBlockPositions)];
    block->write(m_layouts[static_cast<std::size_t>(layer)], position % kBlockPositions, keys, values);
}

void CpuSequence::advance(std::int64_t count)
{
    m_length += count;
    const std::int64_t oldest = m_length - m_config->slidingWindow - kRetainedPositions;
    for (std::size_t layer = 0; layer < m_blocks.size(); ++layer) {
        if (m_config->layers[layer].kind != LayerKind::Sliding)
            continue;
        const std::int64_t dropped = std::max<std::int64_t>(0, oldest) / kBlockPositions;
        for (std::int64_t index = dropped - 1; index >= 0; --index) {
            auto &block = m_blocks[layer][static_cast<std::size_t>(index)];
            if (block == nullptr)
                break; // everything before it is gone already
            block.reset();
        }
    }
}

} // namespace palimpsest::cpu
