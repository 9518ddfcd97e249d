// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/entropy.h"

#include "device_vector.h"

#include <cmath>

// A row of equal logits has the entropy log(vocabulary); one with a single id far above the others has none.
int main()
{
    constexpr std::int64_t kVocabulary = 32768;
    std::vector<float> logits(2 * kVocabulary, 1.5F);
    logits[kVocabulary + 7] = 100.0F;
    const DeviceVector<float> in(logits);
    const DeviceVector<float> out(2);

    palimpsest::kernels::EntropyArgs args;
    args.rows = 2;
    args.vocabSize = kVocabulary;
    args.logits = in.data();
    args.temperature = 0.7F;
    args.entropyNats = out.data();
    check(palimpsest::kernels::entropy(args, nullptr));

    const std::vector<float> nats = out.host();
    std::printf("entropy: %.5f and %.5f nats, expected %.5f and 0\n", nats[0], nats[1], std::log(32768.0));
    return std::abs(nats[0] - std::log(32768.0F)) < 1e-4F && std::abs(nats[1]) < 1e-4F ? 0 : 1;
}
