// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/backend.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace palimpsest::test {

/// What a fake model sees when it is asked for one canvas position.
struct FakeInput
{
    std::span<const TokenId> prefix;
    std::span<const TokenId> canvas;
    std::size_t position = 0;
    NoiseAddress noise;
    float temperature = 1.0F;
    std::span<const LogitBias> logitBias;
    int pass = 0;                   ///< passes since the conditioning was reset, from 0
    std::uint64_t prefixHash = 0;   ///< of the prefix's ids
    std::uint64_t canvasHash = 0;   ///< of the canvas's ids
    std::uint64_t conditioning = 0; ///< hash of all passes of this canvas so far
};

using FakeModel = std::function<PositionResult(const FakeInput &)>;

/// A model that gropes for some steps and then settles, each position at a time of its own. Everything depends on
/// prefix, canvas and conditioning, so that a mix-up between requests of a batch changes the outcome. Keeps to bans.
[[nodiscard]] FakeModel settlingModel(std::int64_t vocabSize);

/// A model that is sure of `canvases[n]` in canvas n from the first step on; `filler` behind their ends.
[[nodiscard]] FakeModel certainModel(std::vector<std::vector<TokenId>> canvases, TokenId filler = 0);

/// A model that never settles: another argmax in every step, entropy of one nat.
[[nodiscard]] FakeModel restlessModel(std::int64_t vocabSize);

/// What a test may look at and change while a scheduler owns the backend. Safe from any thread.
class FakeLog
{
public:
    struct Counts
    {
        int encodeCalls = 0;
        std::int64_t encodedTokens = 0;
        int denoiseCalls = 0;
        std::size_t largestBatch = 0;
        std::size_t largestEncode = 0;
        int forks = 0;
        int refusedForks = 0;
        std::int64_t liveSequences = 0;
    };
    [[nodiscard]] Counts counts() const;

    /// Called before the work of a denoise call with the number of its jobs, and before that of an encode call with its
    /// ids; may block and may throw. Set them before the scheduler runs.
    std::function<void(std::span<const DenoiseJob>)> beforeDenoise;
    std::function<void(std::span<const TokenId>, const std::stop_token &)> beforeEncode;

private:
    friend class FakeBackend;
    friend class FakeSequence;
    template <typename Change>
    void change(Change &&apply)
    {
        const std::lock_guard lock(m_mutex);
        apply(m_counts);
    }

    mutable std::mutex m_mutex;
    Counts m_counts;
};

struct FakeSettings
{
    std::int64_t vocabSize = 64;
    std::int64_t canvasLength = 8;
    std::int64_t maxPositions = 1024;
    std::int64_t bytesPerToken = 1;
    /// A sequence can be forked up to this many tokens before its end, as with sliding layers; nothing = anywhere.
    std::optional<std::int64_t> forkReach = std::nullopt;
};

[[nodiscard]] ModelConfig fakeConfig(const FakeSettings &settings = {});

/// A backend without a model: deterministic, fast, and strict: misuse throws std::logic_error.
class FakeBackend : public Backend
{
public:
    FakeBackend(FakeSettings settings, FakeModel model, std::shared_ptr<FakeLog> log = std::make_shared<FakeLog>());

    [[nodiscard]] const ModelConfig &config() const noexcept override { return m_config; }
    [[nodiscard]] const BackendInfo &info() const noexcept override { return m_info; }
    [[nodiscard]] std::unique_ptr<Sequence> newSequence() override;
    [[nodiscard]] std::unique_ptr<Sequence> fork(const Sequence &source, std::int64_t length) override;
    bool encode(Sequence &sequence, std::span<const TokenId> ids, std::stop_token stop) override;
    [[nodiscard]] std::unique_ptr<SelfConditioning> newSelfConditioning() override;
    void denoise(std::span<const DenoiseJob> jobs) override;

private:
    FakeSettings m_settings;
    ModelConfig m_config;
    BackendInfo m_info;
    FakeModel m_model;
    std::shared_ptr<FakeLog> m_log;
};

} // namespace palimpsest::test
