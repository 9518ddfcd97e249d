// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/fp32_forward.h"

#include "kernels/fp32_attention.h"
#include "kernels/fp32_experts.h"
#include "kernels/fp32_gemm.h"
#include "kernels/moe_combine.h"
#include "kernels/probabilities.h"
#include "kernels/qkv_norm_rope.h"

namespace palimpsest::cuda {

void Fp32Forward::norm(const float *in, const float *weight, float *out, std::int64_t rows, float inputScale)
{
    kernels::RmsNormArgs args;
    args.rows = rows;
    args.columns = parts().config.hiddenSize;
    args.epsilon = epsilon();
    args.in = in;
    args.inputScale = inputScale;
    args.weight = weight;
    args.outFloat = out;
    launched(kernels::rmsNorm(args, stream()), "normalise");
}

void Fp32Forward::product(const float *in, const Bf16 *weight, std::int64_t inputs, std::int64_t outputs, float *out,
                          std::int64_t rows)
{
    kernels::Fp32GemmArgs args;
    args.rows = rows;
    args.outputs = outputs;
    args.inputs = inputs;
    args.x = in;
    args.weight = weight;
    args.out = out;
    launched(kernels::fp32Gemm(args, stream()), "multiply by a matrix");
}

void Fp32Forward::gatedMlp(const GatedMlpWeights &weights, std::int64_t rows)
{
    const ModelConfig &config = parts().config;
    kernels::Fp32GemmArgs args;
    args.rows = rows;
    args.outputs = 2 * config.denseIntermediateSize;
    args.inputs = config.hiddenSize;
    args.x = wide().normed;
    args.weight = weights.gateUp;
    args.gated = true;
    args.out = wide().denseInner;
    launched(kernels::fp32Gemm(args, stream()), "multiply by gate and up");
    mark("dense gate and up");
    product(wide().denseInner, weights.down, config.denseIntermediateSize, config.hiddenSize,
            parts().activations.product, rows);
    mark("dense down");
}

void Fp32Forward::decoderInput(const StepShape &shape)
{
    norm(parts().activations.soft, parts().weights.selfConditioningNorm, wide().normed, shape.rows(), embeddingScale());
    gatedMlp(parts().weights.selfConditioning, shape.rows());
    launched(kernels::embed(canvasEmbedding(shape), stream()), "look up the canvas's embeddings");
    mark("self-conditioning input");
}

void Fp32Forward::project(std::int64_t layer, Role role, const StepShape &shape)
{
    const LayerWeights &weights = weightsOf(layer);
    const ModelConfig &config = parts().config;
    const LayerConfig &own = config.layers[static_cast<std::size_t>(layer)];
    const std::int64_t heads = config.attentionHeads + (own.hasValueProjection ? 2 : 1) * own.kvHeads;
    norm(parts().activations.x, weights.inputNorm, wide().normed, shape.rows());
    product(wide().normed, weights.qkv, config.hiddenSize, heads * own.headDim, wide().qkv, shape.rows());
    mark("queries, keys, values");

    kernels::QkvNormRopeArgs args;
    args.sequences = shape.sequences;
    args.rowStride = shape.rowStride;
    args.views = parts().inputs.views(own.kind);
    args.heads = config.attentionHeads;
    args.kvHeads = own.kvHeads;
    args.headDim = own.headDim;
    args.pairs = own.rotatedPairs;
    args.epsilon = epsilon();
    args.qkvFloat = wide().qkv;
    args.hasValues = own.hasValueProjection;
    args.queryWeight = weights.queryNorm;
    args.keyWeight = weights.keyNorm;
    args.angles = anglesOf(layer);
    args.queriesFloat = wide().queries;
    args.target = role == Role::Encoder ? kernels::KvTarget::Cache : kernels::KvTarget::Scratch;
    args.poolFloat = role == Role::Encoder ? parts().pools.of(own.kind).fp32Layer(layer) : wide().scratch;
    launched(kernels::qkvNormRope(args, stream()), "normalise and rotate queries and keys");
    mark("head norms, rotation");
}

void Fp32Forward::attend(std::int64_t layer, Role role, const StepShape &shape)
{
    const LayerWeights &weights = weightsOf(layer);
    const ModelConfig &config = parts().config;
    const LayerConfig &own = config.layers[static_cast<std::size_t>(layer)];
    const bool isSliding = own.kind == LayerKind::Sliding;
    kernels::Fp32AttentionArgs args;
    args.sequences = shape.sequences;
    args.rowStride = shape.rowStride;
    args.views = parts().inputs.views(own.kind);
    args.visibility = role == Role::Encoder ? kernels::Fp32Visibility::Causal : kernels::Fp32Visibility::Canvas;
    args.window = isSliding ? config.slidingWindow : 0;
    args.heads = config.attentionHeads;
    args.kvHeads = own.kvHeads;
    args.headDim = own.headDim;
    args.queries = wide().queries;
    args.cache = parts().pools.of(own.kind).fp32Layer(layer);
    args.scratch = wide().scratch;
    args.out = wide().attended;
    launched(kernels::fp32Attention(args, stream()), "attend to context and canvas");
    mark(isSliding ? "attention, sliding" : "attention, full");

    product(wide().attended, weights.output, config.attentionHeads * own.headDim, config.hiddenSize,
            parts().activations.product, shape.rows());
    mark("attention output");
    kernels::ResidualNormArgs add;
    add.rows = shape.rows();
    add.columns = config.hiddenSize;
    add.epsilon = epsilon();
    add.x = parts().activations.x;
    add.branch = parts().activations.product;
    add.branchWeight = weights.postAttentionNorm;
    launched(kernels::residualNorm(add, stream()), "add the attention");
    mark("residual norms");
}

void Fp32Forward::feedForward(std::int64_t layer, Role role, const StepShape &shape)
{
    const LayerWeights &weights = weightsOf(layer);
    const Activations &a = parts().activations;
    norm(a.x, weights.preFeedForwardNorm, wide().normed, shape.rows());
    gatedMlp(weights.mlp, shape.rows());
    norm(a.x, weights.preFeedForwardNorm2, wide().expertInput, shape.rows());
    route(layer, shape);
    experts(layer, shape);
    kernels::MoeCombineArgs combine;
    combine.tokens = shape.rows();
    combine.hidden = parts().config.hiddenSize;
    combine.slotsPerToken = parts().config.expertsPerToken;
    combine.epsilon = epsilon();
    combine.dense = a.product;
    combine.denseWeight = weights.postFeedForwardNorm1;
    combine.slotsFloat = wide().expertOutput;
    combine.slotWeights = a.slotWeights;
    combine.expertWeight = weights.postFeedForwardNorm2;
    combine.sumWeight = weights.postFeedForwardNorm;
    combine.x = a.x;
    combine.scale = role == Role::Encoder ? weights.encoderScalar : weights.decoderScalar;
    launched(kernels::moeCombine(combine, stream()), "combine the branches");
    mark("combine");
}

void Fp32Forward::experts(std::int64_t layer, const StepShape &shape)
{
    const LayerWeights &weights = weightsOf(layer);
    const ModelConfig &config = parts().config;
    const Activations &a = parts().activations;
    kernels::Fp32ExpertsArgs args;
    args.tokens = shape.rows();
    args.slotsPerToken = config.expertsPerToken;
    args.experts = config.expertCount;
    args.hidden = config.hiddenSize;
    args.inner = config.expertIntermediateSize;
    args.expertOffsets = a.expertOffsets;
    args.slots = a.slots;
    args.product = kernels::Fp32ExpertProduct::GateUp;
    args.input = wide().expertInput;
    args.weights = weights.expertGateUp;
    args.out = wide().expertInner;
    launched(kernels::fp32Experts(args, stream()), "multiply by the experts' gate and up");
    mark("experts, gate and up");
    args.product = kernels::Fp32ExpertProduct::Down;
    args.input = wide().expertInner;
    args.weights = weights.expertDown;
    args.out = wide().expertOutput;
    launched(kernels::fp32Experts(args, stream()), "multiply by the experts' down matrices");
    mark("experts, down");
}

// One canvas at a time: its logits and probabilities are in fp32.
void Fp32Forward::head(const StepShape &shape)
{
    for (std::int64_t canvas = 0; canvas < shape.sequences; ++canvas)
        headOf(canvas, shape);
}

void Fp32Forward::headOf(std::int64_t canvas, const StepShape &shape)
{
    const ModelConfig &config = parts().config;
    const Activations &a = parts().activations;
    const std::int64_t first = canvas * shape.rowStride * config.hiddenSize;
    norm(a.x + first, parts().weights.finalNorm, wide().normed, shape.rowStride);
    product(wide().normed, parts().weights.embedding, config.hiddenSize, config.vocabSize,
            static_cast<float *>(a.logits), shape.rowStride);
    mark("head");
    const kernels::CanvasLogits logits = sample(canvas, 1, shape);
    launched(kernels::probabilities(logits, wide().probabilities, stream()), "compute probabilities");
    kernels::Fp32GemmArgs soft;
    soft.rows = shape.rowStride;
    soft.outputs = config.hiddenSize;
    soft.inputs = config.vocabSize;
    soft.x = wide().probabilities;
    soft.weight = parts().weights.embedding;
    soft.layout = kernels::WeightLayout::InputMajor;
    soft.out = a.soft + first;
    launched(kernels::fp32Gemm(soft, stream()), "compute the self-conditioning");
    mark("soft embedding");
}

} // namespace palimpsest::cuda
