// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/model_lookup.h"
#include "app/request_desk.h"
#include "engine/backend.h"
#include "engine/chat_format.h"
#include "engine/error.h"
#include "engine/model_config.h"
#include "engine/tokenizer.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace palimpsest {

/// A model that runs in this process. Immutable and shared: whoever holds it may use it from any thread. When the host
/// has gone, or has given the model up, the desk refuses requests.
struct RunningModel
{
    std::string id;                  ///< stable across restarts: the folder's name as programs write it
    std::int64_t createdSeconds = 0; ///< Unix time of the checkpoint, never 0
    std::filesystem::path directory; ///< empty for a model that a test made
    std::shared_ptr<const Tokenizer> tokenizer;
    std::optional<ChatFormat> chat; ///< absent: raw text only
    ModelConfig config;
    GenerationDefaults defaults;
    BackendInfo backend;
    std::int64_t contextLength = 0; ///< tokens, prompt and answer together: the limit in force
    std::shared_ptr<RequestDesk> desk;
};

/// Where the one model of this process stands.
struct EngineState
{
    enum class Phase {
        Loading,
        Ready,
        Failed, ///< could not be loaded, or the device failed for good while it ran
    };
    Phase phase = Phase::Loading;
    double progress = 0.0;                     ///< 0 to 1, while loading
    std::optional<Error> error;                ///< when failed
    std::shared_ptr<const RunningModel> model; ///< when ready
};

/// Everything that makes a model run, ready to use.
struct EngineParts
{
    std::string id = "palimpsest-test";
    std::int64_t createdSeconds = 1;
    std::filesystem::path directory;
    std::unique_ptr<Backend> backend;
    std::shared_ptr<const Tokenizer> tokenizer;
    std::optional<ChatFormat> chat;
    GenerationDefaults defaults;
    DeskSettings desk;
};

/// Makes the parts; runs on the host's thread. Throws Error; reports its progress, and gives up with Error Backend
/// "cancelled" where that returns false.
using EngineLoader = std::function<EngineParts(const LoadProgress &progress)>;

/// Which model to load, and how.
struct EngineChoice
{
    ModelOptions model;
    std::optional<std::string> id; ///< the name to serve it under instead of its own
    int queueCapacity = DeskSettings{}.queueCapacity;
    std::function<void(const FinishedRun &)> onFinished = {}; ///< see DeskSettings
};

/// Finds and loads the model of `choice`.
[[nodiscard]] EngineLoader engineLoader(EngineChoice choice);

/// "Palimpsest Demo_Model" -> "palimpsest-demo-model": the id of a model folder. The bundled one is "palimpsest-demo".
[[nodiscard]] std::string modelIdOf(const std::filesystem::path &directory);

/// Owns the model of this process: loads it on a thread of its own, hands it to everyone who asks, and notices when the
/// device fails for good: after a request that ended with Error Backend it tries the smallest one there is, and gives
/// the model up if that fails, too. All members may be called from any thread.
class EngineHost
{
public:
    /// Called for every change of the phase and, while loading, when the progress has moved by a hundredth; on the
    /// host's thread. Must not throw, must not destroy the host, should only post.
    using Observer = std::function<void(const EngineState &)>;
    /// Ends an observation when it is dropped; a call that is under way may still return after that.
    using Subscription = std::shared_ptr<const void>;

    /// Starts loading at once.
    explicit EngineHost(EngineLoader loader);
    /// For tests: ready from the beginning.
    explicit EngineHost(EngineParts parts);
    ~EngineHost(); ///< cancels the loading, closes the desk, and joins
    EngineHost(const EngineHost &) = delete;
    EngineHost &operator=(const EngineHost &) = delete;

    [[nodiscard]] EngineState state() const;
    /// Null unless ready.
    [[nodiscard]] std::shared_ptr<const RunningModel> model() const { return state().model; }
    /// Throws the error of a failed model, or Error Backend ("loading") with the progress in its message.
    [[nodiscard]] std::shared_ptr<const RunningModel> requireModel() const;

    [[nodiscard]] Subscription observe(Observer observer);

    /// Loads again after a failure (an unplugged device, a dead context); ignored in another phase, and for a host
    /// without a loader.
    void reload();
    /// Loads another model in the place of the one there is, whatever the phase: what loads is given up, what runs is
    /// cancelled, and the old model's memory is free before the new one takes its own.
    void replace(EngineLoader loader);
    /// Gives up a loading that is under way: it fails with Error Backend "cancelled".
    void cancelLoading();

private:
    struct State;
    std::shared_ptr<State> m_state;
};

} // namespace palimpsest
