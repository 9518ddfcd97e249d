// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/generation.h"
#include "tests/support/fake_backend.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace palimpsest::test {

using Ids = std::vector<TokenId>;
using Mask = std::vector<std::uint8_t>;

/// Runs one generation on a fake backend, step by step, as the scheduler would.
class Driver
{
public:
    Driver(GenerationRequest request, FakeModel model, FakeSettings settings = {},
           const std::shared_ptr<const Tokenizer> &tokenizer = nullptr)
        : m_backend(settings, std::move(model)),
          generation(7, std::move(request), m_backend.config(), tokenizer),
          m_sequence(m_backend.newSequence()),
          m_conditioning(m_backend.newSelfConditioning())
    {
    }

    /// Up to and including the next denoising step; false if the generation is done instead.
    bool step()
    {
        if (generation.phase() == Generation::Phase::Encode) {
            m_backend.encode(*m_sequence, generation.tokensToEncode(), {});
            generation.encoded();
        }
        if (generation.phase() == Generation::Phase::Done) {
            return false;
        }
        if (generation.startsCanvas()) {
            m_conditioning->reset();
        }
        DenoiseJob job = generation.nextJob();
        job.prefix = m_sequence.get();
        job.conditioning = m_conditioning.get();
        temperatures.push_back(job.temperature);
        addresses.push_back(job.noise);
        m_backend.denoise(std::span(&job, 1));
        const Generation::StepOutcome outcome = generation.denoised(1.0, 2.0);
        steps.push_back(outcome.step);
        if (outcome.canvas) {
            canvases.push_back(*outcome.canvas);
        }
        return true;
    }
    GenerationResult finish()
    {
        while (step()) {
        }
        return generation.takeResult();
    }

private:
    FakeBackend m_backend;

public:
    Generation generation;
    std::vector<std::shared_ptr<const StepEvent>> steps;
    std::vector<CanvasEvent> canvases;
    std::vector<float> temperatures;
    std::vector<NoiseAddress> addresses;

private:
    std::unique_ptr<Sequence> m_sequence;
    std::unique_ptr<SelfConditioning> m_conditioning;
};

inline GenerationRequest basicRequest()
{
    GenerationRequest request;
    request.prompt = {1, 2, 3};
    request.seed = 0x123456789abcdef0;
    request.maxNewTokens = 8;
    return request;
}

inline std::string settledText(const std::vector<CanvasEvent> &canvases)
{
    std::string all;
    for (const CanvasEvent &canvas : canvases) {
        all += canvas.settledText;
    }
    return all;
}

inline std::string settledRawText(const std::vector<CanvasEvent> &canvases)
{
    std::string all;
    for (const CanvasEvent &canvas : canvases) {
        all += canvas.settledRawText;
    }
    return all;
}

/// `ids` cut into canvases of `length`.
inline std::vector<Ids> inCanvases(const Ids &ids, std::size_t length)
{
    std::vector<Ids> canvases;
    for (std::size_t begin = 0; begin < ids.size(); begin += length) {
        const auto first = ids.begin() + static_cast<std::ptrdiff_t>(begin);
        canvases.emplace_back(first, first + static_cast<std::ptrdiff_t>(std::min(length, ids.size() - begin)));
    }
    return canvases;
}

} // namespace palimpsest::test
