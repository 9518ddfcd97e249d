// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/read_meter.h"

#include "engine/error.h"

#include <algorithm>

namespace palimpsest {

namespace {

/// A tenth of a second of a slow network disk, and some 0.1 ms of memory.
constexpr std::int64_t kTellingBytes = 1 << 20;
constexpr std::int64_t kTellings = 100; ///< at least, of a part that is smaller

} // namespace

void ReadMeter::begin(double end, std::int64_t bytes)
{
    m_begin = m_end;
    m_end = end;
    m_bytes = std::max<std::int64_t>(1, bytes);
    m_read = 0;
    m_untold = 0;
    tell(m_begin);
}

void ReadMeter::add(std::int64_t bytes)
{
    m_read += bytes;
    m_untold += bytes;
    if (m_untold < std::min(kTellingBytes, m_bytes / kTellings) && m_read < m_bytes)
        return;
    m_untold = 0;
    const double part = std::min(1.0, static_cast<double>(m_read) / static_cast<double>(m_bytes));
    tell(m_begin + part * (m_end - m_begin));
}

void ReadMeter::tell(double done) const
{
    if (m_progress && !m_progress(done))
        throw Error(ErrorKind::Backend, "reading the model was cancelled", "cancelled");
}

} // namespace palimpsest
