// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "kernels/dense_gemm.h"

#include <memory>

namespace palimpsest::gpu_bench {

/// The vendor's library (cuBLASLt) as a measuring rod for our dense products: opened at run time where it is there.
class LibraryGemm
{
public:
    /// Null where the library is not there, or was not when this was built.
    [[nodiscard]] static std::unique_ptr<LibraryGemm> open();
    virtual ~LibraryGemm() = default;

    /// How many of its algorithms the library offers for a product; run() takes their numbers. GatedGelu is taken for
    /// the product alone in bf16, without what follows it; the product is never cut into parts.
    [[nodiscard]] virtual int prepare(const kernels::DenseGemmArgs &args) = 0;
    [[nodiscard]] virtual cudaError_t run(const kernels::DenseGemmArgs &args, int algorithm, cudaStream_t stream) = 0;
};

} // namespace palimpsest::gpu_bench
