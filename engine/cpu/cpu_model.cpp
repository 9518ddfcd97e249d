// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/cpu_model.h"

#include "engine/error.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>
#include <thread>

namespace palimpsest::cpu {

namespace {

/// Prompt tokens in one encoder pass: enough for full tiles, few enough that a cancel is noticed soon.
constexpr std::int64_t kEncodeChunk = 256;

// One past the last valid position of the block that starts at `first`, in a sequence that ends at `end`.
std::int64_t blockEnd(std::int64_t first, std::int64_t end)
{
    return std::min(first + kBlockPositions, end);
}

/// Canvas rows that go through the layers together. A processor is busy with one canvas of 256; several would share the
/// widening of the weights, 8 % of a step, and cost 20 KiB of activations a row at the demo model's sizes.
constexpr std::int64_t kRowsAtOnce = 256;

/// A prompt's new tokens: keys go into the sequence's cache, each row sees itself and what is before it.
class PromptKeys final : public KeyStore
{
public:
    PromptKeys(CpuSequence &sequence, const ModelConfig &config, std::int64_t rows)
        : m_sequence(sequence), m_config(config), m_rows(rows), m_start(sequence.length())
    {
    }

    void write(std::int64_t layer, std::int64_t row, const float *keys, const float *values) override
    {
        m_sequence.write(layer, m_start + row, keys, values);
    }

    [[nodiscard]] std::vector<QueryGroup> groups(std::int64_t layer) const override
    {
        const bool sliding = m_config.layers[static_cast<std::size_t>(layer)].kind == LayerKind::Sliding;
        QueryGroup group{.firstRow = 0, .rows = m_rows, .blocks = {}, .visible = {}};
        group.visible = [start = m_start, window = m_config.slidingWindow, sliding](std::int64_t row) {
            const std::int64_t position = start + row;
            return VisibleRange{sliding ? std::max<std::int64_t>(0, position - window + 1) : 0, position + 1};
        };
        const std::int64_t end = m_start + m_rows;
        for (std::int64_t first = group.visible(0).begin / kBlockPositions * kBlockPositions; first < end;
             first += kBlockPositions)
            group.blocks.push_back({&m_sequence.block(layer, first / kBlockPositions), first, blockEnd(first, end)});
        return {group};
    }

private:
    CpuSequence &m_sequence;
    const ModelConfig &m_config;
    std::int64_t m_rows;
    std::int64_t m_start;
};

/// The canvases of a denoising step: keys go into scratch blocks, each row sees what its prefix keeps and its whole
/// canvas.
class CanvasKeys final : public KeyStore
{
public:
    struct Canvas
    {
        const CpuSequence *prefix;
        std::int64_t firstRow;
        std::int64_t rows;
        std::int64_t firstBlock;
    };
    using Blocks = std::vector<std::vector<std::unique_ptr<KvBlock>>>;

    CanvasKeys(const ModelConfig &config, std::vector<Canvas> canvases, std::vector<std::size_t> canvasOfRow,
               const std::vector<std::size_t> &shapeOfLayer, Blocks &blocks)
        : m_config(config),
          m_canvases(std::move(canvases)),
          m_canvasOfRow(std::move(canvasOfRow)),
          m_shapeOfLayer(shapeOfLayer),
          m_blocks(blocks)
    {
    }

    void write(std::int64_t layer, std::int64_t row, const float *keys, const float *values) override
    {
        const Canvas &canvas = m_canvases[m_canvasOfRow[static_cast<std::size_t>(row)]];
        const std::int64_t offset = row - canvas.firstRow;
        const std::int64_t index = canvas.firstBlock + offset / kBlockPositions;
        blocksOf(layer)[static_cast<std::size_t>(index)]->write(canvas.prefix->layout(layer), offset % kBlockPositions,
                                                                keys, values);
    }

    [[nodiscard]] std::vector<QueryGroup> groups(std::int64_t layer) const override
    {
        std::vector<QueryGroup> groups;
        for (const Canvas &canvas : m_canvases)
            groups.push_back(groupOf(layer, canvas));
        return groups;
    }

private:
    [[nodiscard]] std::vector<std::unique_ptr<KvBlock>> &blocksOf(std::int64_t layer) const
    {
        // One layer is at work at a time, so layers of one shape share their scratch blocks.
        return m_blocks[m_shapeOfLayer[static_cast<std::size_t>(layer)]];
    }

    [[nodiscard]] QueryGroup groupOf(std::int64_t layer, const Canvas &canvas) const
    {
        const bool sliding = m_config.layers[static_cast<std::size_t>(layer)].kind == LayerKind::Sliding;
        const std::int64_t length = canvas.prefix->length();
        // A sliding layer's cache keeps the last window - 1 positions; all of them are visible to the whole canvas.
        const std::int64_t begin = sliding ? std::max<std::int64_t>(0, length - (m_config.slidingWindow - 1)) : 0;
        const VisibleRange range{begin, length + canvas.rows};
        QueryGroup group{.firstRow = canvas.firstRow, .rows = canvas.rows, .blocks = {}, .visible = {}};
        group.visible = [range](std::int64_t) {
            return range;
        };
        for (std::int64_t first = begin / kBlockPositions * kBlockPositions; first < length; first += kBlockPositions)
            group.blocks.push_back(
                {&canvas.prefix->block(layer, first / kBlockPositions), first, blockEnd(first, length)});
        for (std::int64_t offset = 0; offset < canvas.rows; offset += kBlockPositions)
            group.blocks.push_back(
                {blocksOf(layer)[static_cast<std::size_t>(canvas.firstBlock + offset / kBlockPositions)].get(),
                 length + offset, blockEnd(length + offset, length + canvas.rows)});
        return group;
    }

    const ModelConfig &m_config;
    std::vector<Canvas> m_canvases;
    std::vector<std::size_t> m_canvasOfRow;
    const std::vector<std::size_t> &m_shapeOfLayer;
    Blocks &m_blocks;
};

int usableThreads(int wanted)
{
    if (wanted > 0)
        return wanted;
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

float embeddingScale(const ModelConfig &config)
{
    return static_cast<float>(std::sqrt(static_cast<double>(config.hiddenSize)));
}

} // namespace

CpuModel::CpuModel(std::shared_ptr<const Checkpoint> checkpoint, CpuBackendSettings settings,
                   const LoadProgress &progress)
    : m_config(checkpoint->config()),
      m_compute(m_config, usableThreads(settings.threads)),
      m_weights(ModelWeights::load(std::move(checkpoint), m_compute.pool(), progress)),
      m_layers(m_config, m_weights, m_compute),
      m_head(m_config, m_weights, m_compute)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> shapes;
    for (const LayerConfig &layer : m_config.layers) {
        const std::pair shape{layer.kvHeads, layer.headDim};
        const auto same = std::ranges::find(shapes, shape);
        m_shapeOfLayer.push_back(static_cast<std::size_t>(same - shapes.begin()));
        if (same == shapes.end())
            shapes.push_back(shape);
    }
    m_canvasBlocks.resize(shapes.size());
    const int threads = m_compute.pool().threadCount();
    m_info.kind = "cpu";
    m_info.deviceName =
        "CPU, " + std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") + m_compute.kernels().name;
    m_info.weightBytes = m_weights.bytes;
}

std::unique_ptr<Sequence> CpuModel::newSequence()
{
    return std::make_unique<CpuSequence>(m_config);
}

std::unique_ptr<Sequence> CpuModel::fork(const Sequence &source, std::int64_t length)
{
    return static_cast<const CpuSequence &>(source).fork(length);
}

std::unique_ptr<SelfConditioning> CpuModel::newSelfConditioning()
{
    return std::make_unique<CpuSelfConditioning>();
}

void CpuModel::checkIds(std::span<const TokenId> ids) const
{
    for (const TokenId id : ids)
        if (id < 0 || id >= m_config.vocabSize)
            throw Error(ErrorKind::InvalidArgument,
                        "token id " + std::to_string(id) + " is outside the vocabulary of " +
                            std::to_string(m_config.vocabSize),
                        "ids");
}

void CpuModel::normaliseFinal(Matrix &x)
{
    m_compute.forRows(x.rows(), [&](std::int64_t row) {
        m_compute.kernels().rmsNorm(x.row(row), x.row(row), m_weights.finalNorm.data(), x.columns(),
                                    static_cast<float>(m_config.rmsNormEpsilon));
    });
    if (m_trace != nullptr)
        m_trace->lastHidden.assign(x.row(0), x.row(0) + x.rows() * x.columns());
}

bool CpuModel::encode(Sequence &sequence, std::span<const TokenId> ids, std::stop_token stop)
try {
    auto &cache = static_cast<CpuSequence &>(sequence);
    checkIds(ids);
    if (cache.length() + static_cast<std::int64_t>(ids.size()) > m_config.maxPositions)
        throw Error(ErrorKind::ContextLength, std::to_string(cache.length() + static_cast<std::int64_t>(ids.size())) +
                                                  " tokens do not fit the model's context of " +
                                                  std::to_string(m_config.maxPositions));
    while (!ids.empty()) {
        if (stop.stop_requested())
            return false;
        const auto chunk = ids.first(std::min(ids.size(), static_cast<std::size_t>(kEncodeChunk)));
        encodeChunk(cache, chunk);
        ids = ids.subspan(chunk.size());
    }
    return true;
} catch (const std::bad_alloc &) {
    throw Error(ErrorKind::OutOfMemory, "there is not enough memory for the prompt");
}

void CpuModel::encodeChunk(CpuSequence &sequence, std::span<const TokenId> ids)
{
    const auto rows = static_cast<std::int64_t>(ids.size());
    sequence.reserve(rows);
    m_x.resize(rows, m_config.hiddenSize);
    std::vector<std::int64_t> positions;
    for (std::int64_t row = 0; row < rows; ++row) {
        m_weights.embed(ids[static_cast<std::size_t>(row)], embeddingScale(m_config), m_x.row(row));
        positions.push_back(sequence.length() + row);
    }
    PromptKeys store(sequence, m_config, rows);
    m_layers.run(Role::Encoder, m_x, positions, store, m_trace);
    if (m_trace != nullptr)
        normaliseFinal(m_x);
    sequence.advance(rows);
}

void CpuModel::denoise(std::span<const DenoiseJob> jobs)
try {
    for (const DenoiseJob &job : jobs)
        checkIds(job.canvas);
    while (!jobs.empty()) {
        std::size_t count = 0;
        std::int64_t rows = 0;
        while (count < jobs.size() &&
               (count == 0 || rows + static_cast<std::int64_t>(jobs[count].canvas.size()) <= kRowsAtOnce))
            rows += static_cast<std::int64_t>(jobs[count++].canvas.size());
        denoiseTogether(jobs.first(count));
        jobs = jobs.subspan(count);
    }
} catch (const std::bad_alloc &) {
    throw Error(ErrorKind::OutOfMemory, "there is not enough memory for a denoising step");
}

void CpuModel::denoiseTogether(std::span<const DenoiseJob> jobs)
{
    std::vector<CanvasKeys::Canvas> canvases;
    std::vector<std::int64_t> positions;
    std::vector<std::size_t> canvasOfRow;
    std::int64_t blocks = 0;
    for (const DenoiseJob &job : jobs) {
        const auto *prefix = static_cast<const CpuSequence *>(job.prefix);
        const auto rows = static_cast<std::int64_t>(job.canvas.size());
        canvases.push_back({prefix, static_cast<std::int64_t>(positions.size()), rows, blocks});
        blocks += (rows + kBlockPositions - 1) / kBlockPositions;
        for (std::int64_t row = 0; row < rows; ++row) {
            positions.push_back(prefix->length() + row);
            canvasOfRow.push_back(canvases.size() - 1);
        }
    }
    for (std::size_t layer = 0; layer < m_config.layers.size(); ++layer) {
        auto &ofShape = m_canvasBlocks[m_shapeOfLayer[layer]];
        while (static_cast<std::int64_t>(ofShape.size()) < blocks)
            ofShape.push_back(std::make_unique<KvBlock>(KvLayout(m_config.layers[layer])));
    }

    m_x.resize(static_cast<std::int64_t>(positions.size()), m_config.hiddenSize);
    addSelfConditioning(jobs);
    CanvasKeys store(m_config, canvases, std::move(canvasOfRow), m_shapeOfLayer, m_canvasBlocks);
    m_layers.run(Role::Decoder, m_x, positions, store, m_trace);
    normaliseFinal(m_x);
    for (std::size_t i = 0; i < jobs.size(); ++i)
        m_head.run(m_x, canvases[i].firstRow, jobs[i], m_trace);
}

// The decoder's input: embedding + gated MLP of the normed soft embedding, then a norm without weights. A canvas
// without a signal yet has zeros there, for which the block gives zeros.
void CpuModel::addSelfConditioning(std::span<const DenoiseJob> jobs)
{
    const RowKernels &kernels = m_compute.kernels();
    const auto epsilon = static_cast<float>(m_config.rmsNormEpsilon);
    const float scale = embeddingScale(m_config);
    const std::int64_t hidden = m_config.hiddenSize;
    m_soft.resize(m_x.rows(), hidden);
    std::int64_t row = 0;
    for (const DenoiseJob &job : jobs) {
        const auto *conditioning = static_cast<const CpuSelfConditioning *>(job.conditioning);
        const bool active = conditioning != nullptr && conditioning->active();
        for (std::size_t i = 0; i < job.canvas.size(); ++i, ++row) {
            m_weights.embed(job.canvas[i], scale, m_x.row(row));
            float *soft = m_soft.row(row);
            if (active)
                std::transform(conditioning->embedding().row(static_cast<std::int64_t>(i)),
                               conditioning->embedding().row(static_cast<std::int64_t>(i)) + hidden, soft,
                               [scale](float value) { return value * scale; });
            else
                std::fill_n(soft, hidden, 0.0F);
        }
    }
    m_compute.forRows(m_x.rows(), [&](std::int64_t r) {
        kernels.rmsNorm(m_soft.row(r), m_soft.row(r), m_weights.selfConditioningNorm.data(), hidden, epsilon);
    });
    Section inner(m_compute);
    inner.addGatedProduct(m_soft, m_weights.selfConditioning.gate, m_weights.selfConditioning.up, m_softInner);
    inner.run();
    Section outer(m_compute);
    outer.addProduct(m_softInner, m_weights.selfConditioning.down, m_softOutput);
    outer.run();
    m_compute.forRows(m_x.rows(), [&](std::int64_t r) {
        kernels.add(m_x.row(r), m_softOutput.row(r), hidden);
        kernels.rmsNorm(m_x.row(r), m_x.row(r), nullptr, hidden, epsilon);
    });
}

std::unique_ptr<Backend> makeCpuBackend(std::shared_ptr<const Checkpoint> checkpoint, CpuBackendSettings settings,
                                        const LoadProgress &progress)
{
    return std::make_unique<CpuModel>(std::move(checkpoint), settings, progress);
}

} // namespace palimpsest::cpu
