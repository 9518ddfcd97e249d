// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/support/fake_backend.h"

#include "engine/error.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace palimpsest::test {

namespace {

constexpr std::uint64_t kSeedOfHashes = 0xcbf29ce484222325;

/// One round of splitmix64 over a running hash.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t value)
{
    std::uint64_t x = hash + 0x9e3779b97f4a7c15 + value * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111eb;
    return x ^ (x >> 31U);
}

std::uint64_t hashOf(std::span<const TokenId> ids)
{
    std::uint64_t hash = kSeedOfHashes;
    for (const TokenId id : ids) {
        hash = mixed(hash, static_cast<std::uint64_t>(id));
    }
    return hash;
}

TokenId allowedId(std::uint64_t hash, std::int64_t vocabSize, std::span<const LogitBias> bias)
{
    auto id = static_cast<TokenId>(hash % static_cast<std::uint64_t>(vocabSize));
    const auto isBanned = [&](TokenId candidate) {
        return std::any_of(bias.begin(), bias.end(), [&](const LogitBias &entry) {
            return entry.id == candidate && entry.bias == -std::numeric_limits<float>::infinity();
        });
    };
    while (isBanned(id)) {
        id = static_cast<TokenId>((id + 1) % vocabSize);
    }
    return id;
}

class FakeConditioning : public SelfConditioning
{
public:
    void reset() override
    {
        hash = 0;
        passes = 0;
    }

    std::uint64_t hash = 0;
    int passes = 0;
};

void require(bool holds, const char *what)
{
    if (!holds) {
        throw std::logic_error(what);
    }
}

} // namespace

class FakeSequence : public Sequence
{
public:
    FakeSequence(std::vector<TokenId> sequenceIds, std::int64_t bytesPerToken, std::shared_ptr<FakeLog> log)
        : ids(std::move(sequenceIds)), m_bytesPerToken(bytesPerToken), m_log(std::move(log))
    {
        m_log->change([](auto &counts) { ++counts.liveSequences; });
    }
    ~FakeSequence() override
    {
        m_log->change([](auto &counts) { --counts.liveSequences; });
    }
    FakeSequence(const FakeSequence &) = delete;
    FakeSequence &operator=(const FakeSequence &) = delete;

    [[nodiscard]] std::int64_t length() const noexcept override { return static_cast<std::int64_t>(ids.size()); }
    [[nodiscard]] std::int64_t cacheBytes() const noexcept override { return length() * m_bytesPerToken; }

    std::vector<TokenId> ids;

private:
    std::int64_t m_bytesPerToken;
    std::shared_ptr<FakeLog> m_log;
};

FakeModel settlingModel(std::int64_t vocabSize)
{
    return [vocabSize](const FakeInput &input) {
        const std::uint64_t place = mixed(input.prefixHash, input.position);
        PositionResult result;
        if (input.pass >= static_cast<int>(2 + place % 5)) {
            result.argmax = allowedId(mixed(place, 1), vocabSize, input.logitBias);
            result.sampled = result.argmax;
            result.entropyNats = 1e-4F;
        } else {
            const std::uint64_t state = mixed(mixed(place, input.canvasHash), input.conditioning);
            result.argmax = allowedId(state, vocabSize, input.logitBias);
            const PhiloxBlock noise =
                input.noise.block(NoiseKind::Gumbel, static_cast<std::uint32_t>(input.position), 0);
            result.sampled = allowedId(mixed(state, noise[0]), vocabSize, input.logitBias);
            result.entropyNats = 0.02F + static_cast<float>(state % 1000) / 1000.0F * input.temperature;
        }
        result.alternatives[0] = {result.argmax, 1.0F};
        return result;
    };
}

FakeModel certainModel(std::vector<std::vector<TokenId>> canvases, TokenId filler)
{
    return [canvases = std::move(canvases), filler](const FakeInput &input) {
        PositionResult result;
        result.argmax = filler;
        if (input.noise.canvas < canvases.size() && input.position < canvases[input.noise.canvas].size()) {
            result.argmax = canvases[input.noise.canvas][input.position];
        }
        result.sampled = result.argmax;
        result.entropyNats = 1e-5F;
        result.alternatives[0] = {result.argmax, 1.0F};
        return result;
    };
}

FakeModel restlessModel(std::int64_t vocabSize)
{
    return [vocabSize](const FakeInput &input) {
        PositionResult result;
        result.argmax = static_cast<TokenId>((input.noise.step + input.position) % static_cast<std::size_t>(vocabSize));
        result.sampled = result.argmax;
        result.entropyNats = 1.0F;
        return result;
    };
}

FakeLog::Counts FakeLog::counts() const
{
    const std::lock_guard lock(m_mutex);
    return m_counts;
}

ModelConfig fakeConfig(const FakeSettings &settings)
{
    ModelConfig config;
    config.vocabSize = settings.vocabSize;
    config.canvasLength = settings.canvasLength;
    config.maxPositions = settings.maxPositions;
    return config;
}

FakeBackend::FakeBackend(FakeSettings settings, FakeModel model, std::shared_ptr<FakeLog> log)
    : m_settings(settings),
      m_config(fakeConfig(settings)),
      m_info{"fake", "no device", 0},
      m_model(std::move(model)),
      m_log(std::move(log))
{
}

std::unique_ptr<Sequence> FakeBackend::newSequence()
{
    return std::make_unique<FakeSequence>(std::vector<TokenId>{}, m_settings.bytesPerToken, m_log);
}

std::unique_ptr<Sequence> FakeBackend::fork(const Sequence &source, std::int64_t length)
{
    const auto &ids = dynamic_cast<const FakeSequence &>(source).ids;
    require(length >= 0 && length <= source.length(), "fork beyond the end of a sequence");
    if (m_settings.forkReach && length < source.length() - *m_settings.forkReach) {
        m_log->change([](auto &counts) { ++counts.refusedForks; });
        return nullptr;
    }
    m_log->change([](auto &counts) { ++counts.forks; });
    return std::make_unique<FakeSequence>(std::vector<TokenId>(ids.begin(), ids.begin() + length),
                                          m_settings.bytesPerToken, m_log);
}

bool FakeBackend::encode(Sequence &sequence, std::span<const TokenId> ids, std::stop_token stop)
{
    auto &held = dynamic_cast<FakeSequence &>(sequence).ids;
    require(!ids.empty(), "nothing to encode");
    if (m_log->beforeEncode) {
        m_log->beforeEncode(ids, stop);
    }
    if (stop.stop_requested()) {
        return false;
    }
    m_log->change([&](auto &counts) {
        ++counts.encodeCalls;
        counts.encodedTokens += static_cast<std::int64_t>(ids.size());
        counts.largestEncode = std::max(counts.largestEncode, ids.size());
    });
    held.insert(held.end(), ids.begin(), ids.end());
    if (static_cast<std::int64_t>(held.size()) > m_settings.maxPositions) {
        throw Error(ErrorKind::ContextLength, "the fake context is full", "prompt");
    }
    return true;
}

std::unique_ptr<SelfConditioning> FakeBackend::newSelfConditioning()
{
    return std::make_unique<FakeConditioning>();
}

void FakeBackend::denoise(std::span<const DenoiseJob> jobs)
{
    m_log->change([&](auto &counts) {
        ++counts.denoiseCalls;
        counts.largestBatch = std::max(counts.largestBatch, jobs.size());
    });
    if (m_log->beforeDenoise) {
        m_log->beforeDenoise(jobs);
    }
    for (const DenoiseJob &job : jobs) {
        require(job.prefix != nullptr && job.conditioning != nullptr, "a job without prefix or conditioning");
        require(job.results.size() == job.canvas.size(), "results and canvas differ in length");
        const auto &prefix = dynamic_cast<const FakeSequence &>(*job.prefix).ids;
        auto &conditioning = dynamic_cast<FakeConditioning &>(*job.conditioning);
        const auto end = static_cast<std::int64_t>(prefix.size() + job.canvas.size());
        require(!prefix.empty() && end <= m_settings.maxPositions, "a canvas outside the context");
        FakeInput input{prefix, job.canvas, 0, job.noise, job.temperature, job.logitBias, conditioning.passes, 0, 0, 0};
        input.prefixHash = hashOf(prefix);
        input.canvasHash = hashOf(job.canvas);
        input.conditioning = conditioning.hash;
        std::uint64_t resultsHash = conditioning.hash;
        for (std::size_t position = 0; position < job.canvas.size(); ++position) {
            input.position = position;
            job.results[position] = m_model(input);
            resultsHash = mixed(resultsHash, static_cast<std::uint64_t>(job.results[position].argmax));
        }
        conditioning.hash = resultsHash;
        ++conditioning.passes;
    }
}

} // namespace palimpsest::test
