// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/dtype.h"
#include "engine/load_progress.h"
#include "engine/model_config.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// A tensor inside a memory-mapped file, row-major, borrowed from the `Checkpoint`.
struct TensorView
{
    std::string name;
    Dtype dtype = Dtype::F32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes; ///< dtype-aligned as far as the file is; read with memcpy or unaligned loads
    std::filesystem::path file;

    [[nodiscard]] std::int64_t elementCount() const noexcept;
};

/// The experts of one layer, either 4-bit (`quantised`) or as stored by transformers in bf16 or fp32.
///
/// Shapes, E experts, I = expertIntermediateSize, H = hiddenSize, gate rows before up rows:
/// quantised: gateUp q [E,2I,H/2] u8, scale and zero [E,2I,H/128] f16; down q [E,H,I/2] u8, scale, zero [E,H,I/64] f16.
/// else: gateUp [E,2I,H], down [E,H,I].
struct ExpertTensors
{
    bool quantised = false;
    TensorView gateUp; ///< packed nibbles if quantised
    TensorView gateUpScale;
    TensorView gateUpZero;
    TensorView down;
    TensorView downScale;
    TensorView downZero;
};

enum class CheckpointFormat {
    DgW4a16,      ///< "dg-w4a16-v1", design section 3
    Transformers, ///< unquantised experts in bf16 or fp32
};

struct CheckpointFile
{
    std::filesystem::path path;
    std::int64_t bytes = 0;
    std::int64_t tensorCount = 0;
};

/// A validated, memory-mapped model directory.
///
/// `open` checks everything the engine will read (presence, shape, dtype, bounds, finite scales) before anything is
/// allocated for weights. Immutable and safe to read from several threads.
class Checkpoint
{
public:
    /// Throws Error: NotFound, PermissionDenied, Io, InvalidCheckpoint or Unsupported, each naming the file and the
    /// tensor or field, what was found and what was wanted. A large model takes seconds, more from a slow disk:
    /// `progress` hears how far it is.
    [[nodiscard]] static std::shared_ptr<const Checkpoint> open(const std::filesystem::path &directory,
                                                                const LoadProgress &progress = {});

    ~Checkpoint();
    Checkpoint(const Checkpoint &) = delete;
    Checkpoint &operator=(const Checkpoint &) = delete;

    [[nodiscard]] const std::filesystem::path &directory() const noexcept;
    [[nodiscard]] CheckpointFormat format() const noexcept;
    [[nodiscard]] const ModelConfig &config() const noexcept;
    [[nodiscard]] const GenerationDefaults &generationDefaults() const noexcept;

    /// The non-expert tensor of that transformers name (`model.decoder.layers.0.mlp.gate_proj.weight`); every tensor
    /// the text model needs is there once `open` returned. Throws Error InvalidCheckpoint for an unknown name.
    [[nodiscard]] const TensorView &tensor(std::string_view name) const;
    [[nodiscard]] const ExpertTensors &experts(std::int64_t layer) const;

    /// All tensors of all files in file order, vision and unknown ones included (for `inspect`).
    [[nodiscard]] std::span<const TensorView> allTensors() const noexcept;
    [[nodiscard]] std::span<const CheckpointFile> files() const noexcept;
    /// Harmless oddities: unknown tensors, duplicate encoder copies, a missing index entry. Sentences.
    [[nodiscard]] std::span<const std::string> warnings() const noexcept;
    /// Bytes of all weight files.
    [[nodiscard]] std::int64_t weightBytes() const noexcept;
    [[nodiscard]] bool hasVisionTensors() const noexcept;

    /// Tells the system that the pages of this tensor are not needed any more in memory (they can be read again from
    /// the file): a backend that repacked a weight calls it to keep the peak near one copy. No-op where unsupported.
    void releasePages(const TensorView &tensor) const noexcept;

    /// Throws Error Io if a weight file was changed or cut short since `open`. Reading a mapped file that was cut short
    /// ends the process (SIGBUS), so a backend calls this before it reads the weights; it costs one system call a file.
    void checkUnchanged() const;

private:
    struct Contents;
    explicit Checkpoint(std::unique_ptr<Contents> contents);
    std::unique_ptr<Contents> m_contents;
};

} // namespace palimpsest
