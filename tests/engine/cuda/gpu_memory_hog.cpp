// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

/// Another program that has taken the device's memory: leaves the given number of MiB free, says "held" and the bytes,
/// and keeps them until its standard input ends. Small pieces fill what large ones leave.
int main(int count, char **arguments)
{
    const std::size_t leave = static_cast<std::size_t>(count > 1 ? std::atoll(arguments[1]) : 0) << 20U;
    std::size_t held = 0;
    for (std::size_t piece = std::size_t{1} << 34U; piece >= (std::size_t{1} << 21U);) {
        std::size_t available = 0;
        std::size_t total = 0;
        void *memory = nullptr;
        if (cudaMemGetInfo(&available, &total) != cudaSuccess)
            return 1;
        if (available < leave + piece || cudaMalloc(&memory, piece) != cudaSuccess) {
            (void)cudaGetLastError();
            piece /= 2;
            continue;
        }
        held += piece;
    }
    std::printf("held %zu MiB\n", held >> 20U);
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    return 0;
}
