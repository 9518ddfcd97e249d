// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/head_sample.h"

#include <cuda_runtime_api.h>

namespace palimpsest::kernels {

/// softmax(processed) of every row in fp32, for models so small that it may be written out; selfCondition() gets by
/// without it.
///
/// Shapes     probabilities: [canvases, rows, vocabSize].
/// Requires   headSample() with the same canvas before it: the row's maximum and sum are read from its workspace.
/// Numerics   expf(x - maximum) / sum.
/// Cost       one read of the logits and one write of the same size.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
[[nodiscard]] cudaError_t probabilities(const CanvasLogits &canvas, float *out, cudaStream_t stream);

} // namespace palimpsest::kernels
