// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/load_progress.h"
#include "engine/model_config.h"
#include "engine/philox.h"
#include "engine/sampler.h"

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace palimpsest {

/// Keys and values of a committed token sequence, owned by the backend that made it. Used on one thread at a time.
class Sequence
{
public:
    virtual ~Sequence() = default;
    /// Tokens encoded so far; the next one gets this position.
    [[nodiscard]] virtual std::int64_t length() const noexcept = 0;
    /// Bytes of cache this sequence holds, shared parts included.
    [[nodiscard]] virtual std::int64_t cacheBytes() const noexcept = 0;
};

/// What one canvas carries from step to step for self-conditioning; starts empty (a zero signal).
class SelfConditioning
{
public:
    virtual ~SelfConditioning() = default;
    /// Back to the zero signal, for the first step of a canvas.
    virtual void reset() = 0;
};

struct LogitBias
{
    TokenId id = 0;
    float bias = 0.0F; ///< added to the soft-capped logits before the temperature; -infinity bans the id
};

/// One canvas in a denoising step. All spans outlive the call.
struct DenoiseJob
{
    const Sequence *prefix = nullptr;
    std::span<const TokenId> canvas; ///< ids going in, 1 to canvasLength of them; positions follow the prefix
    SelfConditioning *conditioning = nullptr;
    float temperature = 1.0F;
    NoiseAddress noise;
    std::span<const LogitBias> logitBias; ///< sorted by id, each id once
    std::span<PositionResult> results;    ///< one a canvas position, written by the call
};

struct BackendInfo
{
    std::string kind;             ///< "cpu", "cuda"
    std::string deviceName;       ///< for people: "CPU, 2 threads, AVX-512"
    std::int64_t weightBytes = 0; ///< resident weights
};

/// Computes the model. One implementation per kind of device; used on one thread (the scheduler's).
///
/// Determinism: the results of a job depend on the job alone, never on the other jobs of the call, on how the prefix
/// was cut into encode calls, on whether parts of it were reused, or on the number of threads.
class Backend
{
public:
    virtual ~Backend() = default;

    [[nodiscard]] virtual const ModelConfig &config() const noexcept = 0;
    [[nodiscard]] virtual const BackendInfo &info() const noexcept = 0;

    [[nodiscard]] virtual std::unique_ptr<Sequence> newSequence() = 0;
    /// A sequence that continues from the first `length` tokens of `source` and shares their storage; null if that
    /// prefix can no longer be restored (a sliding layer has dropped what it needs).
    [[nodiscard]] virtual std::unique_ptr<Sequence> fork(const Sequence &source, std::int64_t length) = 0;
    /// Causal encoder pass over `ids`, appended to `sequence`. Returns false if `stop` was requested (the sequence then
    /// holds a whole number of the tokens). Throws Error ContextLength past maxPositions, InvalidArgument for an id
    /// outside the vocabulary.
    virtual bool encode(Sequence &sequence, std::span<const TokenId> ids, std::stop_token stop) = 0;

    [[nodiscard]] virtual std::unique_ptr<SelfConditioning> newSelfConditioning() = 0;
    /// One denoising step for each job: decoder pass, head, temperature, sampler statistics; updates `conditioning`.
    virtual void denoise(std::span<const DenoiseJob> jobs) = 0;
};

} // namespace palimpsest
