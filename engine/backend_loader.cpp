// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/backend_loader.h"

#include "engine/backend_module.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/error.h"

#include <cstdlib>
#include <dlfcn.h>
#include <sstream>

namespace palimpsest {

namespace {

namespace fs = std::filesystem;

constexpr const char *kCudaModule = "palimpsest_cuda.so";

/// A module, or why there is none.
struct Opened
{
    const BackendModule *module = nullptr;
    std::string problem;
};

fs::path findModule(const std::vector<fs::path> &folders)
{
    for (const fs::path &folder : folders) {
        std::error_code ignored; // a folder that cannot be read holds no module for us
        if (fs::exists(folder / kCudaModule, ignored))
            return folder / kCudaModule;
    }
    return {};
}

std::string lastLinkError()
{
    const char *const text = dlerror();
    return text == nullptr ? "unknown error" : text;
}

Opened openModule(const std::vector<fs::path> &folders)
{
    const fs::path path = findModule(folders);
    if (path.empty())
        return {nullptr, std::string("the CUDA module (") + kCudaModule + ") is not installed"};
    // Never closed: backends, sequences and exceptions made by the module have their code in it.
    void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        return {nullptr, "the CUDA module cannot be loaded: " + lastLinkError()};
    const auto entry = reinterpret_cast<BackendModuleEntry>(dlsym(library, kBackendModuleEntry));
    if (entry == nullptr)
        return {nullptr, path.string() + ": not a module of this program: " + lastLinkError()};
    const BackendModule *const module = entry();
    if (module->abiVersion != kBackendModuleAbi || std::string_view(module->build) != PALIMPSEST_BUILD_ID)
        return {nullptr, path.string() + ": the module belongs to another version of this program (" +
                             (module->abiVersion == kBackendModuleAbi ? module->build : "another interface") +
                             ", wanted " + PALIMPSEST_BUILD_ID + ")"};
    return {module, {}};
}

/// Why a module cannot be used; empty if it can.
std::string problemOf(const Opened &opened)
{
    return opened.module == nullptr ? opened.problem : opened.module->whyUnusable();
}

LoadedBackend onCpu(std::shared_ptr<const Checkpoint> checkpoint, const BackendRequest &request,
                    const LoadProgress &progress)
{
    return {.backend = cpu::makeCpuBackend(std::move(checkpoint), {.threads = request.threads}, progress),
            .whyNotCuda = {},
            .hasUnusedDevice = false};
}

LoadedBackend onCpuBecause(std::string reason, bool hasDevice, std::shared_ptr<const Checkpoint> checkpoint,
                           const BackendRequest &request, const LoadProgress &progress)
{
    LoadedBackend loaded = onCpu(std::move(checkpoint), request, progress);
    loaded.whyNotCuda = std::move(reason);
    loaded.hasUnusedDevice = hasDevice;
    return loaded;
}

} // namespace

std::optional<DeviceChoice> deviceChoiceFromName(std::string_view name) noexcept
{
    if (name == "auto")
        return DeviceChoice::Auto;
    if (name == "cpu")
        return DeviceChoice::Cpu;
    if (name == "cuda")
        return DeviceChoice::Cuda;
    return std::nullopt;
}

std::vector<fs::path> defaultModuleFolders()
{
    std::vector<fs::path> folders;
    if (const char *const listed = std::getenv("PALIMPSEST_MODULES"); listed != nullptr) {
        std::istringstream list{std::string(listed)};
        for (std::string folder; std::getline(list, folder, ':');)
            if (!folder.empty())
                folders.emplace_back(folder);
    }
    std::error_code failed;
    if (const fs::path program = fs::read_symlink("/proc/self/exe", failed); !failed) {
        folders.push_back(program.parent_path());
        folders.push_back(program.parent_path().parent_path() / "lib" / "palimpsest");
    }
    return folders;
}

std::optional<std::string> whyNotCuda(const std::vector<fs::path> &moduleFolders)
{
    std::string problem = problemOf(openModule(moduleFolders));
    return problem.empty() ? std::nullopt : std::optional(std::move(problem));
}

std::optional<std::int64_t> freeDeviceBytes(const std::vector<fs::path> &moduleFolders)
{
    const Opened opened = openModule(moduleFolders);
    return opened.module == nullptr ? std::nullopt : opened.module->freeBytes();
}

std::optional<std::int64_t> neededDeviceBytes(const Checkpoint &checkpoint, const std::vector<fs::path> &moduleFolders)
{
    const Opened opened = openModule(moduleFolders);
    return opened.module == nullptr ? std::nullopt : std::optional(opened.module->neededBytes(checkpoint));
}

LoadedBackend loadBackend(std::shared_ptr<const Checkpoint> checkpoint, const BackendRequest &request,
                          const LoadProgress &progress)
{
    if (request.device == DeviceChoice::Cpu)
        return onCpu(std::move(checkpoint), request, progress);
    const Opened opened = openModule(request.moduleFolders);
    if (std::string problem = problemOf(opened); opened.module == nullptr || !problem.empty()) {
        if (request.device == DeviceChoice::Cuda)
            throw Error(ErrorKind::Backend, "CUDA cannot be used: " + problem, "device");
        return onCpuBecause(std::move(problem), false, std::move(checkpoint), request, progress);
    }
    bool cancelled = false;
    const LoadProgress watched = [&](double part) {
        cancelled = progress && !progress(part);
        return !cancelled;
    };
    try {
        return {.backend = opened.module->make(checkpoint, watched), .whyNotCuda = {}, .hasUnusedDevice = false};
    } catch (const Error &error) {
        const bool deviceRefused = error.kind() == ErrorKind::OutOfMemory || error.kind() == ErrorKind::Backend ||
                                   error.kind() == ErrorKind::Unsupported;
        if (cancelled || request.device == DeviceChoice::Cuda || !deviceRefused)
            throw;
        return onCpuBecause(error.what(), true, std::move(checkpoint), request, progress);
    }
}

} // namespace palimpsest
