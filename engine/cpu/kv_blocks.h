// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/cpu/row_kernels.h"
#include "engine/model_config.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace palimpsest::cpu {

/// Positions in one cache block: one panel of keys.
inline constexpr std::int64_t kBlockPositions = kPanelColumns;

/// How one layer's keys and values lie in a block of 64 positions, ready to be panels of the attention products:
/// keys [kvHeads][headDim][64 positions], values [kvHeads][valuePanels][64 positions][valueColumns].
struct KvLayout
{
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;
    std::int64_t valueColumns = 0; ///< 64, or headDim where that is smaller
    std::int64_t valuePanels = 0;  ///< ceil(headDim / valueColumns); columns behind headDim are zero

    explicit KvLayout(const LayerConfig &layer);
    [[nodiscard]] std::int64_t keyFloats() const noexcept { return kvHeads * headDim * kBlockPositions; }
    [[nodiscard]] std::int64_t valueFloats() const noexcept
    {
        return kvHeads * valuePanels * valueColumns * kBlockPositions;
    }
};

/// Keys and values of up to 64 consecutive positions in one layer; starts zeroed, so that masked positions are finite.
class KvBlock
{
public:
    explicit KvBlock(const KvLayout &layout);

    /// Stores one position's keys and values, [kvHeads * headDim] each; `slot` is its place in the block.
    void write(const KvLayout &layout, std::int64_t slot, const float *keys, const float *values);

    [[nodiscard]] const float *keys(const KvLayout &layout, std::int64_t head) const noexcept
    {
        return m_keys.data() + head * layout.headDim * kBlockPositions;
    }
    [[nodiscard]] const float *values(const KvLayout &layout, std::int64_t head, std::int64_t panel) const noexcept
    {
        return m_values.data() + (head * layout.valuePanels + panel) * layout.valueColumns * kBlockPositions;
    }

private:
    std::vector<float> m_keys;
    std::vector<float> m_values;
};

/// The cache of one sequence: for each layer a list of blocks at positions 0, 64, 128, ...
///
/// Block borders are absolute positions, so a query meets the same blocks in the same order however the prefix was cut
/// into encode calls. Blocks are shared between forks and copied when one of them is about to write. A sliding layer
/// drops blocks that lie further back than its window and kRetainedPositions.
class CpuSequence final : public Sequence
{
public:
    /// Beyond the window, so that a request that shares all but the end of a prompt can fork from it.
    static constexpr std::int64_t kRetainedPositions = 1024;

    explicit CpuSequence(const ModelConfig &config);

    [[nodiscard]] std::int64_t length() const noexcept override { return m_length; }
    [[nodiscard]] std::int64_t cacheBytes() const noexcept override;

    /// Null where a sliding layer no longer holds what the prefix of that length needs.
    [[nodiscard]] std::unique_ptr<CpuSequence> fork(std::int64_t length) const;

    /// Makes room for `count` more positions, private to this sequence. The length changes with `advance`.
    void reserve(std::int64_t count);
    void write(std::int64_t layer, std::int64_t position, const float *keys, const float *values);
    void advance(std::int64_t count);

    [[nodiscard]] const KvLayout &layout(std::int64_t layer) const
    {
        return m_layouts[static_cast<std::size_t>(layer)];
    }
    [[nodiscard]] const KvBlock &block(std::int64_t layer, std::int64_t index) const
    {
        return *m_blocks[static_cast<std::size_t>(layer)][static_cast<std::size_t>(index)];
    }

private:
    const ModelConfig *m_config;
    std::vector<KvLayout> m_layouts;
    std::vector<std::vector<std::shared_ptr<KvBlock>>> m_blocks; // [layer][block]; dropped ones are null
    std::int64_t m_length = 0;
};

} // namespace palimpsest::cpu
