// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/dtype.h"

#include <algorithm>
#include <array>

namespace palimpsest {

namespace {

struct DtypeRow
{
    std::string_view name;
    std::int64_t size;
};

// In the order of the enumeration.
constexpr std::array<DtypeRow, 15> kDtypes{{{"F32", 4},
                                            {"F16", 2},
                                            {"BF16", 2},
                                            {"U8", 1},
                                            {"F64", 8},
                                            {"I64", 8},
                                            {"I32", 4},
                                            {"I16", 2},
                                            {"I8", 1},
                                            {"U64", 8},
                                            {"U32", 4},
                                            {"U16", 2},
                                            {"BOOL", 1},
                                            {"F8_E4M3", 1},
                                            {"F8_E5M2", 1}}};
static_assert(kDtypes.size() == static_cast<std::size_t>(Dtype::F8E5M2) + 1);

} // namespace

std::int64_t dtypeSize(Dtype dtype) noexcept
{
    return kDtypes[static_cast<std::size_t>(dtype)].size;
}

std::string_view dtypeName(Dtype dtype) noexcept
{
    return kDtypes[static_cast<std::size_t>(dtype)].name;
}

std::optional<Dtype> dtypeFromName(std::string_view name) noexcept
{
    const auto row = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const DtypeRow &r) { return r.name == name; });
    return row == kDtypes.end() ? std::nullopt : std::optional(static_cast<Dtype>(row - kDtypes.begin()));
}

} // namespace palimpsest
