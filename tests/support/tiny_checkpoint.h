// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/dtype.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::test {

/// One tensor to be written; a test may change any of it, bytes that do not fit the shape included.
struct TinyTensor
{
    std::string dtype; ///< as in the file; free text
    std::vector<std::int64_t> shape;
    std::vector<std::uint8_t> bytes;

    /// `fill`: repeated over all 16-bit elements.
    [[nodiscard]] static TinyTensor ofHalves(std::string dtype, std::vector<std::int64_t> shape, std::uint16_t fill);
    [[nodiscard]] static TinyTensor ofBytes(std::vector<std::int64_t> shape, std::uint8_t fill);
};

/// Writes the bytes of a safetensors file: header, then the tensors in the order of their names.
[[nodiscard]] std::string safetensorsText(const std::map<std::string, TinyTensor> &tensors);

enum class TinyFormat { DgW4a16, Bf16, F32 };

/// A valid model directory with random weights, as small as the format allows: vocabulary 40, hidden size 128, two
/// layers (sliding, full), 4 experts of 64. A test changes what it wants and writes it.
class TinyCheckpoint
{
public:
    explicit TinyCheckpoint(TinyFormat format = TinyFormat::DgW4a16, std::uint32_t seed = 1);

    nlohmann::json config;
    nlohmann::json generationConfig;
    nlohmann::json w4Meta;                                            ///< null: no such file
    std::map<std::string, std::map<std::string, TinyTensor>> weights; ///< file name -> tensor name -> tensor

    /// The file that holds the tensor must be there.
    [[nodiscard]] TinyTensor &tensor(const std::string &name);
    void rename(const std::string &from, const std::string &to);

    /// Writes everything into the directory, which is made if needed.
    void write(const std::filesystem::path &directory) const;
};

void writeFile(const std::filesystem::path &path, std::string_view content);
[[nodiscard]] std::string readFile(const std::filesystem::path &path);

} // namespace palimpsest::test
