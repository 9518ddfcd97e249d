// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/self_condition.h"

#include "device_vector.h"

#include <cmath>

using namespace palimpsest::kernels;

// Entropy, sample and alternatives of a canvas, then its soft embedding: the mean of the embeddings, weighted by
// probability. Each row here has one likely id, so its soft embedding is that id's.
int main()
{
    constexpr std::int64_t kRows = 32;
    constexpr std::int64_t kVocabulary = 4096;
    constexpr std::int64_t kHidden = 128;
    std::vector<float> logitValues(kRows * kVocabulary, -20.0F);
    for (std::size_t row = 0; row < kRows; ++row)
        logitValues[row * kVocabulary + row * 100] = 20.0F;
    std::vector<Bf16> embeddings(kVocabulary * kHidden);
    for (std::size_t id = 0; id < kVocabulary; ++id)
        for (std::size_t column = 0; column < kHidden; ++column)
            embeddings[id * kHidden + column] = (id / 100 + column) % 2 == 0 ? 0x3F80 : 0xC000; // 1 and -2
    const DeviceVector<float> logits(logitValues);
    const DeviceVector<Bf16> table(embeddings);
    SampleSettings values;
    values.temperature = 0.8F;
    values.seedLow = 7;
    const DeviceVector<SampleSettings> settings(std::vector<SampleSettings>{values});
    const DeviceVector<std::uint8_t> sampleWorkspace(headSampleWorkspace(kRows, kVocabulary));
    const DeviceVector<std::uint8_t> conditionWorkspace(selfConditionWorkspace(kRows, kVocabulary, kHidden));
    const DeviceVector<RowSample> samples(kRows);
    const DeviceVector<float> soft(kRows * kHidden);

    CanvasLogits canvas;
    canvas.rows = kRows;
    canvas.vocabSize = kVocabulary;
    canvas.logits = logits.data();
    canvas.softcap = 0.0F; // the logits are taken as they are
    canvas.settings = settings.data();
    canvas.workspace = sampleWorkspace.data();
    check(headSample(canvas, samples.data(), nullptr));
    SelfConditionArgs args;
    args.canvas = canvas;
    args.hidden = kHidden;
    args.table = table.data();
    args.out = soft.data();
    args.workspace = conditionWorkspace.data();
    check(selfCondition(args, nullptr));

    const std::vector<RowSample> found = samples.host();
    const std::vector<float> embedding = soft.host();
    std::printf("self_condition: row 3 is id %d with entropy %.5f, its embedding begins %.3f %.3f, expected -2 1\n",
                found[3].argmax, found[3].entropyNats, embedding[3 * kHidden], embedding[3 * kHidden + 1]);
    return found[3].argmax == 300 && std::abs(embedding[3 * kHidden] + 2.0F) < 1e-3F ? 0 : 1;
}
