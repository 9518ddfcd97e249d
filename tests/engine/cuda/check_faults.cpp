// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/cuda/model_runs.h"
#include "tests/gpu/gpu_check.h"

#include "engine/cuda/memory_need.h"
#include "engine/error.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <functional>
#include <optional>
#include <random>

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

// F084, injected; gpu_scheduler has another process take the memory.
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

// F083.
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
    const std::int64_t told = cuda::freeDeviceBytes().value_or(0);
    require(told > 0 && told <= static_cast<std::int64_t>(total), "the free memory that people are told of");
    const std::int64_t needed = cuda::memoryNeed(*checkpoint, cuda::Precision::Automatic).totalBytes();
    require(needed > whole->info().weightBytes && needed < whole->info().weightBytes + (std::int64_t{1} << 30),
            "the memory that people are told is needed");
    void *taken = nullptr;
    ok(cudaMalloc(&taken, available - (std::size_t{48} << 20U)), "take the memory");
    requireError([&] { (void)cuda::makeCudaBackend(checkpoint, {}); }, ErrorKind::OutOfMemory,
                 "too little free memory");
    ok(cudaFree(taken), "give the memory back");
}

/// A copy of a model's folder that goes away with its owner.
class ModelCopy
{
public:
    explicit ModelCopy(const std::filesystem::path &source)
        : m_folder(std::filesystem::temp_directory_path() / ("palimpsest-" + std::to_string(std::random_device{}())))
    {
        std::filesystem::copy(source, m_folder);
    }
    ~ModelCopy()
    {
        std::error_code ignored; // a folder left behind is no failure of what was tested
        std::filesystem::remove_all(m_folder, ignored);
    }
    ModelCopy(const ModelCopy &) = delete;
    ModelCopy &operator=(const ModelCopy &) = delete;

    [[nodiscard]] const std::filesystem::path &folder() const { return m_folder; }

    /// Overwrites the last element of a tensor of 16 bits an element, whose name ends so.
    void overwriteLast(const char *fileName, const std::string &nameEnd, std::uint16_t value) const
    {
        std::fstream file(m_folder / fileName, std::ios::in | std::ios::out | std::ios::binary);
        std::uint64_t headerBytes = 0;
        file.read(reinterpret_cast<char *>(&headerBytes), sizeof headerBytes);
        std::string header(headerBytes, '\0');
        file.read(header.data(), static_cast<std::streamsize>(header.size()));
        const auto tensors = nlohmann::json::parse(header);
        for (const auto &[name, tensor] : tensors.items()) {
            if (!name.ends_with(nameEnd))
                continue;
            const auto end = tensor.at("data_offsets").at(1).get<std::uint64_t>();
            file.seekp(static_cast<std::streamoff>(sizeof headerBytes + headerBytes + end - sizeof value));
            file.write(reinterpret_cast<const char *>(&value), sizeof value);
        }
    }

private:
    std::filesystem::path m_folder;
};

void fractionalZerosAreRefused()
{
    constexpr std::uint16_t kSevenAndAHalf = 0x4780;
    const ModelCopy copy(modelFolder("tiny-a"));
    (void)cuda::makeCudaBackend(Checkpoint::open(copy.folder()), {});
    copy.overwriteLast("experts_00002.safetensors", ".dn_z", kSevenAndAHalf);
    const auto checkpoint = Checkpoint::open(copy.folder());
    const std::optional<Error> error = errorOf([&] { (void)cuda::makeCudaBackend(checkpoint, {}); });
    require(error.has_value() && error->kind() == ErrorKind::Unsupported &&
                error->subject().ends_with("layers.2.experts.dn_z"),
            "a zero point of 7.5" + (error ? std::string(": ") + error->what() : ": nothing was thrown"));
    if (error)
        std::printf("  a zero point of 7.5: \"%s\"\n", error->what());
}

// F086: a sticky error, injected.
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
    fractionalZerosAreRefused();
    deviceIsLost();
}

} // namespace palimpsest::gpu_check
