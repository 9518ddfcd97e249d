// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/moe.h"

#include "kernels/launch.h"
#include "kernels/moe_w4_gemm.h"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"
#include "kernels/vector_aligned.h"

namespace palimpsest::kernels {

namespace {

constexpr int kSortThreads = 256;
constexpr int kSortWarps = kSortThreads / 32;
constexpr int kSumThreads = 256;

struct Workspace
{
    std::int32_t *offsets; ///< [experts + 1]
    std::int32_t *slots;   ///< [positions]
    Bf16 *inner;           ///< [positions, inner]
    float *outputs;        ///< [slots, hidden]
    std::int64_t bytes;
};

Workspace layOut(const MoeArgs &args)
{
    const auto base = reinterpret_cast<std::uintptr_t>(args.workspace);
    const std::int64_t slots = args.tokens * args.slotsPerToken;
    std::int64_t end = 0;
    const auto place = [&](std::int64_t bytes) {
        const std::uintptr_t at = base + static_cast<std::uintptr_t>(end);
        end += (bytes + 255) / 256 * 256;
        return at;
    };
    Workspace made{};
    made.offsets = reinterpret_cast<std::int32_t *>(place((args.experts + 1) * 4));
    made.slots = reinterpret_cast<std::int32_t *>(place(slots * 4));
    made.inner = reinterpret_cast<Bf16 *>(place(slots * args.inner * 2));
    made.outputs = reinterpret_cast<float *>(place(slots * args.hidden * 4));
    made.bytes = end;
    return made;
}

/// A block per expert: how many slots belong to experts before it, and its own ones in ascending order. Every block
/// reads all ids, which are few and stay in the cache; so nothing has to be agreed on between blocks.
__global__ __launch_bounds__(kSortThreads) void sortKernel(const std::int32_t *expertIds, std::int32_t slotCount,
                                                           std::int32_t *offsets, std::int32_t *slots)
{
    ptx::beginDependent();
    __shared__ std::int32_t before[kSortWarps];
    __shared__ std::int32_t matches[kSortWarps];
    const auto expert = static_cast<std::int32_t>(blockIdx.x);
    const auto warp = static_cast<int>(threadIdx.x) / 32;
    const auto lane = static_cast<int>(threadIdx.x) % 32;
    std::int32_t smaller = 0;
    for (std::int32_t slot = static_cast<std::int32_t>(threadIdx.x); slot < slotCount; slot += kSortThreads)
        smaller += expertIds[slot] < expert ? 1 : 0;
    smaller = static_cast<std::int32_t>(__reduce_add_sync(kWholeWarp, static_cast<unsigned>(smaller)));
    if (lane == 0)
        before[warp] = smaller;
    __syncthreads();
    std::int32_t next = 0;
    for (const std::int32_t count : before)
        next += count;
    if (threadIdx.x == 0)
        offsets[expert] = next;
    for (std::int32_t first = 0; first < slotCount; first += kSortThreads) {
        const std::int32_t slot = first + static_cast<std::int32_t>(threadIdx.x);
        const bool mine = slot < slotCount && expertIds[slot] == expert;
        const unsigned found = __ballot_sync(kWholeWarp, mine);
        if (lane == 0)
            matches[warp] = __popc(found);
        __syncthreads();
        std::int32_t place = next + __popc(found & ((1U << lane) - 1U));
        for (int i = 0; i < kSortWarps; ++i) {
            place += i < warp ? matches[i] : 0;
            next += matches[i];
        }
        if (mine)
            slots[place] = slot;
        __syncthreads();
    }
    if (threadIdx.x == 0 && blockIdx.x + 1 == gridDim.x)
        offsets[expert + 1] = next; // not slotCount: ids beyond the experts belong to none
}

__global__ __launch_bounds__(kSumThreads) void sumKernel(const MoeArgs args, const float *outputs)
{
    ptx::beginDependent();
    const std::int64_t token = blockIdx.x;
    const float *weights = args.slotWeights + token * args.slotsPerToken;
    const auto *rows = reinterpret_cast<const float4 *>(outputs + token * args.slotsPerToken * args.hidden);
    const std::int64_t vectors = args.hidden / 4;
    for (std::int64_t at = threadIdx.x; at < vectors; at += kSumThreads) {
        float4 sum = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        for (std::int64_t j = 0; j < args.slotsPerToken; ++j) {
            const float4 value = rows[j * vectors + at];
            const float weight = weights[j];
            sum = make_float4(fmaf(value.x, weight, sum.x), fmaf(value.y, weight, sum.y), fmaf(value.z, weight, sum.z),
                              fmaf(value.w, weight, sum.w));
        }
        reinterpret_cast<float4 *>(args.out + token * args.hidden)[at] = sum;
    }
}

bool isAllowed(const MoeArgs &args)
{
    if (args.tokens < 0 || args.slotsPerToken < 1 || args.experts < 1 || args.experts > w4::kMaxExperts ||
        args.hidden < 1 || args.hidden % 128 != 0 || args.inner < 1 || args.inner % 64 != 0 ||
        args.tokens > INT32_MAX / args.slotsPerToken)
        return false;
    return args.tokens == 0 ||
           (args.expertIds != nullptr && args.slotWeights != nullptr && isVectorAligned(args.input) &&
            isVectorAligned(args.gateUp) && isVectorAligned(args.down) && isVectorAligned(args.workspace) &&
            isVectorAligned(args.out));
}

cudaError_t products(const MoeArgs &args, const Workspace &workspace, cudaStream_t stream)
{
    const cudaError_t status = moeGateUp({.tokens = args.tokens,
                                          .slotsPerToken = args.slotsPerToken,
                                          .experts = args.experts,
                                          .hidden = args.hidden,
                                          .inner = args.inner,
                                          .input = args.input,
                                          .weights = args.gateUp,
                                          .expertOffsets = workspace.offsets,
                                          .slots = workspace.slots,
                                          .out = workspace.inner,
                                          .variant = args.variant},
                                         stream);
    if (status != cudaSuccess)
        return status;
    return moeDown({.tokens = args.tokens,
                    .slotsPerToken = args.slotsPerToken,
                    .experts = args.experts,
                    .hidden = args.hidden,
                    .inner = args.inner,
                    .input = workspace.inner,
                    .weights = args.down,
                    .expertOffsets = workspace.offsets,
                    .slots = workspace.slots,
                    .outFloat = workspace.outputs,
                    .variant = args.variant},
                   stream);
}

} // namespace

std::int64_t moeWorkspaceBytes(const MoeArgs &args) noexcept
{
    return layOut(args).bytes;
}

cudaError_t moe(const MoeArgs &args, cudaStream_t stream)
{
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    if (args.tokens == 0)
        return cudaSuccess;
    const Workspace workspace = layOut(args);
    cudaError_t status =
        launchDependent(sortKernel, {.grid = dim3(static_cast<unsigned>(args.experts)), .threads = kSortThreads},
                        stream, args.expertIds, static_cast<std::int32_t>(args.tokens * args.slotsPerToken),
                        workspace.offsets, workspace.slots);
    if (status == cudaSuccess)
        status = products(args, workspace, stream);
    if (status != cudaSuccess)
        return status;
    return launchDependent(sumKernel, {.grid = dim3(static_cast<unsigned>(args.tokens)), .threads = kSumThreads},
                           stream, args, static_cast<const float *>(workspace.outputs));
}

} // namespace palimpsest::kernels
