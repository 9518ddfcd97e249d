// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/token.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

namespace palimpsest {

/// Encoded beginnings that later requests may share: snapshots of sequences with the token ids they hold, the least
/// recently used one dropped first. Lives on the backend's thread and goes before the backend does.
///
/// Bytes are counted as each snapshot reports them. Snapshots of one request share storage, so the true size is smaller
/// than the bound, never larger.
class PrefixCache
{
public:
    /// `capacityBytes` 0 switches the cache off.
    PrefixCache(Backend &backend, std::int64_t capacityBytes);

    struct Match
    {
        std::unique_ptr<Sequence> sequence; ///< a new one; empty if nothing fits
        std::int64_t length = 0;            ///< tokens of the prompt it holds
    };
    /// A sequence that holds the longest beginning of `prompt` that can be restored.
    [[nodiscard]] Match longestPrefix(std::span<const TokenId> prompt);

    /// Keeps a snapshot of `sequence`, which holds exactly `ids`.
    void store(const Sequence &sequence, std::span<const TokenId> ids);

    [[nodiscard]] std::int64_t bytes() const noexcept { return m_bytes; }
    [[nodiscard]] std::size_t snapshotCount() const noexcept { return m_snapshots.size(); }

private:
    struct Snapshot
    {
        std::vector<TokenId> ids;
        std::unique_ptr<Sequence> sequence;
        std::int64_t bytes = 0;
    };

    Backend &m_backend;
    std::int64_t m_capacityBytes;
    std::int64_t m_bytes = 0;
    std::list<Snapshot> m_snapshots; ///< most recently used first
};

} // namespace palimpsest
