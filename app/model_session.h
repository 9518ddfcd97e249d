// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/model_lookup.h"
#include "engine/backend_loader.h"
#include "engine/chat_format.h"
#include "engine/checkpoint.h"
#include "engine/tokenizer.h"

#include <memory>
#include <optional>
#include <string_view>

namespace palimpsest {

/// A model folder, opened and checked as a whole: weights, tokenizer and chat format belong together.
struct LoadedModel
{
    ModelLocation location;
    std::shared_ptr<const Checkpoint> checkpoint;
    std::shared_ptr<const Tokenizer> tokenizer;
    std::optional<ChatFormat> chat; ///< absent without a chat_template.jinja
    BackendRequest backend;         ///< where to compute it
    double openMs = 0.0;
};

/// Finds and opens the weights alone, for commands that read and write no text: no tokenizer, no chat format.
[[nodiscard]] LoadedModel openWeights(const ModelOptions &options, const LoadProgress &progress = {});

/// Finds and opens the model. Throws the errors of findModel, Checkpoint::open and Tokenizer::load, and
/// InvalidCheckpoint if there is no tokenizer or it is another model's.
[[nodiscard]] LoadedModel openModel(const ModelOptions &options, const LoadProgress &progress = {});

/// Opens the tokenizer alone, for commands that compute nothing.
[[nodiscard]] std::shared_ptr<const Tokenizer> openTokenizer(const ModelLocation &location);

/// The model's weights on the device that was asked for. Where CUDA was not asked for by name and cannot be used, the
/// CPU computes, and the log says why: as a warning if there is a device that could have been meant.
[[nodiscard]] std::unique_ptr<Backend> startBackend(const LoadedModel &model, const LoadProgress &progress);

/// Most canvases that one denoising step should hold on this backend.
[[nodiscard]] int batchCanvases(const BackendInfo &backend) noexcept;
inline constexpr int kBatchCanvases = 8;
/// The same on a CPU, which one canvas keeps busy: more at a time only settle later and hold more memory.
inline constexpr int kCpuBatchCanvases = 3;

/// Throws Error InvalidCheckpoint if the model has no chat template; `remedy` says what to do instead.
[[nodiscard]] const ChatFormat &requireChat(const LoadedModel &model, std::string_view remedy);

} // namespace palimpsest
