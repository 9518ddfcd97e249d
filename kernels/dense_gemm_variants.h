// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/dense_gemm.h"

/// The kernels behind denseGemm(), for arguments that it has checked.
namespace palimpsest::kernels {

/// mma.sync and cp.async: every supported chip.
[[nodiscard]] cudaError_t denseGemmPortable(const DenseGemmArgs &args, cudaStream_t stream);

/// Tile choices of the Hopper kernel.
struct HopperGemmConfig
{
    int weightRows = 64; ///< outputs of a block: 64, 128 or 192, one to three warpgroups
    int tileRows = 256;  ///< rows of a block: 128 or 256; 128 with 192 outputs
};

/// TMA, mbarrier and wgmma: compute capability 9.0 alone. With args.addParts it has one tile, whatever `config` says.
[[nodiscard]] cudaError_t denseGemmHopper(const DenseGemmArgs &args, HopperGemmConfig config, cudaStream_t stream);

/// The tuned choice for a shape.
[[nodiscard]] HopperGemmConfig hopperGemmConfig(std::int64_t rows, std::int64_t outputs, int parts, bool besideNext);

/// Whether adding the parts in the product is the faster way there.
[[nodiscard]] bool hopperGemmAddsParts(std::int64_t rows, std::int64_t outputs);

} // namespace palimpsest::kernels
