// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/w4_linear.h"

namespace palimpsest::kernels {

cudaError_t w4Linear(const W4LinearArgs &args, cudaStream_t stream)
{
    constexpr std::int64_t kMost = INT32_MAX / 4;
    const bool bf16 = args.outBf16 != nullptr;
    if ((args.groupSize != 64 && args.groupSize != 128) || args.inputs <= 0 || args.inputs % args.groupSize != 0 ||
        args.inputs > kMost || args.outputs < 0 || args.outputs > kMost || args.rows < 0 || args.rows > INT32_MAX ||
        bf16 == (args.outFloat != nullptr))
        return cudaErrorInvalidValue;
    w4::Problem problem;
    problem.weights = args.weights;
    problem.input = args.x;
    problem.out = bf16 ? static_cast<void *>(args.outBf16) : args.outFloat;
    problem.outputs = args.outputs;
    problem.positions = static_cast<std::int32_t>(args.rows);
    problem.columns = static_cast<std::int32_t>(args.inputs);
    problem.rowBlocks = static_cast<std::int32_t>(w4RowBlocks(args.outputs));
    using w4::Product;
    const Product product = args.groupSize == 64 ? (bf16 ? Product::Plain64Bf16 : Product::Plain64Float)
                                                 : (bf16 ? Product::Plain128Bf16 : Product::Plain128Float);
    return w4::launchProduct(product, problem, args.variant, stream);
}

} // namespace palimpsest::kernels
