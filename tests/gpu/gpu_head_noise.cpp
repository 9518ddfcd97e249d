// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_check.h"
#include "kernels/head_sample.h"
#include "philox_reference.h"

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::DeviceLogitBias;
using kernels::RowSample;
using kernels::SampleSettings;

/// Rows in which an id with the largest noise there is just wins or just loses: where headSample() begins to leave ids
/// out.
namespace {

constexpr std::uint32_t kVocabulary = 262144;
constexpr std::uint32_t kRows = 4;
constexpr float kFarBelow = -60.0F;

/// -log(-log(u)) as the kernels have it: logarithms in double, each rounded once.
float gumbel(std::uint32_t word)
{
    const auto inner = static_cast<float>(-std::log(static_cast<double>(uniformFromWord(word))));
    return static_cast<float>(-std::log(static_cast<double>(inner)));
}

/// An id whose noise is the largest.
struct Extreme
{
    std::uint32_t seed = 0;
    std::uint32_t row = 0;
    std::uint32_t id = 0;
};

constexpr std::uint32_t kStep = 5;
constexpr std::uint32_t kStream = (1U << 8U) | 2U;

std::uint32_t wordOf(std::uint32_t seed, std::uint32_t row, std::uint32_t id)
{
    return philox({id / 4, row, kStep, kStream}, seed, 77)[id % 4];
}

/// 384 words have it; the last 128 of them are looked for, one in 2^25.
Extreme findExtreme(std::uint32_t seed)
{
    for (;; ++seed)
        for (std::uint32_t row = 0; row < kRows; ++row)
            for (std::uint32_t index = 0; index < kVocabulary / 4; ++index) {
                const auto words = philox({index, row, kStep, kStream}, seed, 77);
                for (std::uint32_t lane = 0; lane < 4; ++lane)
                    if (words[lane] >= 0xFFFFFF80U)
                        return {seed, row, index * 4 + lane};
            }
}

struct Setting
{
    const char *name;
    float softcap;
    float temperature;
    bool biased;              ///< the id gets its value from a bias
    float offset = 0.0F;      ///< of all logits
    float others = kFarBelow; ///< what the rest of the row has besides
};

/// The id that headSample() draws in the row of `extreme`, where it has the raw logit `value` (or reaches it by a
/// bias), `rival` has the offset and the others lie below.
std::int32_t sampled(const Setting &setting, const Extreme &extreme, std::uint32_t rival, float value)
{
    std::vector<float> logits(std::size_t{kRows} * kVocabulary, setting.offset + setting.others);
    const std::size_t first = std::size_t{extreme.row} * kVocabulary;
    logits[first + rival] = setting.offset;
    const std::vector<DeviceLogitBias> biases{
        {.id = static_cast<std::int32_t>(extreme.id), .bias = setting.biased ? value - kFarBelow : 0.0F}};
    if (!setting.biased)
        logits[first + extreme.id] = value;
    const DeviceArray<DeviceLogitBias> bias(biases);
    const DeviceArray<SampleSettings> settings(std::vector<SampleSettings>{{.temperature = setting.temperature,
                                                                            .seedLow = extreme.seed,
                                                                            .seedHigh = 77,
                                                                            .step = kStep,
                                                                            .stream = kStream,
                                                                            .biasCount = setting.biased ? 1 : 0,
                                                                            .bias = bias.data()}});
    const DeviceArray<float> onDevice(logits);
    const DeviceArray<unsigned char> workspace(
        static_cast<std::size_t>(kernels::headSampleWorkspace(kRows, kVocabulary)));
    const DeviceArray<RowSample> results(kRows);
    ok(kernels::headSample({.rows = kRows,
                            .vocabSize = kVocabulary,
                            .logits = onDevice.data(),
                            .softcap = setting.softcap,
                            .settings = settings.data(),
                            .workspace = workspace.data()},
                           results.data(), nullptr),
       setting.name);
    return results.host(setting.name)[extreme.row].sampled;
}

/// Without a soft-cap everything but the noise is exact: the id's logit goes through the few floats around a tie.
void checkTies(const Setting &setting, const Extreme &extreme, std::uint32_t rival)
{
    const float noise = gumbel(wordOf(extreme.seed, extreme.row, extreme.id));
    const float best = setting.offset + gumbel(wordOf(extreme.seed, extreme.row, rival));
    float value = best - noise;
    for (int i = 0; i < 4; ++i)
        value = std::nextafter(value, -INFINITY);
    for (int i = -4; i <= 4; ++i, value = std::nextafter(value, INFINITY)) {
        const float reached = setting.biased ? kFarBelow + (value - kFarBelow) : value;
        const float perturbed = reached + noise;
        const bool wins = perturbed > best || (perturbed == best && extreme.id < rival);
        require(sampled(setting, extreme, rival, value) == static_cast<std::int32_t>(wins ? extreme.id : rival),
                std::string(setting.name) + ", " + std::to_string(i) + " from a tie, rival " + std::to_string(rival));
    }
}

// All others so near that their bounds let each of them win against a quiet rival: their groups are drawn as they lie.
constexpr float kNear = -18.5F;

/// The id with the least noise of a row, and the largest noise of those that are neither it nor `extreme`.
std::uint32_t quietest(const Extreme &extreme, float &loudestOther)
{
    std::vector<std::uint32_t> words(kVocabulary);
    for (std::uint32_t id = 0; id < kVocabulary; id += 4)
        std::ranges::copy(philox({id / 4, extreme.row, kStep, kStream}, extreme.seed, 77), words.begin() + id);
    const auto quiet = std::ranges::min_element(words);
    const auto rival = static_cast<std::uint32_t>(quiet - words.begin());
    *quiet = 0;
    words[extreme.id] = 0;
    loudestOther = gumbel(std::ranges::max(words));
    return rival;
}

/// Ties where nearly every id may win by its bound, and none but two by its noise.
void checkNearTies(Extreme extreme)
{
    for (;; extreme = findExtreme(extreme.seed + 1)) {
        float loudestOther = 0.0F;
        const std::uint32_t rival = quietest(extreme, loudestOther);
        const float best = gumbel(wordOf(extreme.seed, extreme.row, rival));
        if (best > kNear + 16.4F || loudestOther > best - kNear - 0.01F)
            continue; // about one row in thirty
        return checkTies({"uncapped, all near", 0.0F, 1.0F, false, 0.0F, kNear}, extreme, rival);
    }
}

/// With a soft-cap, its rounding decides at the tie; a little beside it the outcome is clear.
void checkBeside(const Setting &setting, const Extreme &extreme, std::uint32_t rival)
{
    const double noise = static_cast<double>(gumbel(wordOf(extreme.seed, extreme.row, extreme.id)));
    const double best = static_cast<double>(gumbel(wordOf(extreme.seed, extreme.row, rival)));
    for (const double beside : {-1e-4, 1e-4}) {
        const double capped = (best - noise + beside) * static_cast<double>(setting.temperature);
        const double cap = static_cast<double>(setting.softcap);
        const double raw = setting.biased ? capped - cap * std::tanh(static_cast<double>(kFarBelow) / cap) + kFarBelow
                                          : cap * std::atanh(capped / cap);
        require(sampled(setting, extreme, rival, static_cast<float>(raw)) ==
                    static_cast<std::int32_t>(beside > 0.0 ? extreme.id : rival),
                std::string(setting.name) + ", beside a tie by " + std::to_string(beside));
    }
}

} // namespace

int main()
{
    requireDevice();
    std::uint32_t seed = testSeed();
    for (int round = 0; round < 2; ++round) {
        const Extreme extreme = findExtreme(seed);
        seed = extreme.seed + 1;
        checkNearTies(extreme);
        // A rival in another part of the row, in the next block, and in the id's own block.
        for (const std::uint32_t distance : {131072U + 5U, 256U, kVocabulary - 300U, 1U}) {
            const std::uint32_t rival = (extreme.id + distance) % kVocabulary;
            checkTies({"uncapped", 0.0F, 1.0F, false}, extreme, rival);
            checkTies({"uncapped, biased", 0.0F, 1.0F, true}, extreme, rival);
            // Where a last place of the sums is more than the slack of the noise's own bounds.
            checkTies({"uncapped, large", 0.0F, 1.0F, false, 1e5F}, extreme, rival);
            checkBeside({"capped", 30.0F, 0.5F, false}, extreme, rival);
            checkBeside({"capped, biased", 30.0F, 0.5F, true}, extreme, rival);
        }
    }
    return finish("head_sample, the noise's threshold");
}
