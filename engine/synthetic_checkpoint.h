// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// Sizes of a model, as far as they differ between the shapes there are.
struct SyntheticShape
{
    std::string name; ///< "26b"
    std::int64_t vocabSize = 0;
    std::int64_t hiddenSize = 0;
    std::int64_t denseIntermediateSize = 0;
    std::int64_t layers = 0;
    std::int64_t fullEvery = 0; ///< every so many-th layer is a full one
    std::int64_t heads = 0;
    std::int64_t slidingHeadDim = 0;
    std::int64_t slidingKvHeads = 0;
    std::int64_t fullHeadDim = 0;
    std::int64_t fullKvHeads = 0;
    std::int64_t slidingWindow = 0;
    std::int64_t experts = 0;
    std::int64_t expertsPerToken = 0;
    std::int64_t expertIntermediateSize = 0;
    std::int64_t maxPositions = 0;
    std::int64_t canvasLength = 0;
};

/// "tiny", "demo" (that of the bundled model) and "26b".
[[nodiscard]] const std::vector<SyntheticShape> &syntheticShapes();
[[nodiscard]] std::optional<SyntheticShape> syntheticShape(std::string_view name);

/// Bytes of the weight files.
[[nodiscard]] std::int64_t syntheticBytes(const SyntheticShape &shape);

/// Writes a model folder with random weights in dg-w4a16-v1, for measuring; it has no tokenizer, and what it computes
/// means nothing.
///
/// Activations are of ordinary size: matrices are normal with deviation 1/sqrt(inputs), norms near 1, those behind a
/// branch near 0.5. Equal shape and seed give equal files. Blocks of random numbers are used again, from place to place
/// at another offset: 15 GB take seconds, on all cores. `goOn` is asked between blocks on the calling thread; false
/// stops and throws Error Backend "cancelled". Throws Error Io or PermissionDenied; InvalidArgument if the folder
/// exists and is not empty.
void writeSyntheticCheckpoint(const SyntheticShape &shape, const std::filesystem::path &directory, std::uint64_t seed,
                              const std::function<bool(double)> &goOn = {});

} // namespace palimpsest
