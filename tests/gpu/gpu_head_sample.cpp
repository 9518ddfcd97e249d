// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_check.h"
#include "kernels/head_sample.h"
#include "kernels/self_condition.h"
#include "philox_reference.h"

#include <numeric>
#include <span>

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::Bf16;
using kernels::DeviceLogitBias;
using kernels::LogitType;
using kernels::RowSample;
using kernels::SampleSettings;

namespace {

float gumbel(std::uint32_t word)
{
    return -std::log(-std::log(uniformFromWord(word)));
}

struct Case
{
    std::size_t rows; ///< of a canvas
    std::size_t vocabulary;
    float spread; ///< standard deviation of the raw logits
    float peak;   ///< added to one id of every row
    float softcap;
    float temperature;
    std::vector<DeviceLogitBias> bias;
    std::size_t canvases = 1;
};

/// The settings of a case's canvas, whose temperature and bias are its own.
struct Processing
{
    float softcap;
    const SampleSettings &settings;
    const std::vector<DeviceLogitBias> &bias;
};

/// The processed logits of a row, in double (with the capped value rounded to float once) and as the CPU has them.
std::vector<double> processed(const Processing &processing, std::span<const float> logits)
{
    const auto cap = static_cast<double>(processing.softcap);
    std::vector<double> x(logits.size());
    for (std::size_t id = 0; id < x.size(); ++id)
        x[id] = cap > 0.0 ? cap * std::tanh(static_cast<double>(logits[id]) / cap) : static_cast<double>(logits[id]);
    for (const DeviceLogitBias &bias : processing.bias)
        x[static_cast<std::size_t>(bias.id)] += static_cast<double>(bias.bias);
    for (double &value : x)
        value /= static_cast<double>(processing.settings.temperature);
    return x;
}

// Ids whose values lie closer than the errors of both can change places: such rows are counted, not compared. Equal
// logits cannot. The soft-cap's is 9e-6 / temperature; without it a sum with a bias and a quotient are rounded, each
// to half a last place of at most 32, and what noise is added to once more, to half a last place of at most 128.
void compareRow(const Processing &processing, const std::vector<double> &x, std::uint32_t row, const RowSample &found,
                const std::string &what, int &close)
{
    const SampleSettings &settings = processing.settings;
    const double slack = processing.softcap > 0.0F ? 2e-5 / static_cast<double>(settings.temperature) : 5e-6;
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), 0U);
    const std::size_t listed = std::min<std::size_t>(8, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(listed), order.end(),
                      [&](std::size_t a, std::size_t b) { return x[a] > x[b] || (x[a] == x[b] && a < b); });
    const double maximum = x[order[0]];
    double sum = 0.0;
    double weighted = 0.0;
    for (const double value : x) {
        const double weight = std::exp(value - maximum);
        sum += weight;
        weighted += weight > 0.0 ? weight * (value - maximum) : 0.0;
    }
    const double entropy = std::log(sum) - weighted / sum;
    if (!(std::abs(static_cast<double>(found.entropyNats) - entropy) <= 1e-5 + 1e-5 * entropy))
        fail(what + ": entropy " + std::to_string(found.entropyNats) + ", wanted " + std::to_string(entropy));
    for (std::size_t place = 0; place < 5; ++place) {
        const double wanted = std::exp(x[order[place]] - maximum) / sum;
        const bool banned = std::isinf(x[order[place]]);
        if (!(std::abs(static_cast<double>(found.alternativeProbabilities[place]) - wanted) <= 1e-4 * wanted + 1e-30))
            fail(what + ": probability " + std::to_string(place));
        const auto differ = [&](std::size_t first) {
            const double distance = x[order[first]] - x[order[first + 1]];
            return distance > slack || distance == 0.0;
        };
        const bool clear = banned || (differ(place) && (place == 0 || differ(place - 1)));
        const std::int32_t id = banned ? 0 : static_cast<std::int32_t>(order[place]);
        if (clear)
            require(found.alternativeIds[place] == id, what + ": alternative " + std::to_string(place));
        else
            ++close;
    }
    require(found.argmax == found.alternativeIds[0], what + ": argmax");

    double best = -std::numeric_limits<double>::infinity();
    double second = best;
    std::int32_t bestId = 0;
    for (std::size_t index = 0; index < x.size() / 4; ++index) {
        const auto words = philox({static_cast<std::uint32_t>(index), row, settings.step, settings.stream},
                                  settings.seedLow, settings.seedHigh);
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const double value = x[index * 4 + lane] + static_cast<double>(gumbel(words[lane]));
            if (value > best) {
                second = best;
                best = value;
                bestId = static_cast<std::int32_t>(index * 4 + lane);
            } else {
                second = std::max(second, value);
            }
        }
    }
    if (best - second > slack + 1e-5)
        require(found.sampled == bestId,
                what + ": sampled " + std::to_string(found.sampled) + ", wanted " + std::to_string(bestId));
    else
        ++close;
}

enum class Way {
    Gathered,
    Dense,
    Either, ///< too near a bound for float and double to agree
};

/// Which way a row of processed logits takes to its soft embedding (self_condition.h).
Way wayOf(const std::vector<double> &x)
{
    const double maximum = *std::max_element(x.begin(), x.end());
    double sum = 0.0;
    for (const double value : x)
        sum += std::exp(value - maximum);
    // Ids may count as carriers or not within a thousandth of the bound, and as much is left of the bound on the rest.
    const auto isDense = [&](double slack) {
        std::size_t carriers = 0;
        double dropped = 0.0;
        for (const double value : x) {
            const double share = std::exp(value - maximum) / sum;
            carriers += share >= 0x1p-26 * (1.0 - slack) ? 1U : 0U;
            dropped += share < 0x1p-26 * (1.0 + slack) ? share : 0.0;
        }
        return carriers > 192 || dropped > 0x1p-20 * (1.0 - slack);
    };
    constexpr double kSlack = 1e-3;
    if (isDense(kSlack) != isDense(-kSlack))
        return Way::Either;
    return isDense(kSlack) ? Way::Dense : Way::Gathered;
}

/// softmax(x) times the table.
std::vector<double> softEmbedding(const std::vector<double> &x, const std::vector<Bf16> &table, std::size_t hidden)
{
    const double maximum = *std::max_element(x.begin(), x.end());
    double sum = 0.0;
    std::vector<double> embedding(hidden);
    for (std::size_t id = 0; id < x.size(); ++id) {
        const double weight = std::exp(x[id] - maximum);
        sum += weight;
        if (weight > 1e-13)
            for (std::size_t c = 0; c < hidden; ++c)
                embedding[c] += weight * static_cast<double>(fromBf16(table[id * hidden + c]));
    }
    for (double &value : embedding)
        value /= sum;
    return embedding;
}

// The soft embedding against the softmax in double. A case with dense rows has one at least: where ids are given a
// bias, a row may be so sure of one of them that it is gathered.
void compareEmbedding(const Case &test, const std::vector<std::vector<double>> &rows,
                      const kernels::CanvasLogits &canvas, bool dense, const std::string &what)
{
    constexpr std::size_t kHidden = 136;
    const auto table = roundedToBf16(randomFloats(test.vocabulary * kHidden, testRandom()));
    const DeviceArray<Bf16> deviceTable(table);
    const DeviceArray<float> out(rows.size() * kHidden);
    const DeviceArray<unsigned char> workspace(static_cast<std::size_t>(kernels::selfConditionWorkspace(
        static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(test.vocabulary), kHidden)));
    const DeviceArray<std::int32_t> counts(test.canvases);
    ok(kernels::selfCondition({.canvas = canvas,
                               .hidden = kHidden,
                               .table = deviceTable.data(),
                               .out = out.data(),
                               .workspace = workspace.data(),
                               .denseRows = counts.data()},
                              nullptr),
       what);
    (void)workspace.host(what + ", workspace");
    const auto denseRows = counts.host(what);
    const auto found = out.host(what);
    std::vector<std::int32_t> fewest(test.canvases);
    std::vector<std::int32_t> most(test.canvases);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const Way way = wayOf(rows[row]);
        fewest[row / test.rows] += way == Way::Dense ? 1 : 0;
        most[row / test.rows] += way == Way::Gathered ? 0 : 1;
        const auto first = found.begin() + static_cast<std::ptrdiff_t>(row * kHidden);
        // Dense: weights in bf16. Gathered: the soft-cap's error in the logits.
        requireClose(std::vector<float>(first, first + kHidden), softEmbedding(rows[row], table, kHidden),
                     way == Way::Gathered ? 1e-4 : 0x1p-8, what + ", row " + std::to_string(row));
    }
    for (std::size_t number = 0; number < test.canvases; ++number)
        require(fewest[number] <= denseRows[number] && denseRows[number] <= most[number] &&
                    (denseRows[number] > 0) == dense,
                what + ": " + std::to_string(denseRows[number]) + " dense rows, wanted " +
                    std::to_string(fewest[number]) + " to " + std::to_string(most[number]));
}

/// Raw logits in device memory as a type has them.
class DeviceLogits
{
public:
    /// Rounds `logits` to the type.
    DeviceLogits(std::vector<float> &logits, LogitType type)
        : m_type(type), m_fp32(type == LogitType::Fp32 ? logits : std::vector<float>{}), m_fp16(halves(logits, type))
    {
    }
    [[nodiscard]] const void *row(std::size_t index, std::size_t vocabulary) const
    {
        if (m_type == LogitType::Fp32)
            return m_fp32.data() + index * vocabulary;
        return m_fp16.data() + index * vocabulary;
    }

private:
    static std::vector<std::uint16_t> halves(std::vector<float> &logits, LogitType type)
    {
        std::vector<std::uint16_t> rounded;
        if (type == LogitType::Fp32)
            return rounded;
        for (float &logit : logits) {
            rounded.push_back(toFp16(logit));
            logit = fromFp16(rounded.back());
        }
        return rounded;
    }

    LogitType m_type;
    DeviceArray<float> m_fp32;
    DeviceArray<std::uint16_t> m_fp16;
};

std::vector<SampleSettings> settingsOf(const Case &test, const DeviceArray<DeviceLogitBias> &bias)
{
    std::vector<SampleSettings> settings;
    for (std::size_t canvas = 0; canvas < test.canvases; ++canvas)
        settings.push_back({.temperature = test.temperature * (1.0F + 0.2F * static_cast<float>(canvas)),
                            .seedLow = static_cast<std::uint32_t>(testRandom()()),
                            .seedHigh = static_cast<std::uint32_t>(testRandom()()),
                            .step = 17,
                            .stream = (static_cast<std::uint32_t>(canvas + 3) << 8U) | 2U,
                            .biasCount = canvas % 2 == 0 ? static_cast<std::int32_t>(test.bias.size()) : 0,
                            .bias = bias.data()});
    return settings;
}

void run(const Case &test, bool dense, LogitType type)
{
    const std::string what = "sample " + std::to_string(test.canvases) + " x " + std::to_string(test.rows) + " x " +
                             std::to_string(test.vocabulary) + " spread " + std::to_string(test.spread) + " peak " +
                             std::to_string(test.peak) + (type == LogitType::Fp16 ? " in 16 bits" : "");
    const std::size_t allRows = test.rows * test.canvases;
    auto logits = randomFloats(allRows * test.vocabulary, testRandom(), test.spread);
    for (std::size_t row = 0; row < allRows; ++row)
        logits[row * test.vocabulary + testRandom()() % test.vocabulary] += test.peak;
    const DeviceArray<DeviceLogitBias> bias(test.bias);
    const std::vector<SampleSettings> settings = settingsOf(test, bias);
    const DeviceArray<SampleSettings> deviceSettings(settings);
    const DeviceLogits deviceLogits(logits, type);
    const auto bytes =
        kernels::headSampleWorkspace(static_cast<std::int64_t>(allRows), static_cast<std::int64_t>(test.vocabulary));
    const DeviceArray<unsigned char> workspace(static_cast<std::size_t>(bytes));
    const DeviceArray<RowSample> results(allRows);
    const auto canvasesFrom = [&](std::size_t first, std::size_t count) {
        return kernels::CanvasLogits{.rows = static_cast<std::int64_t>(test.rows),
                                     .canvases = static_cast<std::int64_t>(count),
                                     .vocabSize = static_cast<std::int64_t>(test.vocabulary),
                                     .logits = deviceLogits.row(first * test.rows, test.vocabulary),
                                     .type = type,
                                     .softcap = test.softcap,
                                     .settings = deviceSettings.data() + first,
                                     .workspace = workspace.data()};
    };
    const kernels::CanvasLogits all = canvasesFrom(0, test.canvases);
    ok(kernels::headSample(all, results.data(), nullptr), what);
    const auto found = results.host(what);
    (void)workspace.host(what + ", workspace");
    int close = 0;
    std::vector<std::vector<double>> rows;
    const std::vector<DeviceLogitBias> none;
    for (std::size_t row = 0; row < allRows; ++row) {
        const SampleSettings &own = settings[row / test.rows];
        const Processing processing{test.softcap, own, own.biasCount > 0 ? test.bias : none};
        rows.push_back(processed(processing, std::span(logits).subspan(row * test.vocabulary, test.vocabulary)));
        compareRow(processing, rows.back(), static_cast<std::uint32_t>(row % test.rows), found[row],
                   what + ", row " + std::to_string(row), close);
    }
    require(close <= static_cast<int>(allRows * 6 / 4 + 3), what + ": too many close calls: " + std::to_string(close));
    compareEmbedding(test, rows, all, dense, what + ", embedding");
    for (std::size_t canvas = 0; test.canvases > 1 && canvas < test.canvases; ++canvas) {
        const DeviceArray<RowSample> alone(test.rows);
        ok(kernels::headSample(canvasesFrom(canvas, 1), alone.data(), nullptr), what);
        const auto first = found.begin() + static_cast<std::ptrdiff_t>(canvas * test.rows);
        requireSameBits(alone.host(what), {first, first + static_cast<std::ptrdiff_t>(test.rows)},
                        what + ", canvas " + std::to_string(canvas) + " alone");
    }
}

/// Bans all ids from `first` up to `end`.
std::vector<DeviceLogitBias> banned(std::int32_t first, std::int32_t end)
{
    std::vector<DeviceLogitBias> bias;
    for (std::int32_t id = first; id < end; ++id)
        bias.push_back({id, -std::numeric_limits<float>::infinity()});
    return bias;
}

} // namespace

int main()
{
    requireDevice();
    constexpr float kBanned = -std::numeric_limits<float>::infinity();
    // Flat rows of many ids take the dense product; small vocabularies and peaks are gathered.
    const std::vector<Case> gathered = {
        {5, 512, 12.0F, 0.0F, 30.0F, 0.8F, {}},
        {3, 768, 2.0F, 40.0F, 0.0F, 0.5F, {}},
        {7, 768, 3.0F, 40.0F, 30.0F, 0.4F, {}, 5},
        {17, 8192, 3.0F, 60.0F, 30.0F, 0.4F, {}},
        {2, 8, 1.0F, 0.0F, 30.0F, 1.0F, {{0, kBanned}, {1, kBanned}, {2, kBanned}, {3, kBanned}, {6, kBanned}}},
        {3, 262144, 3.0F, 60.0F, 30.0F, 0.4F, {}},
    };
    const std::vector<Case> dense = {
        {16, 8192, 2.0F, 0.0F, 30.0F, 0.4F, {}},
        {9, 8192, 3.0F, 0.0F, 0.0F, 0.7F, {{0, kBanned}, {5, 2.0F}, {300, kBanned}, {8191, 1.5F}}},
        {9, 8184, 2.0F, 0.0F, 30.0F, 0.5F, {{0, kBanned}, {5, 2.0F}, {300, kBanned}, {8183, 1.5F}}, 3},
        {1, 1032, 1.0F, 3.0F, 30.0F, 0.4F, {}},
        {4, 8456, 2.0F, 0.0F, 30.0F, 0.5F, {}},
        {3, 262144, 3.0F, 0.0F, 30.0F, 0.4F, {}},
        // Blocks of 256 ids without any that may be taken, whole tiles of them too.
        {3, 8192, 2.0F, 0.0F, 30.0F, 0.5F, banned(256, 2570), 2},
        // Nearly every group of ids may win.
        {3, 262144, 1.0F, 0.0F, 30.0F, 0.6F, {}},
        {5, 20000, 1.0F, 0.0F, 30.0F, 0.6F, {{3, kBanned}, {19999, 4.0F}}, 2},
        // As in the first steps of a canvas: nearly every block holds an id that may win.
        {4, 262144, 3.7F, 0.0F, 30.0F, 0.6F, {}},
        {3, 262144, 3.7F, 0.0F, 30.0F, 0.6F, {{7, 12.0F}, {70000, kBanned}, {70001, 15.0F}, {262143, 14.0F}}},
    };
    for (const LogitType type : {LogitType::Fp32, LogitType::Fp16}) {
        for (const Case &test : gathered)
            run(test, false, type);
        for (const Case &test : dense)
            run(test, true, type);
    }
    return finish("head_sample");
}
