// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::test {

/// The folder of golden fixtures: environment PALIMPSEST_GOLDEN, else tests/golden of the source tree.
[[nodiscard]] std::filesystem::path goldenFolder();

/// A JSON file below the golden folder. Throws std::runtime_error naming it if it cannot be read.
[[nodiscard]] nlohmann::json goldenJson(const std::filesystem::path &relative);

/// The tensors of one golden safetensors file, copied out. Independent of the engine's reader on purpose: a fixture
/// must not be misread in the same way as a checkpoint.
class GoldenTensors
{
public:
    struct Tensor
    {
        std::string dtype; ///< as in the file: F32, I64, I32, BOOL, ...
        std::vector<std::int64_t> shape;
        std::vector<std::byte> bytes;
    };

    /// `relative` to the golden folder. Throws std::runtime_error naming the file.
    [[nodiscard]] static GoldenTensors load(const std::filesystem::path &relative);

    [[nodiscard]] bool contains(std::string_view name) const;
    [[nodiscard]] const Tensor &tensor(std::string_view name) const;
    [[nodiscard]] std::vector<std::int64_t> shape(std::string_view name) const { return tensor(name).shape; }
    /// All elements of an F32 tensor, row-major.
    [[nodiscard]] std::vector<float> floats(std::string_view name) const;
    /// All elements of an I64, I32, U8 or BOOL tensor, row-major.
    [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const;
    /// The same as token ids (int32).
    [[nodiscard]] std::vector<std::int32_t> ids(std::string_view name) const;
    /// The same as one byte each.
    [[nodiscard]] std::vector<std::uint8_t> bytes(std::string_view name) const;

private:
    std::map<std::string, Tensor, std::less<>> m_tensors;
};

} // namespace palimpsest::test
