// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/forward.h"

#include "kernels/attention_canvas.h"
#include "kernels/attention_causal.h"
#include "kernels/dense_gemm.h"
#include "kernels/embed.h"
#include "kernels/moe_combine.h"
#include "kernels/moe_route.h"
#include "kernels/moe_w4_gemm.h"
#include "kernels/qkv_norm_rope.h"

#include <algorithm>
#include <cmath>

namespace palimpsest::cuda {

float Forward::embeddingScale() const noexcept
{
    return static_cast<float>(std::sqrt(static_cast<double>(m_parts.config.hiddenSize)));
}

void Forward::launched(cudaError_t status, const char *what)
{
    m_device.check(status, what);
}

void Forward::mark(const char *stage)
{
    if (m_clock != nullptr)
        m_clock->mark(stage);
}

void Forward::encode(const StepShape &shape, bool wholeLayers)
{
    const Activations &a = m_parts.activations;
    mark("start");
    angles(shape);
    kernels::EmbedArgs args;
    args.rows = shape.rows();
    args.columns = m_parts.config.hiddenSize;
    args.vocabSize = m_parts.config.vocabSize;
    args.ids = m_parts.inputs.ids();
    args.table = m_parts.weights.embedding;
    args.scale = embeddingScale();
    args.epsilon = epsilon();
    args.x = a.x;
    args.norm = nextNorm(0);
    launched(kernels::embed(args, m_device.stream()), "look up the prompt's embeddings");
    mark("embedding");
    if (m_probe != nullptr)
        (*m_probe)(-1);
    layers(Role::Encoder, shape, 0, std::ssize(m_parts.config.layers), !wholeLayers);
}

void Forward::denoise(const StepShape &shape)
{
    mark("start");
    angles(shape);
    decoderInput(shape);
    if (m_probe != nullptr)
        (*m_probe)(-1);
    layers(Role::Decoder, shape, 0, std::ssize(m_parts.config.layers), false);
    head(shape);
}

void Forward::layers(Role role, const StepShape &shape, std::int64_t first, std::int64_t end, bool keysOnly)
{
    for (std::int64_t layer = first; layer < end; ++layer) {
        project(layer, role, shape);
        if (keysOnly && layer + 1 == end)
            return;
        attend(layer, role, shape);
        feedForward(layer, role, shape);
        if (m_probe != nullptr)
            (*m_probe)(layer);
    }
}

void Forward::angles(const StepShape &shape)
{
    for (std::size_t set = 0; set < m_ropes.pairs.size(); ++set) {
        const auto layer = static_cast<std::size_t>(std::ranges::find(m_ropes.ofLayer, set) - m_ropes.ofLayer.begin());
        kernels::RopeAnglesArgs args;
        args.sequences = shape.sequences;
        args.rowStride = shape.rowStride;
        args.views = m_parts.inputs.views(m_parts.config.layers[layer].kind);
        args.frequencies = m_parts.weights.layers[layer].frequencies;
        args.pairs = m_ropes.pairs[set];
        args.angles = m_parts.activations.angles[set];
        launched(kernels::ropeAngles(args, m_device.stream()), "compute rotations");
    }
    mark("rotations");
}

// The decoder's input: embedding + gated MLP of the normed soft embedding, then a norm without weights. A canvas
// without a signal yet has zeros there, for which the block gives zeros.
void Forward::decoderInput(const StepShape &shape)
{
    const ModelConfig &config = m_parts.config;
    const Activations &a = m_parts.activations;
    kernels::RmsNormArgs norm;
    norm.rows = shape.rows();
    norm.columns = config.hiddenSize;
    norm.epsilon = epsilon();
    norm.in = a.soft;
    norm.inputScale = embeddingScale();
    norm.weight = m_parts.weights.selfConditioningNorm;
    norm.outBf16 = a.normed;
    launched(kernels::rmsNorm(norm, m_device.stream()), "normalise the self-conditioning");
    gatedMlp(m_parts.weights.selfConditioning, a.normed, shape.rows(), Next::Afterwards);
    kernels::EmbedArgs args = canvasEmbedding(shape);
    args.parts =
        outputProduct(a.denseInner, m_parts.weights.selfConditioning.down, config.denseIntermediateSize, shape.rows());
    launched(kernels::embed(args, m_device.stream()), "look up the canvas's embeddings");
    mark("self-conditioning input");
}

// The signal is what the self-conditioning block leaves in `product`.
kernels::EmbedArgs Forward::canvasEmbedding(const StepShape &shape) const
{
    kernels::EmbedArgs args;
    args.rows = shape.rows();
    args.columns = m_parts.config.hiddenSize;
    args.vocabSize = m_parts.config.vocabSize;
    args.ids = m_parts.inputs.ids();
    args.table = m_parts.weights.embedding;
    args.scale = embeddingScale();
    args.signal = m_parts.activations.product;
    args.normalise = true;
    args.epsilon = epsilon();
    args.x = m_parts.activations.x;
    args.norm = nextNorm(0);
    return args;
}

void Forward::gatedMlp(const GatedMlpWeights &weights, const Bf16 *in, std::int64_t rows, Next next)
{
    kernels::DenseGemmArgs args;
    args.rows = rows;
    args.outputs = 2 * m_parts.config.denseIntermediateSize;
    args.inputs = m_parts.config.hiddenSize;
    args.x = in;
    args.weight = weights.gateUp;
    args.epilogue = kernels::GemmEpilogue::GatedGelu;
    args.out = m_parts.activations.denseInner;
    args.besideNext = next == Next::Beside;
    launched(kernels::denseGemm(args, m_device.stream()), "multiply by gate and up");
}

int Forward::outputProduct(const Bf16 *in, const Bf16 *weight, std::int64_t inputs, std::int64_t rows, Next next)
{
    kernels::DenseGemmArgs args;
    args.rows = rows;
    args.outputs = m_parts.config.hiddenSize;
    args.inputs = inputs;
    args.x = in;
    args.weight = weight;
    args.epilogue = kernels::GemmEpilogue::Float;
    args.out = m_parts.activations.product;
    args.parts = kernels::denseGemmParts(args.outputs, args.inputs, args.layout);
    args.addParts = kernels::denseGemmAddsParts(rows, args.outputs, args.parts);
    args.besideNext = next == Next::Beside;
    launched(kernels::denseGemm(args, m_device.stream()), "multiply by an output matrix");
    return args.addParts ? 1 : args.parts;
}

kernels::NormOutput Forward::nextNorm(std::int64_t layer) const
{
    const ModelPointers &weights = m_parts.weights;
    const bool last = layer == std::ssize(weights.layers);
    return {.weight = last ? weights.finalNorm : weights.layers[static_cast<std::size_t>(layer)].inputNorm,
            .out = m_parts.activations.normed};
}

void Forward::normaliseFor(std::int64_t layer, const StepShape &shape)
{
    const kernels::NormOutput norm = nextNorm(layer);
    kernels::RmsNormArgs args;
    args.rows = shape.rows();
    args.columns = m_parts.config.hiddenSize;
    args.epsilon = epsilon();
    args.in = m_parts.activations.x;
    args.weight = norm.weight;
    args.outBf16 = norm.out;
    launched(kernels::rmsNorm(args, m_device.stream()), "normalise");
}

void Forward::project(std::int64_t layer, Role role, const StepShape &shape)
{
    const auto index = static_cast<std::size_t>(layer);
    const LayerWeights &weights = m_parts.weights.layers[index];
    const LayerConfig &config = m_parts.config.layers[index];
    const Activations &a = m_parts.activations;
    kernels::DenseGemmArgs product;
    product.rows = shape.rows();
    product.outputs =
        (m_parts.config.attentionHeads + (config.hasValueProjection ? 2 : 1) * config.kvHeads) * config.headDim;
    product.inputs = m_parts.config.hiddenSize;
    product.x = a.normed;
    product.weight = weights.qkv;
    product.epilogue = kernels::GemmEpilogue::HalfWidth;
    product.out = a.qkv;
    launched(kernels::denseGemm(product, m_device.stream()), "project queries, keys and values");
    mark("queries, keys, values");

    kernels::QkvNormRopeArgs args;
    args.sequences = shape.sequences;
    args.rowStride = shape.rowStride;
    args.views = m_parts.inputs.views(config.kind);
    args.heads = m_parts.config.attentionHeads;
    args.kvHeads = config.kvHeads;
    args.headDim = config.headDim;
    args.pairs = config.rotatedPairs;
    args.epsilon = epsilon();
    args.qkv = a.qkv;
    args.hasValues = config.hasValueProjection;
    args.queryWeight = weights.queryNorm;
    args.keyWeight = weights.keyNorm;
    args.angles = a.angles[m_ropes.ofLayer[index]];
    args.queries = a.queries;
    args.target = role == Role::Encoder ? kernels::KvTarget::Cache : kernels::KvTarget::Scratch;
    args.pool = role == Role::Encoder ? m_parts.pools.of(config.kind).layer(layer) : a.scratch;
    launched(kernels::qkvNormRope(args, m_device.stream()), "normalise and rotate queries and keys");
    mark("head norms, rotation");
}

void Forward::attend(std::int64_t layer, Role role, const StepShape &shape)
{
    const LayerConfig &config = m_parts.config.layers[static_cast<std::size_t>(layer)];
    const Activations &a = m_parts.activations;
    const bool sliding = config.kind == LayerKind::Sliding;
    const auto describe = [&](auto &args) {
        args.sequences = shape.sequences;
        args.rowStride = shape.rowStride;
        args.views = m_parts.inputs.views(config.kind);
        args.heads = m_parts.config.attentionHeads;
        args.kvHeads = config.kvHeads;
        args.headDim = config.headDim;
        args.queries = a.queries;
        args.cache = m_parts.pools.of(config.kind).layer(layer);
        args.out = a.attended;
    };
    if (role == Role::Encoder) {
        kernels::CausalAttentionArgs args;
        describe(args);
        args.window = sliding ? m_parts.config.slidingWindow : 0;
        launched(kernels::causalAttention(args, m_device.stream()), "attend to the prompt");
    } else {
        kernels::CanvasAttentionArgs args;
        describe(args);
        args.mostCached = sliding ? std::min(shape.mostCached, m_parts.config.slidingWindow - 1) : shape.mostCached;
        args.scratch = a.scratch;
        args.workspace = a.attentionWorkspace;
        launched(kernels::canvasAttention(args, m_device.stream()), "attend to context and canvas");
    }
    mark(sliding ? "attention, sliding" : "attention, full");
    addAttention(layer, shape);
}

void Forward::addAttention(std::int64_t layer, const StepShape &shape)
{
    const auto index = static_cast<std::size_t>(layer);
    const LayerWeights &weights = m_parts.weights.layers[index];
    const Activations &a = m_parts.activations;
    const std::int64_t width = m_parts.config.attentionHeads * m_parts.config.layers[index].headDim;
    kernels::ResidualNormArgs add;
    add.parts = outputProduct(a.attended, weights.output, width, shape.rows());
    mark("attention output");
    add.rows = shape.rows();
    add.columns = m_parts.config.hiddenSize;
    add.epsilon = epsilon();
    add.x = a.x;
    add.branch = a.product;
    add.branchWeight = weights.postAttentionNorm;
    add.norms[0] = {.weight = weights.preFeedForwardNorm, .out = a.normed};
    add.norms[1] = {.weight = weights.preFeedForwardNorm2, .out = a.expertInput};
    launched(kernels::residualNorm(add, m_device.stream()), "add the attention");
    mark("residual norms");
}

void Forward::feedForward(std::int64_t layer, Role role, const StepShape &shape)
{
    const LayerWeights &weights = m_parts.weights.layers[static_cast<std::size_t>(layer)];
    const Activations &a = m_parts.activations;
    // The routing and the dense branch do not depend on each other, and neither fills the device: they take turns in
    // one stream, half of the routing beside each product. On a second stream of the graph nothing was gained (H200,
    // 26B shapes, 10.30 to 10.49 ms a step against 10.30): starting a launch before the last one ends was lost.
    kernels::MoeRouteArgs route = routing(layer, shape);
    route.besidePrevious = true;
    gatedMlp(weights.mlp, a.normed, shape.rows(), Next::Beside);
    mark("dense gate and up");
    launched(kernels::moeRouteLogits(route, m_device.stream()), "multiply by the router");
    mark("routing, logits");
    kernels::MoeCombineArgs combine;
    combine.denseParts =
        outputProduct(a.denseInner, weights.mlp.down, m_parts.config.denseIntermediateSize, shape.rows(), Next::Beside);
    mark("dense down");
    launched(kernels::moeRouteChoose(route, m_device.stream()), "choose experts");
    mark("routing, choice");
    experts(layer, shape);
    combine.tokens = shape.rows();
    combine.hidden = m_parts.config.hiddenSize;
    combine.slotsPerToken = m_parts.config.expertsPerToken;
    combine.epsilon = epsilon();
    combine.dense = a.product;
    combine.denseWeight = weights.postFeedForwardNorm1;
    combine.slotsBf16 = a.expertOutput;
    combine.slotWeights = a.slotWeights;
    combine.expertWeight = weights.postFeedForwardNorm2;
    combine.sumWeight = weights.postFeedForwardNorm;
    combine.x = a.x;
    combine.scale = role == Role::Encoder ? weights.encoderScalar : weights.decoderScalar;
    combine.norms[0] = nextNorm(layer + 1);
    launched(kernels::moeCombine(combine, m_device.stream()), "combine the branches");
    mark("combine");
}

void Forward::route(std::int64_t layer, const StepShape &shape)
{
    launched(kernels::moeRoute(routing(layer, shape), m_device.stream()), "choose experts");
    mark("routing");
}

kernels::MoeRouteArgs Forward::routing(std::int64_t layer, const StepShape &shape) const
{
    const LayerWeights &weights = weightsOf(layer);
    const ModelConfig &config = m_parts.config;
    const Activations &a = m_parts.activations;
    kernels::MoeRouteArgs route;
    route.tokens = shape.rows();
    route.hidden = config.hiddenSize;
    route.experts = config.expertCount;
    route.slotsPerToken = config.expertsPerToken;
    route.epsilon = epsilon();
    route.x = a.x;
    route.scale = weights.routerScale;
    route.weights = weights.router;
    route.perExpertScale = weights.perExpertScale;
    route.workspace = a.routeWorkspace;
    route.expertIds = a.expertIds;
    route.slotWeights = a.slotWeights;
    route.expertOffsets = a.expertOffsets;
    route.slots = a.slots;
    return route;
}

void Forward::experts(std::int64_t layer, const StepShape &shape)
{
    const LayerWeights &weights = weightsOf(layer);
    const ModelConfig &config = m_parts.config;
    const Activations &a = m_parts.activations;
    const auto describe = [&](auto &args) {
        args.tokens = shape.rows();
        args.slotsPerToken = config.expertsPerToken;
        args.experts = config.expertCount;
        args.hidden = config.hiddenSize;
        args.inner = config.expertIntermediateSize;
        args.expertOffsets = a.expertOffsets;
        args.slots = a.slots;
    };
    kernels::MoeGateUpArgs gateUp;
    describe(gateUp);
    gateUp.input = a.expertInput;
    gateUp.weights = weights.expertGateUp;
    gateUp.out = a.expertInner;
    launched(kernels::moeGateUp(gateUp, m_device.stream()), "multiply by the experts' gate and up");
    mark("experts, gate and up");

    kernels::MoeDownArgs down;
    describe(down);
    down.input = a.expertInner;
    down.weights = weights.expertDown;
    down.outBf16 = a.expertOutput;
    down.followsGateUp = true;
    launched(kernels::moeDown(down, m_device.stream()), "multiply by the experts' down matrices");
    mark("experts, down");
}

} // namespace palimpsest::cuda
