// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/probabilities.h"

#include "kernels/launch.h"
#include "kernels/processed_logits.cuh"
#include "kernels/ptx.cuh"

namespace palimpsest::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__global__ __launch_bounds__(kThreads) void probabilitiesKernel(const CanvasLogits canvas, float *out)
{
    ptx::beginDependent();
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    const SampleSettings settings = canvas.settings[blockIdx.z];
    const std::int64_t row = blockIdx.z * canvas.rows + blockIdx.y;
    const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
    if (block >= workspace.blockCount)
        return;
    const RowStats stats = workspace.rows[row];
    const LogitVector vector = processedBlock(canvas, settings, row, block);
#pragma unroll
    for (int element = 0; element < 8; ++element) {
        const std::int64_t id = block * kLogitBlock + LogitVector::idOffset(element);
        if (id < canvas.vocabSize)
            out[row * canvas.vocabSize + id] = expf(vector.values[element] - stats.maximum) / stats.sum;
    }
}

} // namespace

cudaError_t probabilities(const CanvasLogits &canvas, float *out, cudaStream_t stream)
{
    if (!isAllowed(canvas) || out == nullptr)
        return cudaErrorInvalidValue;
    if (canvas.allRows() == 0)
        return cudaSuccess;
    const auto blocks = static_cast<unsigned>((logitBlocks(canvas.vocabSize) + kWarps - 1) / kWarps);
    return launchDependent(
        probabilitiesKernel,
        {.grid = dim3(blocks, static_cast<unsigned>(canvas.rows), static_cast<unsigned>(canvas.canvases)),
         .threads = kThreads},
        stream, canvas, out);
}

} // namespace palimpsest::kernels
