// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/step_graphs.h"

#include <algorithm>

namespace palimpsest::cuda {

namespace {

/// A graph of a 26B step takes a few megabytes; batches of 1 to 8 at a few context lengths fit.
constexpr std::size_t kMostGraphs = 32;

} // namespace

void StepGraphs::drop(Entry &entry) noexcept
{
    // A restarted device has thrown its graphs away itself.
    if (entry.graph != nullptr && m_epoch == m_device->epoch())
        (void)cudaGraphExecDestroy(entry.graph);
    entry.graph = nullptr;
}

void StepGraphs::clear() noexcept
{
    for (Entry &entry : m_entries)
        drop(entry);
    m_entries.clear();
}

void StepGraphs::run(const StepShape &shape, const std::function<void()> &launch)
{
    const auto known = std::ranges::find(m_entries, shape, &Entry::shape);
    if (known == m_entries.end()) {
        launch();
        m_epoch = m_device->epoch();
        m_entries.push_front({.shape = shape, .graph = nullptr});
        if (m_entries.size() > kMostGraphs) {
            drop(m_entries.back());
            m_entries.pop_back();
        }
        return;
    }
    m_entries.splice(m_entries.begin(), m_entries, known);
    Entry &entry = m_entries.front();
    if (entry.graph == nullptr)
        capture(entry, launch);
    const cudaError_t status =
        entry.graph == nullptr ? cudaErrorMemoryAllocation : cudaGraphLaunch(entry.graph, m_device->stream());
    if (status == cudaErrorMemoryAllocation) {
        // A graph needs some megabytes, which another program may have taken; kernel by kernel needs none.
        (void)cudaGetLastError();
        drop(entry);
        launch();
        return;
    }
    m_device->check(status, "start a denoising step");
    ++m_replays;
}

void StepGraphs::capture(Entry &entry, const std::function<void()> &launch)
{
    m_device->check(cudaStreamBeginCapture(m_device->stream(), cudaStreamCaptureModeThreadLocal),
                    "capture a denoising step");
    cudaGraph_t graph = nullptr;
    try {
        launch();
    } catch (...) { // the stream has to leave the capture, whatever went wrong
        (void)cudaStreamEndCapture(m_device->stream(), &graph);
        if (graph != nullptr)
            (void)cudaGraphDestroy(graph);
        throw;
    }
    m_device->check(cudaStreamEndCapture(m_device->stream(), &graph), "capture a denoising step");
    const cudaError_t status = cudaGraphInstantiate(&entry.graph, graph, 0);
    (void)cudaGraphDestroy(graph);
    if (status == cudaErrorMemoryAllocation)
        entry.graph = nullptr; // for the caller to do without
    else
        m_device->check(status, "prepare a denoising step");
}

} // namespace palimpsest::cuda
