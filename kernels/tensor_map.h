// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

/// Tensor maps, which tell the copy engine of compute capability 9.0 and up how a matrix lies in memory.
namespace palimpsest::kernels {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

// By way of the runtime, so that nothing links to the driver.
inline EncodeTiled encodeTiled()
{
    static const EncodeTiled function = [] {
        void *entry = nullptr;
        cudaDriverEntryPointQueryResult found{};
        if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found) !=
                cudaSuccess ||
            found != cudaDriverEntryPointSuccess)
            return EncodeTiled{nullptr};
        return reinterpret_cast<EncodeTiled>(entry);
    }();
    return function;
}

/// Describes a tensor of 16-bit elements to the copy engine: sizes from the fastest dimension on, strides in elements
/// from the second on. Rows of a box are as wide as the swizzle.
template <int kDimensions>
[[nodiscard]] bool describe(CUtensorMap &map, const Bf16 *data, const cuuint64_t (&sizes)[kDimensions],
                            const std::int64_t (&strides)[kDimensions - 1], const cuuint32_t (&box)[kDimensions],
                            CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B)
{
    const EncodeTiled encode = encodeTiled();
    if (encode == nullptr)
        return false;
    cuuint64_t strideBytes[kDimensions - 1];
    cuuint32_t steps[kDimensions];
    for (int i = 0; i < kDimensions; ++i)
        steps[i] = 1;
    for (int i = 0; i + 1 < kDimensions; ++i)
        strideBytes[i] = static_cast<cuuint64_t>(strides[i]) * 2;
    return encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, kDimensions, const_cast<Bf16 *>(data), sizes, strideBytes,
                  box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

} // namespace palimpsest::kernels
