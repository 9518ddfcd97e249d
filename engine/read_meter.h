// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/load_progress.h"

#include <cstdint>

namespace palimpsest {

/// Tells a LoadProgress how far a reading of several parts is, often enough to be stopped soon and seldom enough to
/// cost nothing.
class ReadMeter
{
public:
    explicit ReadMeter(const LoadProgress &progress) noexcept : m_progress(progress) {} ///< borrows it

    /// The next part reads `bytes` and ends where `end` (0..1) of everything is done. Tells.
    void begin(double end, std::int64_t bytes);
    /// So much of the part was read. Tells now and then. Throws Error Backend "cancelled", as begin() does.
    void add(std::int64_t bytes);
    void finish() const { tell(1.0); }

private:
    void tell(double done) const;

    const LoadProgress &m_progress;
    double m_begin = 0.0;
    double m_end = 0.0;
    std::int64_t m_bytes = 0;
    std::int64_t m_read = 0;
    std::int64_t m_untold = 0;
};

} // namespace palimpsest
