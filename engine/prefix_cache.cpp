// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/prefix_cache.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace palimpsest {

namespace {

std::int64_t commonLength(std::span<const TokenId> a, std::span<const TokenId> b)
{
    return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

} // namespace

PrefixCache::PrefixCache(Backend &backend, std::int64_t capacityBytes)
    : m_backend(backend), m_capacityBytes(capacityBytes)
{
}

PrefixCache::Match PrefixCache::longestPrefix(std::span<const TokenId> prompt)
{
    struct Candidate
    {
        std::list<Snapshot>::iterator snapshot;
        std::int64_t length;
    };
    std::vector<Candidate> candidates;
    for (auto snapshot = m_snapshots.begin(); snapshot != m_snapshots.end(); ++snapshot) {
        const std::int64_t length = commonLength(snapshot->ids, prompt);
        if (length > 0) {
            candidates.push_back({snapshot, length});
        }
    }
    // Of several snapshots with the same common part the shortest comes first: it has dropped the least behind it.
    std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
        return a.length != b.length ? a.length > b.length : a.snapshot->ids.size() < b.snapshot->ids.size();
    });
    for (const Candidate &candidate : candidates) {
        std::unique_ptr<Sequence> sequence = m_backend.fork(*candidate.snapshot->sequence, candidate.length);
        if (sequence != nullptr) {
            m_snapshots.splice(m_snapshots.begin(), m_snapshots, candidate.snapshot);
            return {std::move(sequence), candidate.length};
        }
    }
    return {m_backend.newSequence(), 0};
}

void PrefixCache::store(const Sequence &sequence, std::span<const TokenId> ids)
{
    assert(sequence.length() == static_cast<std::int64_t>(ids.size()));
    if (m_capacityBytes <= 0) {
        return;
    }
    const auto same = std::find_if(m_snapshots.begin(), m_snapshots.end(), [&](const Snapshot &snapshot) {
        return std::equal(snapshot.ids.begin(), snapshot.ids.end(), ids.begin(), ids.end());
    });
    if (same != m_snapshots.end()) {
        m_snapshots.splice(m_snapshots.begin(), m_snapshots, same);
        return;
    }
    std::unique_ptr<Sequence> copy = m_backend.fork(sequence, sequence.length());
    if (copy == nullptr) {
        return;
    }
    const std::int64_t bytes = copy->cacheBytes();
    if (bytes > m_capacityBytes) {
        return;
    }
    m_snapshots.push_front({{ids.begin(), ids.end()}, std::move(copy), bytes});
    m_bytes += bytes;
    while (m_bytes > m_capacityBytes) {
        m_bytes -= m_snapshots.back().bytes;
        m_snapshots.pop_back();
    }
}

} // namespace palimpsest
