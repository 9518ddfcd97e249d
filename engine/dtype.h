// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace palimpsest {

/// Element types of tensors in files. The engine computes with the first four; the others occur in tensors it leaves
/// alone and in the fixtures of the tests.
enum class Dtype { F32, F16, BF16, U8, F64, I64, I32, I16, I8, U64, U32, U16, Bool, F8E4M3, F8E5M2 };

/// Bytes of one element.
[[nodiscard]] std::int64_t dtypeSize(Dtype dtype) noexcept;
/// As safetensors spells it: "BF16".
[[nodiscard]] std::string_view dtypeName(Dtype dtype) noexcept;
[[nodiscard]] std::optional<Dtype> dtypeFromName(std::string_view name) noexcept;

} // namespace palimpsest
