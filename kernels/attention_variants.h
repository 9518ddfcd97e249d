// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/attention_canvas.h"
#include "kernels/attention_causal.h"

/// The kernels behind canvasAttention() and causalAttention() on compute capability 9.0, for arguments that were
/// checked. Both leave the addition of a canvas's parts to the caller.
namespace palimpsest::kernels {

/// What canvasAttention() and causalAttention() take: the best kernel for the device, or the one for every chip. Tests
/// and benchmarks compare them.
enum class AttentionVariant { Best, Portable };
[[nodiscard]] cudaError_t canvasAttention(const CanvasAttentionArgs &args, AttentionVariant variant,
                                          cudaStream_t stream);
[[nodiscard]] cudaError_t causalAttention(const CausalAttentionArgs &args, AttentionVariant variant,
                                          cudaStream_t stream);

struct AttentionWorkspace;

/// Whether the current device has the instructions.
[[nodiscard]] bool hasHopperAttention();

/// Leaves the addition of the parts to the caller.
[[nodiscard]] cudaError_t canvasAttentionHopper(const CanvasAttentionArgs &args, const AttentionWorkspace &workspace,
                                                cudaStream_t stream);
[[nodiscard]] cudaError_t causalAttentionHopper(const CausalAttentionArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
