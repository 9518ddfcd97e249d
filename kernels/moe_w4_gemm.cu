// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/moe_w4_gemm.h"

namespace palimpsest::kernels {

namespace {

constexpr std::int64_t kGateUpGroup = 128; // of the checkpoint's format
constexpr std::int64_t kDownGroup = 64;
constexpr std::int64_t kMostColumns = std::int64_t{1} << 20;

template <typename Args>
bool isAllowed(const Args &args)
{
    return args.tokens >= 0 && args.slotsPerToken > 0 && args.experts > 0 && args.experts <= w4::kMaxExperts &&
           args.hidden > 0 && args.hidden <= kMostColumns && args.inner > 0 && args.inner <= kMostColumns &&
           args.tokens <= INT32_MAX / args.slotsPerToken &&
           (args.tokens == 0 || (args.expertOffsets != nullptr && args.slots != nullptr));
}

template <typename Args>
w4::Problem routedProblem(const Args &args)
{
    w4::Problem problem;
    problem.weights = args.weights;
    problem.input = args.input;
    problem.expertOffsets = args.expertOffsets;
    problem.slots = args.slots;
    problem.positions = static_cast<std::int32_t>(args.tokens * args.slotsPerToken);
    problem.experts = static_cast<std::int32_t>(args.experts);
    problem.slotsPerToken = static_cast<std::int32_t>(args.slotsPerToken);
    return problem;
}

} // namespace

cudaError_t moeGateUp(const MoeGateUpArgs &args, cudaStream_t stream)
{
    if (!isAllowed(args) || args.hidden % kGateUpGroup != 0 || args.inner % 16 != 0)
        return cudaErrorInvalidValue;
    w4::Problem problem = routedProblem(args);
    problem.out = args.out;
    problem.outputs = args.inner;
    problem.matrixBytes = w4MatrixBytes(2 * args.inner, args.hidden, kGateUpGroup);
    problem.columns = static_cast<std::int32_t>(args.hidden);
    problem.rowBlocks = static_cast<std::int32_t>(w4RowBlocks(2 * args.inner));
    problem.gatherInput = 1;
    return w4::launchProduct(w4::Product::GateUp128, problem, args.variant, stream);
}

cudaError_t moeDown(const MoeDownArgs &args, cudaStream_t stream)
{
    if (!isAllowed(args) || args.inner % kDownGroup != 0 || (args.outBf16 != nullptr) == (args.outFloat != nullptr))
        return cudaErrorInvalidValue;
    const bool bf16 = args.outBf16 != nullptr;
    w4::Problem problem = routedProblem(args);
    problem.out = bf16 ? static_cast<void *>(args.outBf16) : args.outFloat;
    problem.outputs = args.hidden;
    problem.matrixBytes = w4MatrixBytes(args.hidden, args.inner, kDownGroup);
    problem.columns = static_cast<std::int32_t>(args.inner);
    problem.rowBlocks = static_cast<std::int32_t>(w4RowBlocks(args.hidden));
    problem.scatterOutput = 1;
    problem.overlap = args.followsGateUp ? 1 : 0;
    return w4::launchProduct(bf16 ? w4::Product::Plain64Bf16 : w4::Product::Plain64Float, problem, args.variant,
                             stream);
}

} // namespace palimpsest::kernels
