// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/cuda/model_runs.h"
#include "tests/gpu/gpu_check.h"

#include "engine/error.h"

#include <functional>
#include <optional>

namespace palimpsest::gpu_check {

namespace {

std::optional<Error> errorOf(const std::function<void()> &call)
{
    try {
        call();
    } catch (const Error &error) {
        return error;
    }
    return std::nullopt;
}

void requireError(const std::function<void()> &call, ErrorKind kind, const std::string &what)
{
    const std::optional<Error> error = errorOf(call);
    require(error.has_value() && error->kind() == kind,
            what + (error ? std::string(": ") + error->what() : std::string(": nothing was thrown")));
    if (error)
        std::printf("  %s: \"%s\"\n", what.c_str(), error->what());
}

std::vector<std::uint32_t> stepBehind(cuda::CudaModel &model, const Sequence &prefix)
{
    Run run;
    run.prefix = &prefix;
    run.canvas = randomIds(model.config().canvasLength, model.config().vocabSize, 9);
    step(model, {&run, 1});
    return bitsOf(run.results);
}

void memoryRunsOut()
{
    const auto model = loadModel("tiny-a");
    const std::vector<TokenId> ids = randomIds(50, model->config().vocabSize, 1);
    const auto prefix = encoded(*model, ids);
    const auto wanted = stepBehind(*model, *prefix);
    model->device().injectFault(0, cudaErrorMemoryAllocation);
    requireError([&] { (void)stepBehind(*model, *prefix); }, ErrorKind::OutOfMemory, "no memory in a step");
    requireSameBits(stepBehind(*model, *prefix), wanted, "the step after one without memory");
    const auto other = model->newSequence();
    model->device().injectFault(1, cudaErrorMemoryAllocation);
    requireError([&] { (void)model->encode(*other, ids, {}); }, ErrorKind::OutOfMemory, "no memory for a prompt");
    (void)model->encode(*other, std::span(ids).subspan(static_cast<std::size_t>(other->length())), {});
    requireSameBits(stepBehind(*model, *other), wanted, "the prompt after one without memory");
}

void loadingIsRefused()
{
    const auto checkpoint = Checkpoint::open(modelFolder("tiny-a"));
    double last = 0.0;
    const auto whole = cuda::makeCudaBackend(checkpoint, {}, [&last](double part) {
        last = part;
        return true;
    });
    require(last == 1.0, "progress ends at 1");
    require(whole->info().weightBytes > 0 && whole->info().kind == "cuda", "what the backend says of itself");
    requireError([&] { (void)cuda::makeCudaBackend(checkpoint, {}, [](double) { return false; }); }, ErrorKind::Backend,
                 "a cancelled loading");
    const auto unquantised = Checkpoint::open(modelFolder("tiny-a").parent_path() / "bf16");
    requireError([&] { (void)cuda::makeCudaBackend(unquantised, {}); }, ErrorKind::Unsupported,
                 "experts that are not quantised");
    // All that is free taken by somebody else, but for a little.
    std::size_t available = 0;
    std::size_t total = 0;
    ok(cudaMemGetInfo(&available, &total), "free memory");
    void *taken = nullptr;
    ok(cudaMalloc(&taken, available - (std::size_t{48} << 20U)), "take the memory");
    requireError([&] { (void)cuda::makeCudaBackend(checkpoint, {}); }, ErrorKind::OutOfMemory,
                 "too little free memory");
    ok(cudaFree(taken), "give the memory back");
}

void deviceIsLost()
{
    const auto model = loadModel("tiny-a");
    const std::vector<TokenId> ids = randomIds(50, model->config().vocabSize, 1);
    const auto prefix = encoded(*model, ids);
    const auto wanted = stepBehind(*model, *prefix);
    model->device().injectFault(4, cudaErrorIllegalAddress);
    requireError([&] { (void)stepBehind(*model, *prefix); }, ErrorKind::Backend, "a device that fails in a step");
    require(model->device().lost(), "the device counts as lost");
    require(model->fork(*prefix, 10) == nullptr, "a context from before the failure was continued");
    requireError([&] { (void)stepBehind(*model, *prefix); }, ErrorKind::Backend, "a context from before the failure");
    const auto fresh = encoded(*model, ids);
    requireSameBits(stepBehind(*model, *fresh), wanted, "after a restart");
    // Again and again without a step in between: given up.
    model->device().injectFault(0, cudaErrorIllegalAddress);
    requireError([&] { (void)model->encode(*model->newSequence(), ids, {}); }, ErrorKind::Backend, "a second failure");
    model->device().injectFault(3, cudaErrorIllegalAddress);
    requireError([&] { (void)model->newSequence(); }, ErrorKind::Backend, "a failure while restarting");
    requireError([&] { (void)model->newSequence(); }, ErrorKind::Backend, "a device that keeps failing");
}

} // namespace

void checkFaults()
{
    memoryRunsOut();
    loadingIsRefused();
    deviceIsLost();
}

} // namespace palimpsest::gpu_check
