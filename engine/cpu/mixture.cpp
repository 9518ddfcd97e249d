// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/mixture.h"

#include <algorithm>
#include <cmath>

namespace palimpsest::cpu {

void chooseExperts(std::span<float> logits, std::span<const float> perExpertScale, std::span<std::int32_t> experts,
                   std::span<float> weights)
{
    const float maximum = *std::ranges::max_element(logits);
    float sum = 0.0F;
    for (float &logit : logits) {
        logit = std::exp(logit - maximum);
        sum += logit;
    }
    for (float &probability : logits)
        probability /= sum;
    float chosenSum = 0.0F;
    for (std::size_t j = 0; j < experts.size(); ++j) {      // k passes: k is small and a sort's bookkeeping is not
        const auto best = std::ranges::max_element(logits); // the first, so the lowest index of equal ones
        experts[j] = static_cast<std::int32_t>(best - logits.begin());
        weights[j] = *best;
        chosenSum += *best;
        *best = -1.0F;
    }
    for (std::size_t j = 0; j < experts.size(); ++j)
        weights[j] = weights[j] / chosenSum * perExpertScale[static_cast<std::size_t>(experts[j])];
}

void Mixture::addExperts(Section &section, Compute &compute, const std::vector<ExpertPanels> &experts, const Matrix &in,
                         const Routing &routing, std::int64_t expertsPerToken)
{
    m_expertsPerToken = expertsPerToken;
    m_outputs.resize(in.rows() * expertsPerToken, in.columns());
    std::vector<ExpertRows> all(experts.size());
    for (std::size_t expert = 0; expert < experts.size(); ++expert)
        all[expert].expert = static_cast<std::int64_t>(expert);
    const std::int64_t slots = in.rows() * expertsPerToken;
    for (std::int64_t slot = 0; slot < slots; ++slot)
        all[static_cast<std::size_t>(routing.experts[static_cast<std::size_t>(slot)])].slots.push_back(slot);
    std::erase_if(all, [](const ExpertRows &rows) { return rows.slots.empty(); });
    std::ranges::stable_sort(all,
                             [](const ExpertRows &a, const ExpertRows &b) { return a.slots.size() > b.slots.size(); });
    m_tasks = std::move(all);
    section.add(static_cast<std::int64_t>(m_tasks.size()), [this, &compute, &experts, &in](std::int64_t item,
                                                                                           int worker) {
        const ExpertRows &task = m_tasks[static_cast<std::size_t>(item)];
        const std::span<const std::int64_t> taskSlots(task.slots);
        for (std::size_t first = 0; first < taskSlots.size(); first += static_cast<std::size_t>(kTileRows))
            runExpert(compute, worker, experts[static_cast<std::size_t>(task.expert)],
                      taskSlots.subspan(first, std::min(taskSlots.size() - first, static_cast<std::size_t>(kTileRows))),
                      in);
    });
}

void Mixture::runExpert(Compute &compute, int worker, const ExpertPanels &weights, std::span<const std::int64_t> slots,
                        const Matrix &in)
{
    const RowKernels &kernels = compute.kernels();
    Workspace &workspace = compute.workspace(worker);
    const auto rows = static_cast<std::int64_t>(slots.size());
    const std::int64_t hidden = in.columns();
    const std::int64_t inner = weights.gate.panelCount() * kPanelColumns;
    workspace.gathered.resize(kTileRows * hidden);
    workspace.inner.resize(kTileRows * inner);
    float *gathered = workspace.gathered.data();
    float *gated = workspace.inner.data();
    for (std::int64_t i = 0; i < rows; ++i)
        std::copy_n(in.row(slots[static_cast<std::size_t>(i)] / m_expertsPerToken), hidden, gathered + i * hidden);

    PanelGemm &gemm = compute.gemm();
    for (std::int64_t panel = 0; panel < weights.gate.panelCount(); ++panel) {
        gemm.multiply(worker, gathered, hidden, weights.gate.panel(panel, workspace.panel.data(), kernels),
                      workspace.tile.data(), rows, hidden, kPanelColumns);
        gemm.multiply(worker, gathered, hidden, weights.up.panel(panel, workspace.secondPanel.data(), kernels),
                      workspace.secondTile.data(), rows, hidden, kPanelColumns);
        for (std::int64_t i = 0; i < rows; ++i)
            kernels.gatedGelu(gated + i * inner + panel * kPanelColumns, workspace.tile.data() + i * kPanelColumns,
                              workspace.secondTile.data() + i * kPanelColumns, kPanelColumns);
    }
    for (std::int64_t panel = 0; panel < weights.down.panelCount(); ++panel) {
        gemm.multiply(worker, gated, inner, weights.down.panel(panel, workspace.panel.data(), kernels),
                      workspace.tile.data(), rows, weights.down.inputs(), kPanelColumns);
        const std::int64_t firstColumn = panel * kPanelColumns;
        const std::int64_t columns = std::min(kPanelColumns, hidden - firstColumn);
        for (std::int64_t i = 0; i < rows; ++i)
            std::copy_n(workspace.tile.data() + i * kPanelColumns, columns,
                        m_outputs.row(slots[static_cast<std::size_t>(i)]) + firstColumn);
    }
}

void Mixture::combine(const RowKernels &kernels, const Routing &routing, std::int64_t row, float *out) const
{
    std::fill_n(out, m_outputs.columns(), 0.0F);
    for (std::int64_t slot = row * m_expertsPerToken; slot < (row + 1) * m_expertsPerToken; ++slot)
        kernels.addScaled(out, m_outputs.row(slot), routing.weights[static_cast<std::size_t>(slot)],
                          m_outputs.columns());
}

} // namespace palimpsest::cpu
