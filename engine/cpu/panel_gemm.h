// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

namespace palimpsest::cpu {

/// Dense products through oneDNN in the one shape that everything here is cut into:
///     out[rows, columns] = in[rows, depth] * panel[depth, columns]        fp32, row-major, out contiguous
///
/// columns is 64 for weights (kPanelColumns); a dense output of that width is what keeps oneDNN on its brgemm kernels.
/// Every call runs single-threaded on the calling thread: threads are given different panels or rows. A row of the
/// result has the same bits whatever the other rows are and however many there are; the constructor checks this for the
/// depths it is told, and if this processor's kernels do not hold it, all calls are padded to one fixed number of rows.
class PanelGemm
{
public:
    /// Rows are rounded up to a multiple of this, or of kFixedRows where rows are not independent: `in` must be
    /// readable and `out` writable up to a multiple of kFixedRows.
    static constexpr std::int64_t kRowGranule = 8;
    static constexpr std::int64_t kFixedRows = 64;

    explicit PanelGemm(int workers);
    ~PanelGemm();
    PanelGemm(const PanelGemm &) = delete;
    PanelGemm &operator=(const PanelGemm &) = delete;

    /// Compares rows computed among 8, 24, 64 and 256 bit by bit; a difference switches to padding. Call before any
    /// product.
    void checkRowIndependence(std::int64_t depth);
    [[nodiscard]] bool rowsAreIndependent() const noexcept { return m_rowsAreIndependent; }

    /// `inStride` is the distance of input rows in floats; another stride may be another kernel and other bits, so one
    /// use keeps to one stride. `worker` picks scratch memory: one thread each at a time.
    void multiply(int worker, const float *in, std::int64_t inStride, const float *panel, float *out, std::int64_t rows,
                  std::int64_t depth, std::int64_t columns);

private:
    struct Worker;
    std::unique_ptr<Worker[]> m_workers;
    /// Held while a product is made: oneDNN hands the same compiled kernel to all threads, and whoever gets it must see
    /// it whole.
    std::mutex m_making;
    bool m_rowsAreIndependent = true;
};

} // namespace palimpsest::cpu
