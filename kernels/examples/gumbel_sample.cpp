// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/gumbel_sample.h"

#include "device_vector.h"

#include <cmath>

// 10000 rows of the same four logits: ids come as often as the softmax says.
int main()
{
    constexpr std::int64_t kRows = 10000;
    const std::vector<float> probabilities{0.1F, 0.2F, 0.3F, 0.4F};
    std::vector<float> logits;
    for (std::int64_t row = 0; row < kRows; ++row)
        for (const float probability : probabilities)
            logits.push_back(std::log(probability));
    const DeviceVector<float> in(logits);
    const DeviceVector<std::int32_t> sampled(kRows);
    const DeviceVector<std::int32_t> argmax(kRows);

    palimpsest::kernels::GumbelSampleArgs args;
    args.rows = kRows;
    args.vocabSize = 4;
    args.logits = in.data();
    args.seed = 42;
    args.sampled = sampled.data();
    args.argmax = argmax.data();
    check(palimpsest::kernels::gumbelSample(args, nullptr));

    std::vector<float> share(4);
    for (const std::int32_t id : sampled.host())
        share[static_cast<std::size_t>(id)] += 1.0F / kRows;
    std::printf("gumbel_sample: %.3f %.3f %.3f %.3f, expected 0.1 0.2 0.3 0.4; the likeliest is id %d\n", share[0],
                share[1], share[2], share[3], argmax.host().front());
    for (std::size_t id = 0; id < 4; ++id)
        if (std::abs(share[id] - probabilities[id]) > 0.03F)
            return 1;
    return argmax.host().front() == 3 ? 0 : 1;
}
