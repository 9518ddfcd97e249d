// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/cuda/cuda_model.h"
#include "engine/error.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

// How fast a model's weights come to the device, beside what they pass on the way there: the disk, the page cache, the
// bus. Files are put out of the page cache, and into it, as the figure wants.

using namespace palimpsest;

namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr std::int64_t kPiece = std::int64_t{8} << 20;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct WeightFile
{
    fs::path path;
    std::int64_t bytes = 0;
};

std::vector<WeightFile> weightFiles(const fs::path &folder)
{
    std::vector<WeightFile> files;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".safetensors")
            files.push_back({entry.path(), static_cast<std::int64_t>(entry.file_size())});
    std::sort(files.begin(), files.end(), [](const auto &a, const auto &b) { return a.path < b.path; });
    return files;
}

std::int64_t bytesOf(const std::vector<WeightFile> &files)
{
    std::int64_t bytes = 0;
    for (const WeightFile &file : files)
        bytes += file.bytes;
    return bytes;
}

/// Writes back what is dirty and lets go of the files' pages.
void dropFromCache(const std::vector<WeightFile> &files)
{
    for (const WeightFile &file : files) {
        const int descriptor = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC);
        (void)::fsync(descriptor);
        (void)::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
        ::close(descriptor);
    }
}

/// Bytes a second of `threads` threads that read pieces of the files in turn, for `mostSeconds` at most.
double readRate(const std::vector<WeightFile> &files, int threads, int flags, double mostSeconds)
{
    struct Piece
    {
        std::size_t file;
        std::int64_t offset;
    };
    std::vector<Piece> pieces;
    std::vector<int> descriptors;
    for (std::size_t file = 0; file < files.size(); ++file) {
        descriptors.push_back(::open(files[file].path.c_str(), O_RDONLY | O_CLOEXEC | flags));
        if (descriptors.back() < 0)
            return 0.0; // a file system without direct reads
        for (std::int64_t offset = 0; offset + kPiece <= files[file].bytes; offset += kPiece)
            pieces.push_back({file, offset});
    }
    std::vector<void *> buffers;
    for (int thread = 0; thread < threads; ++thread) {
        buffers.push_back(std::aligned_alloc(4096, static_cast<std::size_t>(kPiece)));
        std::fill_n(static_cast<char *>(buffers.back()), kPiece, '\1');
    }
    std::atomic<std::size_t> next = 0;
    std::atomic<std::int64_t> read = 0;
    const Clock::time_point start = Clock::now();
    {
        std::vector<std::jthread> readers;
        for (int thread = 0; thread < threads; ++thread)
            readers.emplace_back([&, buffer = buffers[static_cast<std::size_t>(thread)]] {
                for (std::size_t i = next++; i < pieces.size() && secondsSince(start) < mostSeconds; i = next++)
                    read += std::max<std::int64_t>(0, ::pread(descriptors[pieces[i].file], buffer,
                                                              static_cast<std::size_t>(kPiece), pieces[i].offset));
            });
    }
    const double seconds = secondsSince(start);
    for (void *buffer : buffers)
        std::free(buffer);
    for (const int descriptor : descriptors)
        ::close(descriptor);
    return static_cast<double>(read.load()) / seconds;
}

double busRate()
{
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    constexpr int kCopies = 32;
    void *host = nullptr;
    void *device = nullptr;
    if (cudaMallocHost(&host, kBytes) != cudaSuccess || cudaMalloc(&device, kBytes) != cudaSuccess)
        throw Error(ErrorKind::Backend, "no memory to measure the bus with");
    std::fill_n(static_cast<char *>(host), kBytes, '\1');
    (void)cudaMemcpy(device, host, kBytes, cudaMemcpyHostToDevice);
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kCopies; ++i)
        (void)cudaMemcpyAsync(device, host, kBytes, cudaMemcpyHostToDevice, nullptr);
    (void)cudaDeviceSynchronize();
    const double seconds = secondsSince(start);
    (void)cudaFree(device);
    (void)cudaFreeHost(host);
    return static_cast<double>(kBytes) * kCopies / seconds;
}

void load(const fs::path &folder, std::int64_t bytes, double floor, const char *what)
{
    Clock::time_point start = Clock::now();
    const auto checkpoint = Checkpoint::open(folder);
    const double opened = secondsSince(start);
    start = Clock::now();
    const cuda::CudaModel model(checkpoint, {}, {});
    const double seconds = secondsSince(start);
    const double rate = static_cast<double>(bytes) / seconds;
    std::printf("loaded %-22s %6.2f s, %6.2f GB/s, %3.0f %% of the slower of file and bus (opened in %.2f s)\n", what,
                seconds, rate * 1e-9, 100.0 * rate / floor, opened);
    std::fflush(stdout);
}

void run(const fs::path &folder)
{
    constexpr double kGiga = 1e9;
    constexpr double kPatienceSeconds = 3.0;
    constexpr double kLongestColdLoad = 40.0;
    const std::vector<WeightFile> files = weightFiles(folder);
    const std::int64_t bytes = bytesOf(files);
    const double bus = busRate();
    std::printf("%.2f GB in %zu files; bus, pinned to device: %.1f GB/s\n", static_cast<double>(bytes) / kGiga,
                files.size(), bus / kGiga);
    double cached = 0.0;
    for (const int threads : {1, 4, 8, 16}) {
        (void)readRate(files, threads, 0, threads == 1 ? 60.0 : 0.0); // the first round brings them into the cache
        const double rate = readRate(files, threads, 0, kPatienceSeconds);
        cached = std::max(cached, rate);
        std::printf("out of the page cache, %2d threads: %6.2f GB/s\n", threads, rate / kGiga);
    }
    load(folder, bytes, std::min(bus, cached), "from the cache");
    load(folder, bytes, std::min(bus, cached), "from the cache");

    dropFromCache(files);
    double disk = 0.0;
    for (const int threads : {1, 8, 16}) {
        const double rate = readRate(files, threads, O_DIRECT, kPatienceSeconds);
        disk = std::max(disk, rate);
        std::printf("from the disk directly, %2d threads: %6.2f GB/s\n", threads, rate / kGiga);
    }
    dropFromCache(files);
    const double readAhead = readRate(files, 8, 0, kPatienceSeconds);
    disk = std::max(disk, readAhead);
    std::printf("from the disk through the cache, 8 threads: %6.2f GB/s\n", readAhead / kGiga);
    dropFromCache(files);
    if (static_cast<double>(bytes) / disk < kLongestColdLoad)
        load(folder, bytes, std::min(bus, disk), "from the disk");
}

} // namespace

/// Argument: a model's folder (palimpsest synth --shape 26b).
int main(int count, char **arguments)
{
    if (count < 2) {
        std::puts("bench_load FOLDER");
        return 2;
    }
    try {
        run(arguments[1]);
    } catch (const std::exception &error) {
        std::printf("failed: %s\n", error.what());
        return 1;
    }
    return 0;
}
