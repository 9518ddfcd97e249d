// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/cpu/compute.h"
#include "engine/cpu/model_weights.h"

#include <cstdint>
#include <span>
#include <vector>

namespace palimpsest::cpu {

/// Which experts each row uses: [rows][expertsPerToken], descending probability, equal ones by index.
struct Routing
{
    std::vector<std::int32_t> experts;
    std::vector<float> weights; ///< renormalised to sum 1, then times per_expert_scale
};

/// One row of router logits [expertCount] to its choice of experts: softmax in fp32, the k most probable. Overwrites
/// the logits with the probabilities that are left.
void chooseExperts(std::span<float> logits, std::span<const float> perExpertScale, std::span<std::int32_t> experts,
                   std::span<float> weights);

/// The experts of one layer for all rows at once: each expert's weights are widened once for all the rows that chose
/// it.
class Mixture
{
public:
    /// Adds the experts' products to a section: reads `in` [rows, hidden] and `routing`, both of which must outlive
    /// run().
    void addExperts(Section &section, Compute &compute, const std::vector<ExpertPanels> &experts, const Matrix &in,
                    const Routing &routing, std::int64_t expertsPerToken);

    /// sum over the row's k experts, in the order of `routing`, of weight * expert output. out [hidden].
    void combine(const RowKernels &kernels, const Routing &routing, std::int64_t row, float *out) const;

private:
    struct ExpertRows
    {
        std::int64_t expert = 0;
        std::vector<std::int64_t> slots; ///< row * expertsPerToken + j
    };

    void runExpert(Compute &compute, int worker, const ExpertPanels &weights, std::span<const std::int64_t> slots,
                   const Matrix &in);

    std::vector<ExpertRows> m_tasks; ///< of experts with rows, most rows first
    Matrix m_outputs;                ///< [rows * expertsPerToken, hidden]
    std::int64_t m_expertsPerToken = 0;
};

} // namespace palimpsest::cpu
