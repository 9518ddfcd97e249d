// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/stage_clock.h"

#include <algorithm>

namespace palimpsest::cuda {

StageClock::~StageClock()
{
    for (const Mark &mark : m_marks)
        (void)cudaEventDestroy(mark.event);
}

void StageClock::mark(const char *stage)
{
    Mark made{.event = nullptr, .stage = stage};
    m_device->check(cudaEventCreate(&made.event), "measure a stage");
    m_marks.push_back(made);
    m_device->check(cudaEventRecord(made.event, m_device->stream()), "measure a stage");
}

std::vector<StageTime> StageClock::times()
{
    m_device->synchronise();
    std::vector<StageTime> stages;
    for (std::size_t i = 1; i < m_marks.size(); ++i) {
        float milliseconds = 0.0F;
        m_device->check(cudaEventElapsedTime(&milliseconds, m_marks[i - 1].event, m_marks[i].event), "measure a stage");
        auto stage = std::ranges::find(stages, m_marks[i].stage, &StageTime::name);
        if (stage == stages.end())
            stage = stages.insert(stages.end(), StageTime{.name = m_marks[i].stage, .ms = 0.0, .launches = 0});
        stage->ms += static_cast<double>(milliseconds);
        ++stage->launches;
    }
    return stages;
}

} // namespace palimpsest::cuda
